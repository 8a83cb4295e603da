/** What a run sends: the lines of data files, or a generated history. */
import { DemoFailure } from "../src/demo/failure.js";
import { readDataFile } from "../src/demo/input/data-file.js";
import { outgoing, type Outgoing } from "../src/demo/send/outgoing.js";
import { generate } from "./generated.js";

export interface Operation extends Outgoing {
  /** The idempotency key, which every event has; null for an identify. */
  key: string | null;
  /** Whether it goes out alone (`POST /v1/events`) and not in a batch; the same for all operations of a customer. */
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
    for await (const { idempotencyKey: key, ...operation } of readDataFile(file)) {
      // The reader makes keys of line numbers, which two files have in common.
      if (files.length > 1 && key === `demo-${operation.origin.replace(" ", "-")}`)
        throw new DemoFailure(`${file}: ${operation.origin} has no idempotencyKey, which several files need`, 2);
      yield { ...operation, key, single: false };
    }
  }
}

async function* readGenerated(operations: number, seed: number): AsyncGenerator<Operation> {
  for (const { single, ...operation } of generate(operations, seed)) {
    const key = operation.type === "track" ? operation.idempotencyKey : null;
    yield { ...outgoing(operation), key, single };
  }
}
