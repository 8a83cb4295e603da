/** Lines of a file, as bytes came: split at line feeds before decoding, so that a line with bad bytes can be named. */
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { DemoFailure, messageOf } from "../failure.js";

export interface InputLine {
  /** From 1. */
  number: number;
  /** Without its line feed; a carriage return before it is left, as JSON treats it as space. */
  bytes: Buffer;
}

const LINE_FEED = 0x0a;
/** More than the largest legal operation needs, and little enough to keep in memory. */
const LINE_BYTES_MAX = 1024 * 1024;

/** Reads a file line by line, empty lines left out; `.gz` is unpacked on the way. Throws a DemoFailure where it cannot be read or a line has no end. */
export async function* readLines(file: string): AsyncGenerator<InputLine> {
  let number = 0;
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of readChunks(file)) {
    let data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let end = data.indexOf(LINE_FEED); end !== -1; end = data.indexOf(LINE_FEED)) {
      number++;
      if (end > 0) yield { number, bytes: data.subarray(0, end) };
      data = data.subarray(end + 1);
    }
    rest = data;
    if (rest.length > LINE_BYTES_MAX) {
      throw new DemoFailure(`${file}:${number + 1}: the line is longer than 1 MiB; write one operation a line`, 2);
    }
  }
  if (rest.length > 0) yield { number: number + 1, bytes: rest };
}

async function* readChunks(file: string): AsyncGenerator<Buffer> {
  try {
    const stream = createReadStream(file);
    // What ends the file's stream ends the unpacked one, too, which is the one that is read.
    yield* (file.endsWith(".gz") ? pipeline(stream, createGunzip(), () => undefined) : stream) as AsyncIterable<Buffer>;
  } catch (error) {
    throw new DemoFailure(`cannot read ${file}: ${messageOf(error)}`, 2, { cause: error });
  }
}
