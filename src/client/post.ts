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
    const response = await fetch(url, {
      method: "POST",
      headers: {
        authorization: `Bearer ${apiKey}`,
        "content-type": "application/json",
        "user-agent": "svc-client-node",
      },
      body: json,
      // A redirect would send the key to an address that was not configured.
      redirect: "manual",
      signal: abort.signal,
    });
    const { status, headers } = response;
    return {
      status,
      text: await textOf(response),
      retryAfter: headers.get("retry-after"),
      location: headers.get("location"),
    };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
}

async function textOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > ANSWER_BYTES_MAX) throw new Error(`the answer is larger than ${ANSWER_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Why there was no answer: the message of fetch is only "fetch failed", and the reason is in its cause. */
export function reasonOf(error: unknown): string {
  const { cause, message, code } = error as { cause?: unknown; message?: string; code?: unknown };
  if (cause !== undefined) return reasonOf(cause);
  return message || (typeof code === "string" ? code : String(error));
}
