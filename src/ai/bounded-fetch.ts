import { fetch, Response, type RequestInfo, type RequestInit } from "undici";

import { LanguageModelError } from "./failure.js";

/**
 * Like `fetch`, but an answer that is longer than `bytesMax` ends with a failure: what reads it holds a line at a time, and whoever answers
 * may send a line without end. Redirects are not followed: the facts and the key are for the address that the operator set.
 */
export function boundedFetch(bytesMax: number): typeof globalThis.fetch {
  const bounded = async (input: RequestInfo, init?: RequestInit): Promise<Response> => {
    const { body, status, statusText, headers } = await fetch(input, { ...init, redirect: "error" });
    let left = bytesMax;
    const counted = body?.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          left -= chunk.byteLength;
          if (left >= 0) controller.enqueue(chunk);
          else controller.error(new LanguageModelError("unavailable", `It answered more than ${bytesMax} bytes.`));
        },
      }),
    );
    return new Response(counted ?? null, { status, statusText, headers });
  };
  // undici's own types for the same classes.
  return bounded as unknown as typeof globalThis.fetch;
}
