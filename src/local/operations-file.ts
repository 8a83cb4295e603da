import { createReadStream } from "node:fs";
import { SINGLE_BYTES_MAX, lineProblem } from "../ingestion/request.js";
import type { Snapshot } from "../model/snapshot/types.js";
import { accepted, IdempotencyKeys, type RequestOperation } from "./engine.js";
import type { AcceptedBatch } from "./population.js";
import { schemaViolations } from "./refusals.js";

/** What is wrong with a line. The message and the fix are sentences. */
export interface LineProblem {
  line: number;
  code: string;
  message: string;
  fix?: string | undefined;
}

/** A file of operations that is not taken: nothing of it was used. */
export class FileRefused extends Error {
  /** @param problems of the first lines that are wrong @param lines how many are */
  constructor(
    message: string,
    readonly fix: string,
    readonly problems: readonly LineProblem[] = [],
    readonly lines = problems.length,
  ) {
    super(message);
  }
}

export interface FileOperations {
  operations: AcceptedBatch["operations"];
  /** The latest instant of an event, in milliseconds. */
  end: number;
  /** Lines whose idempotency key had come before with the same payload. */
  repeated: number;
  /** Events that lie in the future, and are left out. */
  ahead: number;
  /** Whether there are identifies, and events that lie before one of an earlier line: then identifies may take effect too late. */
  isUnordered: boolean;
}

/** All are in memory at once. */
const OPERATIONS_MAX = 1_000_000;
const PROBLEMS_SHOWN = 20;
const TIMESTAMP_FIX = "Say when it happened, in ISO 8601 with a timezone, for example 2026-03-02T10:00:00Z.";

/**
 * Reads operations of JSON Lines, each as an element of a batch. An identify says nothing of its time: it takes effect at the latest event
 * of the lines before it, or at the first event of the file where there is none before.
 *
 * @param snapshot the model whose strict schema refuses lines
 * @throws {FileRefused} for lines that cannot be taken, without events, and for too many; what the system says of a file that cannot be read
 */
export async function readOperations(file: string, snapshot: Snapshot): Promise<FileOperations> {
  const reader = new OperationsReader(snapshot);
  let line = 0;
  for await (const bytes of linesOf(file)) reader.read(bytes, ++line);
  return reader.result();
}

class OperationsReader {
  readonly #operations: AcceptedBatch["operations"] = [];
  readonly #keys = new IdempotencyKeys();
  readonly #problems: LineProblem[] = [];
  #wrong = 0;
  #repeated = 0;
  #ahead = 0;
  readonly #now = Date.now();
  #hasIdentifies = false;
  #isDisordered = false;
  #end = -Infinity;

  constructor(private readonly snapshot: Snapshot) {}

  read(bytes: Uint8Array | null, line: number): void {
    const read = bytes === null ? tooLong() : operationOf(bytes);
    if (read === undefined) return;
    if ("message" in read) return this.#refuse({ ...read, line });
    const [violation] = this.snapshot.strictSchema ? schemaViolations(this.snapshot, [read], "single") : [];
    if (violation !== undefined) return this.#refuse({ ...ofFile(violation), line });
    if (read.type === "identify") return this.#take(accepted(read, line, this.#end));
    if (read.timestamp === undefined) {
      const message = "`timestamp` is required in a file.";
      return this.#refuse({ line, code: "VALIDATION_ERROR", message, fix: TIMESTAMP_FIX });
    }
    // The line stands for the id, so that a conflict can name the one before.
    const { originals, conflicts, commit } = this.#keys.look([[read, String(line)]]);
    if (conflicts.length > 0) {
      const message = `The idempotency key is that of line ${originals[0]}, which has another payload.`;
      return this.#refuse({ line, code: "IDEMPOTENCY_CONFLICT", message, fix: "Use a new key for another payload." });
    }
    if (originals[0] !== undefined) this.#repeated++;
    else this.#take(accepted(read, line, this.#end));
    commit();
  }

  result(): FileOperations {
    if (this.#wrong > 0) {
      const lines = this.#wrong === 1 ? "One line" : `${this.#wrong.toLocaleString("en-US")} lines`;
      const more = this.#wrong - this.#problems.length;
      const rest =
        more === 0 ? "" : `: the first ${PROBLEMS_SHOWN} are told, ${more.toLocaleString("en-US")} more are not`;
      const message = `${lines} of the file cannot be taken${rest}.`;
      throw new FileRefused(message, "Correct the file; nothing of it was used.", this.#problems, this.#wrong);
    }
    if (this.#end === -Infinity)
      throw new FileRefused("The file has no events.", "Give a file of JSON Lines with events.");
    return {
      operations: this.#operations,
      end: this.#end,
      repeated: this.#repeated,
      ahead: this.#ahead,
      isUnordered: this.#hasIdentifies && this.#isDisordered,
    };
  }

  #take(taken: AcceptedBatch["operations"][number]): void {
    const { operation } = taken;
    if (operation.kind === "track") {
      if (operation.occurredAt > this.#now) {
        this.#ahead++;
        return;
      }
      // Until now nobody knew the first instant.
      if (this.#end === -Infinity)
        for (const before of this.#operations) before.operation.acceptedAt = operation.occurredAt;
      if (operation.occurredAt < this.#end) this.#isDisordered = true;
      this.#end = Math.max(this.#end, operation.occurredAt);
    } else this.#hasIdentifies = true;
    if (this.#operations.push(taken) > OPERATIONS_MAX) {
      const fix = "Take the lines of some of the customers, or send all to a service and test the model there.";
      throw new FileRefused(`The file has more than ${OPERATIONS_MAX.toLocaleString("en-US")} operations.`, fix);
    }
  }

  #refuse({ line, code, message, fix }: LineProblem): void {
    this.#wrong++;
    if (this.#problems.length < PROBLEMS_SHOWN) this.#problems.push({ line, code, message, fix });
  }
}

type Refusal = Omit<LineProblem, "line">;

/** What a line says; undefined for an empty one. */
function operationOf(bytes: Uint8Array): RequestOperation | Refusal | undefined {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes).trim();
  } catch {
    return { code: "MALFORMED_JSON", message: "The line is not valid UTF-8.", fix: "Write the file in UTF-8." };
  }
  if (text === "") return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const message = `The line is not valid JSON: ${(error as Error).message}.`;
    return { code: "MALFORMED_JSON", message, fix: "Write one operation a line, as a JSON object." };
  }
  const problem = lineProblem(value, text);
  if (problem === null) return value as RequestOperation;
  const { code, message, reason, field, fix } = problem;
  const whole = [message, reason].filter(Boolean).join(" ");
  // To the service an event may come without.
  return ofFile({ code, message: whole, fix: field === "timestamp" ? TIMESTAMP_FIX : fix });
}

/** What the service says of a request and of its active model, as it is of a line and of a model that need not be deployed. */
function ofFile({ code, message, fix }: Refusal): Refusal {
  const told = message.replace(/^The body\b/, "The line").replace(/\b(t)he active configuration\b/i, "$1he model");
  return { code, message: told, fix: fix?.replace(" and deploy it", "") };
}

function tooLong(): Refusal {
  const message = `The line is longer than ${SINGLE_BYTES_MAX.toLocaleString("en-US")} bytes, and no operation is.`;
  return { code: "PAYLOAD_TOO_LARGE", message, fix: "Write one operation a line." };
}

/** The lines of a file; null for one that is longer than any operation. */
async function* linesOf(file: string): AsyncGenerator<Uint8Array | null> {
  let pieces: Uint8Array[] = [];
  let length = 0;
  const ended = (last: Uint8Array): Uint8Array | null => {
    const line = length + last.length > SINGLE_BYTES_MAX ? null : Buffer.concat([...pieces, last]);
    [pieces, length] = [[], 0];
    return line;
  };
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end; (end = chunk.indexOf(0x0a, start)) >= 0; start = end + 1) yield ended(chunk.subarray(start, end));
    length += chunk.length - start;
    // What is too long already need not be kept.
    if (length <= SINGLE_BYTES_MAX) pieces.push(chunk.subarray(start));
  }
  if (length > 0) yield ended(new Uint8Array());
}
