/** A file of operations, one JSON object a line, in the order in which they are to be sent. */
import path from "node:path";
import { DemoFailure } from "../failure.js";
import type { Input } from "./input.js";
import { readLines } from "./lines.js";
import { LineProblem, readOperation, type FileOperation } from "./operation-line.js";

/** Streams the operations of a file. Throws a DemoFailure that names the line where one is not an operation. */
export async function* readDataFile(file: string): AsyncGenerator<FileOperation> {
  for await (const { number, bytes } of readLines(file)) {
    // A blank line separates nothing and harms nothing.
    if (bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d)) continue;
    try {
      yield readOperation(bytes, number);
    } catch (error) {
      if (!(error instanceof LineProblem)) throw error;
      throw new DemoFailure(`${file}:${number}: ${error.message}`, 2);
    }
  }
}

/**
 * Reads the whole file once before anything is started, so that a bad line in the middle is told at once and the progress bar
 * knows where it ends. The operations themselves are streamed a second time when they are sent.
 */
export async function openDataFile(file: string): Promise<Input> {
  const keys = new Set<string>();
  const customers = new Set<string>();
  let operations = 0;
  let tracks = 0;
  let first: number | null = null;
  let last: number | null = null;
  for await (const { customerId, kind, idempotencyKey, occurredAt } of readDataFile(file)) {
    operations++;
    if (kind === "track") tracks++;
    customers.add(customerId);
    if (idempotencyKey !== null) keys.add(idempotencyKey);
    if (occurredAt !== null) {
      first = Math.min(first ?? occurredAt, occurredAt);
      last = Math.max(last ?? occurredAt, occurredAt);
    }
  }
  if (operations === 0) throw new DemoFailure(`${file} holds no operations`, 2);
  const span = first === null || last === null ? null : { first, last };
  return {
    title: path.basename(file),
    operations,
    events: tracks,
    // A line that repeats an earlier one with its key is one event, as the service counts.
    distinctEvents: keys.size,
    customers: customers.size,
    span,
    read: () => readDataFile(file),
  };
}
