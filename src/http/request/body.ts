import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import type { Context } from "koa";
import { heldBody, type HeldBody } from "./body-budget.js";
import { ApiError } from "../errors.js";
import { decodeText, malformed } from "./parse-json.js";
import { askForBody, watchRate } from "../server.js";

const UTF_8 = /^utf-?8$/i;

/** What is gathered of a body before it is copied together: little enough to be copied in between. */
const PIECE_BYTES = 1024 * 1024;

/** What kind of text a body is to be, and what is said of one that is not. */
export interface TextKind {
  /** The media types that are taken, without parameters. */
  type: RegExp;
  unsupported: () => ApiError;
  malformed: (reason: string) => ApiError;
}

const JSON_TEXT: TextKind = {
  type: /^application\/(?:[\w.-]+\+)?json$/i,
  unsupported: () => new ApiError(415, "UNSUPPORTED_MEDIA_TYPE"),
  malformed,
};

/** A text in UTF-8, piece by piece, each in memory of its own, which can be handed over to a thread. */
export type Bytes = Uint8Array<ArrayBuffer>[];

/** A JSON body: its text, or where that is long its bytes. */
export type JsonBody = string | Bytes;

/** The client went away before its request was complete; there is nobody to answer. */
export class ClientGoneError extends Error {
  override name = "ClientGoneError";
}

/** Reads a JSON body as text: not decoded further, because numbers in it may exceed a double. Otherwise as `readText`. */
export function readJsonText(ctx: Context, bytesMax: number): Promise<string> {
  return readText(ctx, JSON_TEXT, bytesMax);
}

/**
 * Reads a body as text. Takes gzip. What is held of the body, in the end after decompression, counts in the budget of the application.
 *
 * @param bytesMax the largest body in bytes, after decompression.
 * @throws {ApiError} what the kind says of another media type (415) and of bytes that are no UTF-8 or no gzip (400), PAYLOAD_TOO_LARGE,
 *   or SERVICE_UNAVAILABLE where the budget is used up.
 * @throws {ClientGoneError}
 */
export async function readText(ctx: Context, kind: TextKind, bytesMax: number): Promise<string> {
  return decodeText(await readPieces(ctx, kind, bytesMax), kind.malformed);
}

/**
 * Reads a JSON body, otherwise as `readText`: one of more than `textBytesMax` is not made into a text, which would take long, but answered in
 * pieces.
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
    askForBody(ctx.req, ctx.res);
    if (limits.gzip) return await gunzip(ctx.req, limits);
    return await collect(ctx.req, ctx.req, limits).catch((error: unknown) => {
      // A request has no errors but those of its connection.
      throw error instanceof ApiError ? error : new ClientGoneError("the request ended before its body");
    });
  } catch (error) {
    // What a request does not get to read it does not hold.
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

/** Whether the body is gzip. Throws what is wrong with its headers. */
function isGzip(ctx: Context, kind: TextKind): boolean {
  const { type, charset } = ctx.request;
  if (!kind.type.test(type) || (charset !== "" && !UTF_8.test(charset))) throw kind.unsupported();
  const encoding = ctx.get("Content-Encoding").trim().toLowerCase();
  if (encoding === "" || encoding === "identity") return false;
  if (encoding === "gzip" || encoding === "x-gzip") return true;
  throw new ApiError(415, "UNSUPPORTED_MEDIA_TYPE", {
    message: "The body's Content-Encoding is not supported.",
    fix: "Send the body as it is, or compressed with gzip.",
    headers: { "Accept-Encoding": "gzip" },
  });
}

/** All bytes of a stream of what a request sends. Fails as soon as there are too many, or they come too slowly; the stream is paused then. */
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
      onError(new ApiError(408, "REQUEST_TIMEOUT", { reason: "The body came too slowly.", headers }));
    };
    const onEnd = (): void => finish(() => resolve(pieces.all()));
    const onError = (error: Error): void => finish(() => reject(error));
    const onClose = (): void => finish(() => reject(new ClientGoneError("the request ended before its body")));
    const stopWatching = watchRate(request, onSlow);
    stream.on("data", onData).on("end", onEnd).on("error", onError).on("close", onClose);
  });
}

/** Decompresses no more than it may return, whatever the ratio. */
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
    // Errors of what is still inside concern nobody any more.
    gunzipped.on("error", () => undefined).destroy();
  }
}

/** Gathers bytes into pieces whose memory is theirs alone. Copied all at once in the end, a large body would hold up everybody else. */
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
