import { type EffectRows, loadedState } from "../../db/api/evaluation.js";
import type { ReplayedCustomer, ExecutionKey, RecomputeCustomer, RecomputeJob } from "../../db/api/recompute.js";
import type { CustomerState, Effect, Model, TrackedEvent } from "../../engine/index.js";
import { corrections, storedState, unemittedExpirations } from "../../engine/index.js";
import { customerColumns } from "../rows.js";
import { CustomerReplay, nullIfEmpty } from "./customer-replay.js";
import type { PastEvents } from "../../evaluation/past-events.js";
import { compare, type Compared, ExecutionsAdded, LIST_MAX } from "./difference.js";

type Logs = Pick<EffectRows, "transitions" | "ruleExecutions">;
type Emission = Extract<Effect, { kind: "emission" }>;

/** The models of a job: the one that is replayed, and for a preview the active one to compare with. */
export interface JobModels {
  replayed: Model;
  active: Model | null;
}

/**
 * One customer's part of a job. The result is compared with what is stored and logged; the result of a preview is compared with a replay
 * under the active model, so that it shows only what the model changes.
 */
export class CustomerRun {
  readonly customer: RecomputeCustomer;
  /** The runs of rules that the replay adds, as far as it has come. */
  readonly executions = new ExecutionsAdded(LIST_MAX);
  readonly #job: RecomputeJob;
  readonly #before: CustomerState;
  readonly #replay: CustomerReplay;
  readonly #active: CustomerReplay | null;

  constructor(job: RecomputeJob, models: JobModels, customer: RecomputeCustomer) {
    this.customer = customer;
    this.#job = job;
    this.#before = loadedState(customer);
    this.#replay = new CustomerReplay(models.replayed, this.#before, customer.generation + 1);
    this.#active = models.active && new CustomerReplay(models.active, this.#before, 0);
  }

  /** Whether the replay's runs of rules are compared with the log, rather than with the active model's. */
  get readsLog(): boolean {
    return this.#active === null;
  }

  /** Replays the whole history at once; false if that is too much for one budget, and this object cannot be used any more. */
  replayAll(events: readonly TrackedEvent[], executions: readonly ExecutionKey[]): boolean {
    if (!this.#replay.part(events, this.customer.through).isDone) return false;
    if (this.#active !== null && !this.#active.part(events, this.customer.through).isDone) return false;
    if (this.readsLog) this.executions.addLogged(executions);
    return true;
  }

  /**
   * Replays the next events of a long history.
   *
   * @param past fetches events that were already replayed when the engine asks for them, for each of the two replays
   * @param onLogs called repeatedly with the replay's rows for the logs, and the instant before which all of its runs of rules are known
   */
  async part(
    events: readonly TrackedEvent[],
    isLast: boolean,
    past: { replayed: PastEvents; active: PastEvents },
    onLogs: (logs: Logs, knownBefore: number) => Promise<void>,
  ): Promise<void> {
    const through = isLast ? this.customer.through : null;
    const advance = async (replay: CustomerReplay, seen: PastEvents, onSlice: () => Promise<void>): Promise<void> => {
      for (let left = events; ;) {
        const { taken, isDone } = await seen.runWith((source) => replay.part(left, through, source));
        seen.advance(left.slice(0, taken));
        if (isDone) return;
        left = left.slice(taken);
        await onSlice();
      }
    };
    const active = this.#active;
    // The runs of two replays are compared as far as both have come.
    await advance(this.#replay, past.replayed, () =>
      onLogs(this.#takeLogs(), active === null ? (this.#replay.state.evaluatedThrough ?? -Infinity) : -Infinity),
    );
    if (active !== null) await advance(active, past.active, () => onLogs(this.#takeLogs(), -Infinity));
    await onLogs(this.#takeLogs(), isLast ? Infinity : events.at(-1)!.occurredAt);
  }

  /** The difference that the replay makes to the customer. */
  compared(): Compared {
    return this.#finish().compared;
  }

  /** What to write for the customer, except the logs' rows that `part` passed to `onLogs`. */
  applied(): ReplayedCustomer {
    const { logs, emissions, compared } = this.#finish();
    return {
      ...customerColumns(this.#replay.state),
      state: storedState(this.#replay.state),
      revision: this.customer.revision,
      generation: this.customer.generation + 1,
      ...this.#replay.rows.tables(),
      transitions: nullIfEmpty(logs.transitions),
      ruleExecutions: nullIfEmpty(logs.ruleExecutions),
      ...compared,
      emissions: nullIfEmpty(emissions.map(({ type, source, metadata, at }) => ({ type, source, metadata, at }))),
    };
  }

  #finish(): { logs: Logs; emissions: Emission[]; compared: Compared } {
    const logs = this.#takeLogs();
    this.executions.settle(Infinity);
    const before = this.#active?.state ?? this.#before;
    const emissions = this.#emissions(before);
    return { logs, emissions, compared: compare(before, this.#replay.state, this.executions, emissions) };
  }

  #takeLogs(): Logs {
    const logs = this.#replay.rows.takeLogs();
    this.executions.addReplayed(logs.ruleExecutions);
    if (this.#active !== null) {
      const { ruleExecutions } = this.#active.rows.takeLogs();
      this.executions.addLogged(
        ruleExecutions.map(({ rule, result, triggeredBy, at }) => [rule, result, triggeredBy, at]),
      );
    }
    return logs;
  }

  /** Expirations that were not emitted yet, at their instants; then corrections at the pinned instant. */
  #emissions(before: CustomerState): Emission[] {
    const { recomputeId: jobId, pinnedAt: at } = this.#job;
    const emitted = new Map<string, number[]>();
    const add = (journey: string, instant: number): void => {
      const instants = emitted.get(journey);
      if (instants === undefined) emitted.set(journey, [instant]);
      else instants.push(instant);
    };
    for (const [journey, instant] of this.customer.told ?? []) add(journey, instant);
    for (const { journey, expiredAt } of this.#active?.rows.journeySpans() ?? []) {
      if (expiredAt !== null) add(journey, expiredAt);
    }
    for (const instants of emitted.values()) instants.sort((a, b) => a - b);
    return [
      ...unemittedExpirations(this.#replay.rows.journeySpans(), emitted, jobId),
      ...corrections(before, this.#replay.state, { at, jobId }),
    ].filter((effect): effect is Emission => effect.kind === "emission");
  }
}
