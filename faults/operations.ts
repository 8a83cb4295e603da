/** The operations that a run sends: from data files, or generated. */
import type { SentOperation } from "../src/client/index.js";
import { DemoFailure } from "../src/demo/failure.js";
import { readDataFile } from "../src/demo/input.js";
import { generate } from "./generated.js";

/** Keys that the reader of data files creates from line numbers. */
const LINE_KEY = /^demo-line-\d+$/;

export interface Operation {
  customerId: string;
  /** One JSON object; a repetition has the same bytes. */
  json: string;
  /** The idempotency key, which every event has; null for an identify. */
  key: string | null;
  /** Whether it is sent alone (`POST /v1/events`) and not in a batch; the same for all operations of a customer. */
  single: boolean;
}

export interface History {
  title: string;
  /** Reads the operations, from the beginning at each call. */
  read: () => AsyncIterable<Operation>;
}

export function historyOfFiles(files: readonly string[]): History {
  return { title: files.join(", "), read: () => readFiles(files) };
}

export function generatedHistory(operations: number, seed: number): History {
  return { title: `generated history, seed ${seed}`, read: () => readGenerated(operations, seed) };
}

async function* readFiles(files: readonly string[]): AsyncGenerator<Operation> {
  for (const file of files) {
    for await (const operation of readDataFile(file)) {
      const made = outgoing(operation, false);
      // Line numbers are not unique across files.
      if (files.length > 1 && made.key !== null && LINE_KEY.test(made.key))
        throw new DemoFailure(`${file}: ${made.key} has no idempotencyKey, which several files need`, 2);
      yield made;
    }
  }
}

async function* readGenerated(operations: number, seed: number): AsyncGenerator<Operation> {
  for (const { single, ...operation } of generate(operations, seed)) yield outgoing(operation, single);
}

function outgoing(operation: SentOperation, single: boolean): Operation {
  const key = operation.type === "track" ? operation.idempotencyKey : null;
  return { customerId: operation.customerId, json: JSON.stringify(operation), key, single };
}
