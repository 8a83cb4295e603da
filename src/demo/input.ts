/** What a run sends: a simulated history, or a file of operations, one JSON object a line, in sending order. */
import { isUtf8 } from "node:buffer";
import { createReadStream } from "node:fs";
import path from "node:path";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { operationEntry, operationOf } from "../client/entry.js";
import { InvalidOperationError, type SentOperation } from "../client/index.js";
import { DemoFailure, messageOf } from "./failure.js";
import { type HistoryOptions, simulateHistory } from "./simulate/history.js";

/** What a run sends, with its totals. */
export interface Input {
  title: string;
  operations: number;
  events: number;
  /** Track operations with distinct idempotency keys, which is the number of events that the service will store. */
  distinctEvents: number;
  customers: number;
  /** The range of the explicit timestamps, in milliseconds; null if there are none. */
  span: { first: number; last: number } | null;
  /** Reads the operations, from the beginning at each call. */
  read: () => Iterable<SentOperation> | AsyncIterable<SentOperation>;
}

/** The simulated history as the input of a run. */
export function simulatedInput(options: HistoryOptions): Input {
  const history = simulateHistory(options);
  const instants = history.flatMap((operation) =>
    operation.type === "track" ? [Date.parse(operation.timestamp)] : [],
  );
  const [first, last] = [instants[0], instants.at(-1)];
  return {
    title: `simulated history, seed ${options.seed}`,
    operations: history.length,
    events: instants.length,
    distinctEvents: instants.length,
    customers: new Set(history.map(({ customerId }) => customerId)).size,
    span: first === undefined || last === undefined ? null : { first, last },
    read: () => history,
  };
}

/**
 * Streams a file's operations. Events without a key get one from their line number, so that the file can be sent again. Throws a
 * DemoFailure that names a bad line.
 */
export async function* readDataFile(file: string): AsyncGenerator<SentOperation> {
  for await (const { number, bytes } of readLines(file)) {
    // Blank lines are skipped.
    if (bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d)) continue;
    try {
      if (!isUtf8(bytes)) throw new SyntaxError("it is not valid UTF-8");
      // TextDecoder drops the byte order mark that some programs put at the beginning of a file.
      yield readOperation(JSON.parse(new TextDecoder().decode(bytes)), number);
    } catch (error) {
      if (error instanceof InvalidOperationError) throw new DemoFailure(`${file}:${number}: ${error.message}`, 2);
      if (!(error instanceof SyntaxError)) throw error;
      throw new DemoFailure(`${file}:${number}: is not JSON: ${error.message}`, 2);
    }
  }
}

function readOperation(given: unknown, number: number): SentOperation {
  const keyed = isTrackWithoutKey(given) ? { ...given, idempotencyKey: `demo-line-${number}` } : given;
  return operationOf(operationEntry(keyed, ""));
}

function isTrackWithoutKey(given: unknown): given is object {
  if (typeof given !== "object" || given === null || Array.isArray(given)) return false;
  return !("idempotencyKey" in given) && (given as { type?: unknown }).type !== "identify";
}

/**
 * Reads the whole file before anything starts, so that a bad line is reported at once and the progress bar has a total; it is streamed
 * again for sending.
 */
export async function openDataFile(file: string): Promise<Input> {
  const keys = new Set<string>();
  const customers = new Set<string>();
  let operations = 0;
  let events = 0;
  let span = null as Input["span"];
  for await (const operation of readDataFile(file)) {
    operations++;
    customers.add(operation.customerId);
    if (operation.type === "identify") continue;
    events++;
    keys.add(operation.idempotencyKey);
    const instant = Date.parse(operation.timestamp ?? "");
    if (!Number.isNaN(instant))
      span = { first: Math.min(span?.first ?? instant, instant), last: Math.max(span?.last ?? instant, instant) };
  }
  if (operations === 0) throw new DemoFailure(`${file} contains no operations`, 2);
  return {
    title: path.basename(file),
    operations,
    events,
    // The service counts lines with the same key as one event.
    distinctEvents: keys.size,
    customers: customers.size,
    span,
    read: () => readDataFile(file),
  };
}

const LINE_FEED = 0x0a;
/** More than the largest valid operation needs, and small enough to keep in memory. */
const LINE_BYTES_MAX = 1024 * 1024;

/**
 * Reads a file line by line, numbered from 1, without empty lines; unpacks `.gz`. Splits at line feeds before decoding, so that a line with
 * invalid bytes can be named; a carriage return stays, as JSON treats it as white space. Throws a DemoFailure if the file cannot be read or a
 * line is too long.
 */
export async function* readLines(file: string): AsyncGenerator<{ number: number; bytes: Buffer }> {
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
    // An error of the file's stream also ends the unpacked one, which is the one that is read.
    yield* (file.endsWith(".gz") ? pipeline(stream, createGunzip(), () => undefined) : stream) as AsyncIterable<Buffer>;
  } catch (error) {
    throw new DemoFailure(`cannot read ${file}: ${messageOf(error)}`, 2, { cause: error });
  }
}
