import { createReadStream } from "node:fs";
import { SINGLE_BYTES_MAX, lineProblem } from "../ingestion/request.js";
import type { Snapshot } from "../model/snapshot/types.js";
import { engineOperation, IdempotencyKeys, type RequestOperation } from "./engine.js";
import type { AcceptedBatch } from "./population.js";
import { schemaViolations } from "./refusals.js";

/** A mistake in a line. The message and the fix are sentences. */
export interface LineProblem {
  line: number;
  code: string;
  message: string;
  fix?: string | undefined;
}

/** A file of operations was refused, and nothing of it was used. */
export class FileRefusedError extends Error {
  /** @param problems those of the first wrong lines @param lines the number of wrong lines */
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
  /** The latest instant of an event, in milliseconds since the epoch. */
  end: number;
  /** Lines with the idempotency key and the payload of an earlier line. */
  repeated: number;
  /** Events in the future, which are left out. */
  ahead: number;
  /** Whether there are identifies, and the events are not sorted by time: then identifies may take effect too late. */
  isUnordered: boolean;
}

/** The most operations of a file, since all of them are in memory. */
const OPERATIONS_MAX = 1_000_000;
const PROBLEMS_SHOWN = 20;
const TIMESTAMP_FIX = "Say when it happened, in ISO 8601 with a timezone, for example 2026-03-02T10:00:00Z.";

/**
 * Reads operations from JSON Lines, each line like an element of a batch. An identify has no time of its own: it takes effect at the latest
 * event of the lines before it, or at the first event of the file if there is none before.
 *
 * @param snapshot the model whose strict schema refuses lines
 * @throws {FileRefusedError} for lines that cannot be accepted, for a file without events or with too many operations; a system error if the file
 *   cannot be read
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
    if (read.type === "identify") return this.#take(engineOperation(read, line, this.#end));
    if (read.timestamp === undefined) {
      const message = "`timestamp` is required in a file.";
      return this.#refuse({ line, code: "VALIDATION_ERROR", message, fix: TIMESTAMP_FIX });
    }
    // The line number takes the place of the event id, so that a conflict can name the earlier line.
    const { originals, conflicts, commit } = this.#keys.lookUp([[read, String(line)]]);
    if (conflicts.length > 0) {
      const message = `The idempotency key is that of line ${originals[0]}, which has another payload.`;
      return this.#refuse({ line, code: "IDEMPOTENCY_CONFLICT", message, fix: "Use a new key for another payload." });
    }
    if (originals[0] !== undefined) this.#repeated++;
    else this.#take(engineOperation(read, line, this.#end));
    commit();
  }

  result(): FileOperations {
    if (this.#wrong > 0) {
      const lines = this.#wrong === 1 ? "One line" : `${this.#wrong.toLocaleString("en-US")} lines`;
      const more = this.#wrong - this.#problems.length;
      const rest =
        more === 0 ? "" : `: the first ${PROBLEMS_SHOWN} are listed, ${more.toLocaleString("en-US")} more are not`;
      const message = `${lines} of the file cannot be accepted${rest}.`;
      throw new FileRefusedError(message, "Correct the file; nothing of it was used.", this.#problems, this.#wrong);
    }
    if (this.#end === -Infinity)
      throw new FileRefusedError("The file has no events.", "Give a file of JSON Lines with events.");
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
      // The first event sets the instant of the identifies before it.
      if (this.#end === -Infinity)
        for (const before of this.#operations) before.operation.acceptedAt = operation.occurredAt;
      if (operation.occurredAt < this.#end) this.#isDisordered = true;
      this.#end = Math.max(this.#end, operation.occurredAt);
    } else this.#hasIdentifies = true;
    if (this.#operations.push(taken) > OPERATIONS_MAX) {
      const fix = "Use only the lines of some customers, or send all of them to a service and test the model there.";
      throw new FileRefusedError(`The file has more than ${OPERATIONS_MAX.toLocaleString("en-US")} operations.`, fix);
    }
  }

  #refuse({ line, code, message, fix }: LineProblem): void {
    this.#wrong++;
    if (this.#problems.length < PROBLEMS_SHOWN) this.#problems.push({ line, code, message, fix });
  }
}

type Refusal = Omit<LineProblem, "line">;

/** Parses a line; undefined for an empty one. */
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
  const full = [message, reason].filter(Boolean).join(" ");
  // Unlike in a request to the service, a timestamp is required here.
  return ofFile({ code, message: full, fix: field === "timestamp" ? TIMESTAMP_FIX : fix });
}

/** Adapts a message of the service about a request and its active model to a line and a model that need not be deployed. */
function ofFile({ code, message, fix }: Refusal): Refusal {
  const adapted = message.replace(/^The body\b/, "The line").replace(/\b(t)he active configuration\b/i, "$1he model");
  return { code, message: adapted, fix: fix?.replace(" and deploy it", "") };
}

function tooLong(): Refusal {
  const message = `The line is longer than ${SINGLE_BYTES_MAX.toLocaleString("en-US")} bytes, the maximum for an operation.`;
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
    // The rest of a line that is too long already is not kept.
    if (length <= SINGLE_BYTES_MAX) pieces.push(chunk.subarray(start));
  }
  if (length > 0) yield ended(new Uint8Array());
}
