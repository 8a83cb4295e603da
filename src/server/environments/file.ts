import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import type { ExportHeader } from "../../db/api/environments.js";
import { OperatorError } from "../start-failure.js";

/*
 * The format of an export: a header line of JSON; for each table that the header names its rows, one per line as `copy` writes and reads them,
 * up to a line `\.`; and a trailer line of JSON with the numbers of rows and a checksum of everything before it.
 */

export const FORMAT = "svc environment";
export const FORMAT_VERSION = 1;
/** A line that cannot be a row: in a row each backslash has another one before it, or a letter after it. */
export const END_OF_ROWS = "\\.\n";

/** The first line. */
export interface FileHeader extends ExportHeader {
  format: typeof FORMAT;
  formatVersion: number;
  /** Version of `svc-server`. */
  program: string;
}

/** The last line. */
export interface FileTrailer {
  /** By table. */
  rows: Record<string, number>;
  /** Of all bytes before this line, in hexadecimal. */
  sha256: string;
}

const NEWLINE = 10;
const CHUNK_BYTES = 1 << 18;
/** Longer than the first and last lines ever are. */
const LINE_BYTES_MAX = 1 << 20;

/** A file that was read to its end and is complete. */
export interface CheckedFile {
  header: FileHeader;
  trailer: FileTrailer;
  /** Where the rows begin and end, in bytes. */
  rowsFrom: number;
  rowsTo: number;
}

/** Reads a file to its end. Throws OperatorError if it is not an export, or incomplete. */
export async function checkFile(file: FileHandle, name: string): Promise<CheckedFile> {
  const { size } = await file.stat();
  const head = await readPart(file, 0, Math.min(size, LINE_BYTES_MAX));
  const headEnd = head.indexOf(NEWLINE);
  const header = parse(head.subarray(0, Math.max(0, headEnd))) as Partial<FileHeader> | null;
  if (header?.format !== FORMAT) {
    throw new OperatorError(`${name} is not an export of an environment; svc-server environments export writes one`);
  }
  if (header.formatVersion !== FORMAT_VERSION) {
    throw new OperatorError(
      `${name} has version ${header.formatVersion} of the format, and this program reads version ${FORMAT_VERSION}; ` +
        "import it with the version that exported it",
    );
  }
  const broken = `${name} is damaged: it was cut off, or changed after it was written; copy it again, or export again`;
  const tailFrom = Math.max(headEnd + 1, size - LINE_BYTES_MAX);
  const tail = await readPart(file, tailFrom, size - tailFrom);
  const rowsTo = tailFrom + tail.subarray(0, -1).lastIndexOf(NEWLINE) + 1;
  const last = tail.subarray(rowsTo - tailFrom);
  const trailer = last.at(-1) === NEWLINE ? (parse(last) as FileTrailer | null) : null;
  if (typeof trailer?.sha256 !== "string") throw new OperatorError(broken);
  const hash = createHash("sha256");
  for await (const chunk of chunksOf(file, 0, rowsTo)) hash.update(chunk);
  if (hash.digest("hex") !== trailer.sha256) throw new OperatorError(broken);
  return { header: header as FileHeader, trailer, rowsFrom: headEnd + 1, rowsTo };
}

function parse(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString());
  } catch {
    return null;
  }
}

async function readPart(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

async function* chunksOf(file: FileHandle, from: number, to: number): AsyncGenerator<Buffer> {
  for (let position = from; position < to;) {
    const chunk = await readPart(file, position, Math.min(CHUNK_BYTES, to - position));
    if (chunk.length === 0) return;
    yield chunk;
    position += chunk.length;
  }
}

/** Reads the rows of a file, one table after the other. */
export class RowReader {
  readonly #chunks: AsyncGenerator<Buffer>;
  /** Bytes read but not returned yet. */
  #rest: Buffer = Buffer.alloc(0);

  constructor(file: FileHandle, { rowsFrom, rowsTo }: CheckedFile) {
    this.#chunks = chunksOf(file, rowsFrom, rowsTo);
  }

  /** The rows of the next table as whole lines, each with `prefix` before it. Read each table to its end before the next. */
  async *rows(prefix: string): AsyncGenerator<Buffer> {
    for (;;) {
      const isEmpty = this.#rest.subarray(0, END_OF_ROWS.length).toString("latin1") === END_OF_ROWS;
      const end = isEmpty ? 0 : this.#rest.indexOf(`\n${END_OF_ROWS}`) + 1;
      const isLast = isEmpty || end > 0;
      // Without an incomplete last line, which may be the beginning of END_OF_ROWS.
      const lines = this.#rest.subarray(0, isLast ? end : this.#rest.lastIndexOf(NEWLINE) + 1);
      if (lines.length > 0) yield prefixed(lines, prefix);
      this.#rest = this.#rest.subarray(lines.length + (isLast ? END_OF_ROWS.length : 0));
      if (isLast) return;
      const read = await this.#chunks.next();
      if (read.done) throw new Error("the rows of a table have no end");
      this.#rest = Buffer.concat([this.#rest, read.value]);
    }
  }
}

/** Puts `prefix` before each line. Latin-1 maps every byte to one character and back. */
function prefixed(lines: Buffer, prefix: string): Buffer {
  if (prefix === "") return lines;
  const text = lines.subarray(0, -1).toString("latin1").replaceAll("\n", `\n${prefix}`);
  return Buffer.from(`${prefix}${text}\n`, "latin1");
}

/** The number of line ends in these bytes. */
export function countLines(chunk: Buffer): number {
  let lines = 0;
  for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) lines++;
  return lines;
}
