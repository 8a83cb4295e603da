import type { Server } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError, renderError } from "./errors.js";
import { chooseRequestId } from "./request-id.js";

/** What Node.js refuses before there is a request, by its codes. */
const STATUS_BY_CODE: Readonly<Record<string, [status: number, reason: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, "Request Header Fields Too Large", "The request's headers are too large."],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "Request Timeout", "The request was not complete in time."],
};

/** Answers what is no HTTP with the error envelope too; without this, Node.js answers with an empty body. */
export function answerClientErrors(server: Server, docsUrl: string | undefined): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === "ECONNRESET" || !socket.writable) {
      socket.destroy();
      return;
    }
    const [status, phrase, message] = STATUS_BY_CODE[error.code ?? ""] ?? [
      400,
      "Bad Request",
      "The request is not valid HTTP.",
    ];
    const requestId = chooseRequestId(undefined);
    const body = JSON.stringify(renderError(new ApiError(status, "VALIDATION_ERROR", { message }), requestId, docsUrl));
    socket.end(
      [
        `HTTP/1.1 ${status} ${phrase}`,
        "Content-Type: application/json; charset=utf-8",
        `Content-Length: ${Buffer.byteLength(body)}`,
        `X-Request-ID: ${requestId}`,
        "Connection: close",
        "",
        body,
      ].join("\r\n"),
    );
  });
}
