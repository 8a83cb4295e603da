import { request } from "node:http";
import { text } from "node:stream/consumers";
import type { Actor } from "../../../support/service.js";

export interface RawReply {
  status: number;
  body: { error?: { code: string; message: string; requestId: string; field?: string; [member: string]: unknown } };
}

/** Sends a request whose target and body are what they are: `fetch` would tidy up `..` and refuse much of the rest. */
export function sendRaw(
  url: string,
  method: string,
  target: string,
  { by, body, type = "application/json" }: { by: Actor; body?: string | undefined; type?: string },
): Promise<RawReply> {
  const { hostname, port } = new URL(url);
  const headers = {
    Authorization: `Bearer ${by.token}`,
    "X-Svc-Organization": by.organizationId,
    "X-Request-ID": "req",
    ...(body === undefined ? {} : { "Content-Type": type, "Content-Length": Buffer.byteLength(body) }),
  };
  return new Promise((resolve, reject) => {
    const outgoing = request({ hostname, port, method, path: target, headers }, (response) => {
      if (response.headers["content-type"]?.startsWith("text/event-stream") === true) {
        response.destroy();
        resolve({ status: response.statusCode ?? 0, body: {} });
        return;
      }
      text(response)
        .then((json) => resolve({ status: response.statusCode ?? 0, body: JSON.parse(json) as RawReply["body"] }))
        .catch(reject);
    });
    outgoing.on("error", reject).end(body);
  });
}
