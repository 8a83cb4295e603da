import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import type { ExportHeader } from "../../db/api/moving.js";
import { OperatorError } from "../start-failure.js";

/*
 * The file of an export: a line of JSON that says what it is; of each table that it names the rows, one a line as `copy` writes and reads
 * them, up to a line `\.`; and a line of JSON with how many there are and a checksum of all before it.
 */

export const FORMAT = "svc environment";
export const FORMAT_VERSION = 1;
/** A line that no row is: in a row each backslash has another before it, or a letter after it. */
export const END_OF_ROWS = "\\.\n";

/** The first line. */
export interface FileHeader extends ExportHeader {
  format: typeof FORMAT;
  formatVersion: number;
  /** Of `svc-server`. */
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
/** More than the first and the last line have. */
const LINE_BYTES_MAX = 1 << 20;

/** A file that was read to its end and is whole. */
export interface CheckedFile {
  header: FileHeader;
  trailer: FileTrailer;
  /** Where the rows begin and end, in bytes. */
  rowsFrom: number;
  rowsTo: number;
}

/** Reads a file to its end. Throws OperatorError where it is no export, or not whole. */
export async function checkFile(file: FileHandle, name: string): Promise<CheckedFile> {
  const { size } = await file.stat();
  const head = await readPart(file, 0, Math.min(size, LINE_BYTES_MAX));
  const headEnd = head.indexOf(NEWLINE);
  const header = parse(head.subarray(0, Math.max(0, headEnd))) as Partial<FileHeader> | null;
  if (header?.format !== FORMAT) {
    throw new OperatorError(`${name} is no export of an environment; svc-server environments export makes one`);
  }
  if (header.formatVersion !== FORMAT_VERSION) {
    throw new OperatorError(
      `${name} has version ${header.formatVersion} of the format, and this program reads version ${FORMAT_VERSION}; ` +
        "import it by the version that exported it",
    );
  }
  const broken = `${name} is not whole: it was cut off, or changed after it was written; copy it again, or export again`;
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
  /** What was read and is still to be looked at. */
  #rest: Buffer = Buffer.alloc(0);

  constructor(file: FileHandle, { rowsFrom, rowsTo }: CheckedFile) {
    this.#chunks = chunksOf(file, rowsFrom, rowsTo);
  }

  /** The rows of the next table, whole lines, each with `prefix` before it. To be read to its end before the next. */
  async *rows(prefix: string): AsyncGenerator<Buffer> {
    for (;;) {
      const isEmpty = this.#rest.subarray(0, END_OF_ROWS.length).toString("latin1") === END_OF_ROWS;
      const end = isEmpty ? 0 : this.#rest.indexOf(`\n${END_OF_ROWS}`) + 1;
      const isLast = isEmpty || end > 0;
      // Not the last line, which may be the beginning of the one that ends the table.
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

/** Bytes stand for themselves in latin1, whatever they are. */
function prefixed(lines: Buffer, prefix: string): Buffer {
  if (prefix === "") return lines;
  const text = lines.subarray(0, -1).toString("latin1").replaceAll("\n", `\n${prefix}`);
  return Buffer.from(`${prefix}${text}\n`, "latin1");
}

/** How many lines end in these bytes. */
export function countLines(chunk: Buffer): number {
  let lines = 0;
  for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) lines++;
  return lines;
}
