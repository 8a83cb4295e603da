import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Logger } from "pino";
import { ApiError, type DocsUrl, renderError } from "./errors.js";
import { chooseRequestId, SECURITY_HEADERS } from "./middleware/headers.js";

/** What Node.js refuses before there is a request, or in the middle of one, by its codes. */
const REFUSALS: Readonly<Record<string, [status: number, phrase: string, code: string]>> = {
  HPE_HEADER_OVERFLOW: [431, "Request Header Fields Too Large", "HEADERS_TOO_LARGE"],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, "Payload Too Large", "PAYLOAD_TOO_LARGE"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "Request Timeout", "REQUEST_TIMEOUT"],
};

/** How long a refused client may go on sending before its connection is closed: closed at once, it could not read the answer. */
const LINGER_MS = 2_000;

const refusals = new WeakMap<IncomingMessage, ApiError>();

/** What a request was answered before its application could: its client sent the rest of it too slowly, or as no HTTP. */
export function refusedMidway(request: IncomingMessage): ApiError | undefined {
  return refusals.get(request);
}

/**
 * Answers what is no HTTP, and what comes too slowly, with the error envelope; without this, Node.js answers with an empty body. What
 * never reaches the application has its line of the log from here.
 */
export function answerClientErrors(server: Server, docsUrl: DocsUrl, log?: Logger): void {
  const latest = new WeakMap<Duplex, ServerResponse>();
  const refused = new WeakSet<Duplex>();
  const refuse = (socket: Duplex, [error, phrase]: Refusal, requestId: string): void => {
    if (!socket.writable) return;
    const body = JSON.stringify(renderError(error, requestId, docsUrl));
    socket.end(`${head(error.status, phrase, requestId, Buffer.byteLength(body))}${body}`);
    socket.on("data", () => undefined); // thrown away
    const force = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once("close", () => clearTimeout(force));
  };
  const refuseUnseen = (socket: Duplex, refusal: Refusal, requestId = chooseRequestId(undefined)): void => {
    const [{ status, code }] = refusal;
    log?.info({ requestId, status, code }, "the request was refused");
    refuse(socket, refusal, requestId);
  };
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    latest.set(request.socket, response);
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (refused.has(socket)) return; // more of what was refused already
    if (error.code === "ECONNRESET" || !socket.writable) {
      socket.destroy();
      return;
    }
    refused.add(socket);
    const refusal = refusalOf(error);
    const response = latest.get(socket);
    if (response === undefined || response.writableFinished) refuseUnseen(socket, refusal);
    else if (response.req.complete) {
      // What is wrong is the next request; this one gets its answer first.
      response.once("close", () => refuseUnseen(socket, refusal));
    } else if (response.headersSent) socket.end();
    else {
      refusals.set(response.req, refusal[0]);
      whenInTurn(response, () => refuse(socket, refusal, requestIdOf(response.req)));
    }
  });
  server.on("connect", (request: IncomingMessage, socket: Duplex) => {
    const error = new ApiError(405, "METHOD_NOT_ALLOWED", { fix: "Use POST or GET." });
    refuseUnseen(socket, [error, "Method Not Allowed"], requestIdOf(request));
  });
}

type Refusal = readonly [error: ApiError, phrase: string];

function refusalOf(error: NodeJS.ErrnoException): Refusal {
  const [status, phrase, code] = REFUSALS[error.code ?? ""] ?? [400, "Bad Request", "VALIDATION_ERROR"];
  if (code !== "VALIDATION_ERROR") return [new ApiError(status, code), phrase];
  const detail = {
    message: "The request is not valid HTTP.",
    reason: `${error.message.replace(/^Parse Error: /, "")}.`,
    fix: "Send a request in the form that HTTP/1.1 prescribes.",
  };
  return [new ApiError(status, code, detail), phrase];
}

/** Answers go out in the order of their requests: one that is not in turn yet has no socket. */
function whenInTurn(response: ServerResponse, answer: () => void): void {
  if (response.socket === null) response.once("socket", answer);
  else answer();
}

function requestIdOf(request: IncomingMessage): string {
  return chooseRequestId(request.headers["x-request-id"] as string | undefined);
}

function head(status: number, phrase: string, requestId: string, length: number): string {
  const headers = {
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": length,
    "X-Request-ID": requestId,
    ...SECURITY_HEADERS,
    Connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${phrase}\r\n${lines.join("")}\r\n`;
}
