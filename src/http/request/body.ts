import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import type { Context } from "koa";
import { heldBody, type HeldBody } from "./body-budget.js";
import { ApiError } from "../errors.js";
import { decodeText, malformed } from "./parse-json.js";
import { sendContinue, watchBodyRate } from "../server.js";

const UTF_8 = /^utf-?8$/i;

/** Size at which received chunks are copied into one piece: small enough not to delay other requests. */
const PIECE_BYTES = 1024 * 1024;

/** The required kind of text of a body, and the errors for bodies of another kind. */
export interface TextKind {
  /** The accepted media types, without parameters. */
  type: RegExp;
  unsupported: () => ApiError;
  malformed: (reason: string) => ApiError;
}

export const JSON_TEXT: TextKind = {
  type: /^application\/(?:[\w.-]+\+)?json$/i,
  unsupported: () => new ApiError(415, "UNSUPPORTED_MEDIA_TYPE"),
  malformed,
};

/** A UTF-8 text in pieces, each with a buffer of its own, so that it can be transferred to a thread. */
export type Bytes = Uint8Array<ArrayBuffer>[];

/** A JSON body: its text, or its bytes if it is long. */
export type JsonBody = string | Bytes;

/** The client disconnected before its request was complete, so it cannot be answered. */
export class ClientGoneError extends Error {
  override name = "ClientGoneError";
}

/** Reads a JSON body as text. It is not parsed, because numbers in it can exceed a double. Otherwise as `readText`. */
export function readJsonText(ctx: Context, bytesMax: number): Promise<string> {
  return readText(ctx, JSON_TEXT, bytesMax);
}

/**
 * Reads a body as text, which may be gzip. The bytes in memory, after decompression, count in the application's budget.
 *
 * @param bytesMax the largest body in bytes, after decompression.
 * @throws {ApiError} the kind's errors for another media type (415) and for bytes that are not UTF-8 or gzip (400), PAYLOAD_TOO_LARGE,
 *   or SERVICE_UNAVAILABLE if the budget is used up.
 * @throws {ClientGoneError}
 */
export async function readText(ctx: Context, kind: TextKind, bytesMax: number): Promise<string> {
  return decodeText(await readPieces(ctx, kind, bytesMax), kind.malformed);
}

/**
 * Reads a JSON body, otherwise as `readText`. A body of more than `textBytesMax` is not decoded, which would take long, but returned in pieces.
 */
export async function readJsonBody(ctx: Context, bytesMax: number, textBytesMax: number): Promise<JsonBody> {
  const pieces = await readPieces(ctx, JSON_TEXT, bytesMax);
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return length <= textBytesMax ? decodeText(pieces) : pieces;
}

async function readPieces(ctx: Context, kind: TextKind, bytesMax: number): Promise<Bytes> {
  const limits = { kind, bytesMax, gzip: isGzip(ctx, kind), held: heldBody(ctx) };
  try {
    const declared = Number(ctx.get("Content-Length") || 0);
    if (declared > bytesMax) throw tooLarge(limits);
    limits.held?.require(declared);
    sendContinue(ctx.req, ctx.res);
    if (limits.gzip) return await gunzip(ctx.req, limits);
    return await collect(ctx.req, ctx.req, limits).catch((error: unknown) => {
      // A request's own errors are all due to its connection.
      throw error instanceof ApiError ? error : new ClientGoneError("the request ended before its body");
    });
  } catch (error) {
    // A request that could not read its body does not hold it.
    limits.held?.drop();
    throw error;
  }
}

interface Limits {
  kind: TextKind;
  bytesMax: number;
  gzip: boolean;
  held: HeldBody | undefined;
}

function tooLarge({ bytesMax, gzip }: Limits): ApiError {
  return new ApiError(413, "PAYLOAD_TOO_LARGE", {
    reason: `At most ${bytesMax} bytes are read${gzip ? " after decompression" : ""}.`,
  });
}

/** Whether the body is gzip. Throws an ApiError if its headers are not supported. */
function isGzip(ctx: Context, kind: TextKind): boolean {
  const { type, charset } = ctx.request;
  if (!kind.type.test(type) || (charset !== "" && !UTF_8.test(charset))) throw kind.unsupported();
  const encoding = ctx.get("Content-Encoding").trim().toLowerCase();
  if (encoding === "" || encoding === "identity") return false;
  if (encoding === "gzip" || encoding === "x-gzip") return true;
  throw new ApiError(415, "UNSUPPORTED_MEDIA_TYPE", {
    message: "The body's Content-Encoding is not supported.",
    fix: "Send the body uncompressed, or compressed with gzip.",
    headers: { "Accept-Encoding": "gzip" },
  });
}

/** Reads all bytes of a request's stream. Fails as soon as there are too many or they arrive too slowly, and then pauses the stream. */
function collect(request: IncomingMessage, stream: Readable, limits: Limits): Promise<Bytes> {
  return new Promise((resolve, reject) => {
    const pieces = new Pieces();
    let length = 0;
    const finish = (settle: () => void): void => {
      stream.off("data", onData).off("end", onEnd).off("error", onError).off("close", onClose);
      stopWatching();
      settle();
    };
    const onData = (chunk: Buffer): void => {
      try {
        length += chunk.length;
        if (length > limits.bytesMax) throw tooLarge(limits);
        limits.held?.add(chunk.length);
        pieces.add(chunk);
      } catch (error) {
        stream.pause();
        onError(error as Error);
      }
    };
    const onSlow = (): void => {
      stream.pause();
      const headers = { Connection: "close" };
      onError(new ApiError(408, "REQUEST_TIMEOUT", { reason: "The body arrived too slowly.", headers }));
    };
    const onEnd = (): void => finish(() => resolve(pieces.all()));
    const onError = (error: Error): void => finish(() => reject(error));
    const onClose = (): void => finish(() => reject(new ClientGoneError("the request ended before its body")));
    const stopWatching = watchBodyRate(request, onSlow);
    stream.on("data", onData).on("end", onEnd).on("error", onError).on("close", onClose);
  });
}

/** Decompresses a body, and no more of it than the limit, whatever the ratio. */
async function gunzip(request: IncomingMessage, limits: Limits): Promise<Bytes> {
  const gunzipped = createGunzip();
  const onGone = (): void => void gunzipped.destroy(new ClientGoneError("the request ended before its body"));
  request.on("error", onGone).on("aborted", onGone);
  try {
    return await collect(request, request.pipe(gunzipped), limits);
  } catch (error) {
    if (error instanceof ClientGoneError || error instanceof ApiError) throw error;
    throw limits.kind.malformed("The body is not valid gzip.");
  } finally {
    request.unpipe(gunzipped).off("error", onGone).off("aborted", onGone);
    // Ignore errors of data that is still buffered.
    gunzipped.on("error", () => undefined).destroy();
  }
}

/** Gathers chunks into pieces that have a buffer of their own. Copying a large body only once at the end would delay all other requests. */
class Pieces {
  readonly #pieces: Bytes = [];
  #chunks: Uint8Array[] = [];
  #length = 0;

  add(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    if (this.#length >= PIECE_BYTES) this.#gather();
  }

  all(): Bytes {
    this.#gather();
    return this.#pieces;
  }

  #gather(): void {
    const piece = new Uint8Array(this.#length);
    let at = 0;
    for (const chunk of this.#chunks) {
      piece.set(chunk, at);
      at += chunk.length;
    }
    this.#pieces.push(piece);
    this.#chunks = [];
    this.#length = 0;
  }
}
