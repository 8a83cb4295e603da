import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { listen } from "../../support/listen.js";

/** The answer to a request. */
export interface Reply {
  status: number;
  headers?: Record<string, string>;
  body: string;
}

/** Answers a batch, given its body and Authorization header. Rejects if it is unavailable. */
export type Backend = (body: string, authorization: string) => Promise<Reply>;

/**
 * What happens to a request: it passes; the request is lost, or its answer, completely or from the middle on; it is never answered, before or
 * after the backend handled it; half of the answer or endless spaces arrive; or something else answers.
 */
export type Fate =
  | "pass"
  | "loseRequest"
  | "loseAnswer"
  | "cutAnswer"
  | "stall"
  | "stallAfter"
  | "stallBody"
  | "drip"
  | Reply;

export interface Front {
  url: string;
  /** The received bodies in order, each with its fate. */
  requests: { body: string; fate: Fate }[];
  stop(): Promise<void>;
}

/** A misbehaving server in front of a correct backend. `next` decides the fate of each request by the number of earlier ones and its body. */
export async function startFront(
  backend: Backend,
  next: (request: number, body: string) => Fate = () => "pass",
): Promise<Front> {
  const requests: Front["requests"] = [];
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    const fate = next(requests.length, body);
    requests.push({ body, fate });
    if (typeof fate === "object") return void response.writeHead(fate.status, fate.headers).end(fate.body);
    if (fate === "stall") return;
    if (fate === "loseRequest") return void request.socket.destroy();
    const reply = await backend(body, request.headers.authorization ?? "");
    if (fate === "stallAfter") return;
    if (fate === "loseAnswer") return void request.socket.destroy();
    if (fate === "drip") {
      response.writeHead(reply.status, { "content-type": "application/json" });
      const timer = setInterval(() => response.write(" "), 20);
      response.on("close", () => clearInterval(timer));
      return;
    }
    const length = { "content-length": String(Buffer.byteLength(reply.body)) };
    response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers, ...length });
    if (fate === "pass") return void response.end(reply.body);
    response.write(reply.body.slice(0, reply.body.length / 2), () => {
      if (fate === "cutAnswer") request.socket.destroy();
    });
  };
  const server = createServer((request, response) => {
    serve(request, response).catch(() => request.socket.destroy());
  });
  return {
    url: await listen(server),
    requests,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The service at an address that can change. */
export function serviceAt(url: () => string): Backend {
  return async (body, authorization) => {
    const headers = { authorization, "content-type": "application/json" };
    const response = await fetch(`${url()}/v1/events/batch`, { method: "POST", headers, body });
    const retryAfter = response.headers.get("retry-after");
    return {
      status: response.status,
      body: await response.text(),
      headers: retryAfter === null ? {} : { "retry-after": retryAfter },
    };
  };
}

export function json(status: number, body: unknown, headers: Record<string, string> = {}): Reply {
  return { status, headers, body: JSON.stringify(body) };
}

/** The service's error envelope. */
export function refusal(status: number, code: string, more: object = {}, headers: Record<string, string> = {}): Reply {
  return json(status, { error: { code, message: `It is ${code}.`, requestId: "req", ...more } }, headers);
}
