// Uses node:http, not `fetch`: in Node.js 20, `fetch` never settles if a connection is closed as soon as it is made, as by a tunnel or a
// proxy whose backend restarts, so each try would take the whole time limit.
import { type IncomingMessage, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Answer } from "./answer.js";

/** More than the service's longest answer to a batch, which has ten thousand diagnostics. An endless answer is cut off here. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;

export interface PostOptions {
  apiKey: string;
  /** The time within which the answer must be complete. */
  timeoutMs: number;
  signal: AbortSignal;
}

/** Posts a JSON text, and resolves with the answer, whatever it is. Rejects if there is no complete answer in time. */
export async function post(url: string, json: string, { apiKey, timeoutMs, signal }: PostOptions): Promise<Answer> {
  // A controller for this request only: AbortSignal.any would stay attached to the client's signal for as long as that lives.
  const abort = new AbortController();
  const end = () => abort.abort(new Error("the client was closed"));
  if (signal.aborted) end();
  signal.addEventListener("abort", end);
  const timer = setTimeout(() => abort.abort(new Error(`no complete answer within ${timeoutMs} ms`)), timeoutMs);
  try {
    return await exchange(new URL(url), json, apiKey, abort.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
}

/** Redirects are not followed: they would send the key to an address that was not configured. */
function exchange(url: URL, json: string, apiKey: string, signal: AbortSignal): Promise<Answer> {
  const headers = {
    authorization: `Bearer ${apiKey}`,
    "content-type": "application/json",
    // Nothing here decodes another one.
    "accept-encoding": "identity",
    "user-agent": "svc-client-node",
  };
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const request = send(url, { method: "POST", headers, signal }, (answer) => {
      const { statusCode: status = 0, headers } = answer;
      const { "retry-after": retryAfter = null, location = null } = headers;
      textOf(answer).then((text) => resolve({ status, text, retryAfter, location }), reject);
    });
    // Without a listener, Node.js closes the connection after such an answer, and emits nothing that would end the wait for it.
    request.once("upgrade", ({ statusCode: status = 0 }, socket) => {
      socket.destroy();
      resolve({ status, text: "", retryAfter: null, location: null });
    });
    // Also errors after the answer began, which have no effect any more.
    request.on("error", reject);
    request.end(json);
  });
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > ANSWER_BYTES_MAX) throw new Error(`the answer is larger than ${ANSWER_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Why there was no answer: an aborted request has its reason as the cause. */
export function reasonOf(error: unknown): string {
  const { cause, message, code } = error as { cause?: unknown; message?: string; code?: unknown };
  if (cause !== undefined) return reasonOf(cause);
  return message || (typeof code === "string" ? code : String(error));
}
