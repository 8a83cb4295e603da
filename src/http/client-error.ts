import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { Logger } from "pino";
import { ApiError, type DocsUrl, renderError } from "./errors.js";
import { chooseRequestId, SECURITY_HEADERS } from "./middleware/headers.js";

/** Refusals by Node.js' error codes, for errors before or during a request. */
const REFUSALS: Readonly<Record<string, readonly [status: number, code: string]>> = {
  HPE_HEADER_OVERFLOW: [431, "HEADERS_TOO_LARGE"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "REQUEST_TIMEOUT"],
};

const refusals = new WeakMap<IncomingMessage, ApiError>();

/** The refusal with which a request was answered before the application could, because the rest of it came too slowly or was not valid HTTP. */
export function earlyRefusal(request: IncomingMessage): ApiError | undefined {
  return refusals.get(request);
}

/**
 * Answers requests that are not valid HTTP or arrive too slowly with the error envelope; Node.js would answer with an empty body. Requests that
 * never reach the application are logged here.
 */
export function answerClientErrors(server: Server, docsUrl: DocsUrl, log?: Logger): void {
  const latest = new WeakMap<Duplex, ServerResponse>();
  const refused = new WeakSet<Duplex>();
  const refuse = (socket: Duplex, error: ApiError, requestId: string): void => {
    if (!socket.writable) return;
    const body = JSON.stringify(renderError(error, requestId, docsUrl));
    socket.end(head(error.status, requestId, Buffer.byteLength(body)) + body);
    socket.on("data", () => undefined); // discarded
    // If the socket were closed at once, a client that is still sending could not read the answer.
    const force = setTimeout(() => socket.destroy(), 2_000);
    socket.once("close", () => clearTimeout(force));
  };
  const refuseAndLog = (socket: Duplex, error: ApiError, requestId = chooseRequestId()): void => {
    log?.info({ requestId, status: error.status, code: error.code }, "the request was refused");
    refuse(socket, error, requestId);
  };
  server.on("request", (request: IncomingMessage, response) => latest.set(request.socket, response));
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (refused.has(socket)) return; // more data of a refused request
    if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
    refused.add(socket);
    const refusal = refusalOf(error);
    const response = latest.get(socket);
    if (response === undefined || response.writableFinished) refuseAndLog(socket, refusal);
    else if (response.req.complete) {
      // The error is in the next request; this one is answered first.
      response.once("close", () => refuseAndLog(socket, refusal));
    } else if (response.headersSent) socket.end();
    else {
      refusals.set(response.req, refusal);
      const answer = () => refuse(socket, refusal, chooseRequestId(response.req));
      // Answers are sent in the order of the requests: one that must wait for others has no socket yet.
      if (response.socket === null) response.once("socket", answer);
      else answer();
    }
  });
  server.on("connect", (request: IncomingMessage, socket: Duplex) => {
    // Node.js has removed its own listener, and an error without one, such as a reset, ends the process.
    socket.on("error", () => socket.destroy());
    refuseAndLog(
      socket,
      new ApiError(405, "METHOD_NOT_ALLOWED", { fix: "Use POST or GET." }),
      chooseRequestId(request),
    );
  });
}

function refusalOf(error: NodeJS.ErrnoException): ApiError {
  const known = REFUSALS[error.code ?? ""];
  if (known) return new ApiError(...known);
  return new ApiError(400, "VALIDATION_ERROR", {
    message: "The request is not valid HTTP.",
    reason: `${error.message.replace(/^Parse Error: /, "")}.`,
    fix: "Send a request in the form that HTTP/1.1 prescribes.",
  });
}

function head(status: number, requestId: string, length: number): string {
  const headers = {
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": length,
    "X-Request-ID": requestId,
    ...SECURITY_HEADERS,
    Connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n`;
}
