import type { IncomingMessage, Server, ServerResponse } from "node:http";

/** Requests with `Expect: 100-continue` whose clients wait to be told that the body is wanted. */
const waiting = new WeakSet<IncomingMessage>();

/** Leaves it to whoever reads a body to ask for it, so that a request that is refused by its headers never sends one. */
export function askForBodiesLate(server: Server): void {
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    waiting.add(request);
    // Where no body is asked for, nobody knows whether one follows.
    response.setHeader("Connection", "close");
    server.emit("request", request, response);
  });
  // Node.js would answer an expectation that it does not know with an empty 417; we have none to meet.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
}

/** Tells a client that waits for it to send the body. */
export function askForBody(request: IncomingMessage, response: ServerResponse): void {
  if (!waiting.delete(request)) return;
  response.removeHeader("Connection");
  response.writeContinue();
}

/** Whether the client still waits to be told. */
export function bodyIsHeldBack(request: IncomingMessage): boolean {
  return waiting.has(request);
}
