/** Sends the requests of a part of a run. */
import type { Sql } from "postgres";
import { Sender, type Answer } from "../attacks/sender.js";
import type { RunningService } from "../faults/stage/one-service.js";
import type { Documented, Operation } from "./documented.js";
import type { Attempt, Part } from "./part.js";

export class Ground {
  readonly #sender: Sender;

  constructor(
    readonly running: RunningService,
    readonly sql: Sql,
    readonly documented: Documented,
    readonly part: Part,
    /** Called with the number of requests done. */
    readonly onProgress: (done: number) => void,
  ) {
    // Each attempt has its own credentials.
    this.#sender = new Sender(running.service.url, { accessToken: "", organizationId: "" }, part);
  }

  /** Sends a request, and records a finding if the answer is not documented for the operation. */
  async try(operation: Operation, attempt: Attempt): Promise<Answer> {
    const { method = "POST", path, body, headers = {} } = attempt;
    const { signal } = this.running;
    const startedAt = performance.now();
    const outgoing = { method, path, body, endless: operation.isEndless };
    const answer = await this.#sender.anonymous(outgoing, headers, signal);
    signal.throwIfAborted();
    this.part.slowestMs = Math.max(this.part.slowestMs, performance.now() - startedAt);
    const fault = this.documented.fault(operation, answer);
    if (fault !== null) this.part.found(fault, attempt);
    return answer;
  }

  /** Does the work for all items, `lanes` at a time. */
  async inLanes<T>(lanes: number, items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
    const waiting = items.values();
    const lane = async () => {
      for (const item of waiting) {
        this.running.signal.throwIfAborted();
        await work(item);
      }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
  }

  close(): Promise<void> {
    return this.#sender.close();
  }
}
