import type { Answer } from "./answer.js";

/** More than the service ever says of a batch: ten thousand diagnostics. What sends without end is cut off. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;

export interface PostOptions {
  apiKey: string;
  /** For the answer from beginning to end. */
  timeoutMs: number;
  signal: AbortSignal;
}

/** Posts a JSON text, and returns whatever was answered. Rejects where no whole answer came in time. */
export async function post(url: string, json: string, { apiKey, timeoutMs, signal }: PostOptions): Promise<Answer> {
  // Its own, which is gone with the request: AbortSignal.any would hang on to the client's for as long as that lives.
  const abort = new AbortController();
  const end = () => abort.abort(new Error("the client was closed"));
  if (signal.aborted) end();
  signal.addEventListener("abort", end);
  const timer = setTimeout(() => abort.abort(new Error(`no whole answer within ${timeoutMs} ms`)), timeoutMs);
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        authorization: `Bearer ${apiKey}`,
        "content-type": "application/json",
        "user-agent": "svc-client-node",
      },
      body: json,
      // One would take the key to an address that nobody gave.
      redirect: "manual",
      signal: abort.signal,
    });
    const { status, headers } = response;
    return { status, text: await textOf(response), retryAfter: headers.get("retry-after") };
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

/** Why there was no answer: fetch says "fetch failed", and the reason is its cause. */
export function reasonOf(error: unknown): string {
  const { cause, message, code } = error as { cause?: unknown; message?: string; code?: unknown };
  if (cause !== undefined) return reasonOf(cause);
  return message || (typeof code === "string" ? code : String(error));
}
