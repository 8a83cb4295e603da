import { setImmediate as nextTurn } from "node:timers/promises";
import {
  type CustomerState,
  type HistorySource,
  type IdentifyOperation,
  type Json,
  type Model,
  newCustomer,
  type Operation,
  type Said,
  type Sampled,
  sampleThrough,
  type TrackedEvent,
  type TrackOperation,
} from "../engine/index.js";
import type { PastEvents } from "../evaluation/past-events.js";
import { WorkBudget } from "../evaluation/work-budget.js";
import { type CustomerSamples, instantsOf, type Outcome, type BacktestQuestion } from "./samples.js";

/** Others wait for the same thread. */
const SHARE = 0.25;

/** A customer before anything that a backtest looks at. */
export interface SampledCustomer {
  customerId: string;
  createdAt: number;
  /** What holds from the beginning: nothing, where identifies are among the operations. */
  traits: Record<string, Json>;
}

/** Events and identifies of one customer in the order of a sampler. An event counts as accepted when it occurred. */
export function operationsInOrder(
  events: readonly TrackedEvent[],
  identifies: readonly IdentifyOperation[],
): Operation[] {
  const operations: Operation[] = [
    ...events.map((event) => ({ ...event, kind: "track", acceptedAt: event.occurredAt }) as const),
    ...identifies,
  ];
  return operations.sort((a, b) => a.acceptedAt - b.acceptedAt || a.seq - b.seq);
}

/**
 * One customer of a backtest: goes once through its operations, as `operationsInOrder` has them, and notes what each model
 * says at the sampling instants and when the outcome came, as the first model says.
 */
export class CustomerSampler {
  readonly #runs: SamplerRun[];

  constructor(
    question: BacktestQuestion,
    models: readonly Model[],
    private readonly customer: SampledCustomer,
  ) {
    this.#runs = models.map((model, index) => new SamplerRun(question, model, customer, index === 0));
  }

  /** Goes through all there is at once; false where that is too much for once, and this sampler of no more use. */
  whole(operations: readonly Operation[]): boolean {
    return this.#runs.every((run) => run.step(operations, true).isDone);
  }

  /**
   * Goes on with the next operations of a long history.
   *
   * @param past by model: has the events that were gone through, where the engine asks for them
   */
  async part(operations: readonly Operation[], isLast: boolean, past: readonly PastEvents[]): Promise<void> {
    for (const [index, run] of this.#runs.entries()) {
      const seen = past[index]!;
      for (let left = operations; ;) {
        const { taken, isDone } = await seen.during((source) => run.step(left, isLast, source));
        seen.passed(left.slice(0, taken).filter(isTrack));
        if (isDone) break;
        left = left.slice(taken);
        await nextTurn();
      }
    }
  }

  get samples(): CustomerSamples {
    const [judged] = this.#runs;
    return {
      customerId: this.customer.customerId,
      said: this.#runs.map(({ sayings }) => sayings),
      outcomes: judged!.outcomes,
    };
  }
}

/** One model's run through a customer. */
class SamplerRun {
  readonly sayings: CustomerSamples["said"][number] = [];
  readonly outcomes: number[] = [];
  readonly #question: BacktestQuestion;
  readonly #instants: readonly number[];
  #state: CustomerState;
  #looked = 0;

  constructor(
    question: BacktestQuestion,
    private readonly model: Model,
    { customerId, createdAt, traits }: SampledCustomer,
    private readonly decidesOutcome: boolean,
  ) {
    this.#question = question;
    // What is known ends with `end`, which is looked at so that time alone brings about what it does until then.
    this.#instants = [...instantsOf(question), question.end];
    this.#state = { ...newCustomer(customerId, createdAt), traits };
  }

  step(operations: readonly Operation[], isLast: boolean, history?: HistorySource): Sampled {
    // At the instant of the last operation others of the next part may lie.
    const until = isLast ? Infinity : operations.at(-1)!.acceptedAt;
    const instants = this.#instants.slice(this.#looked).filter((instant) => instant < until);
    const sampled = new WorkBudget(SHARE).spend((budget) =>
      sampleThrough(this.model, this.#state, { operations, instants, budget, ...(history && { history }) }),
    );
    this.#state = sampled.state;
    sampled.said.forEach((said) => this.#note(said));
    if (this.decidesOutcome) {
      for (const at of outcomesOf(this.#question.outcome, sampled, operations)) this.#noteOutcome(at);
    }
    return sampled;
  }

  #note(said: Said | null): void {
    const index = this.#looked++;
    const last = this.sayings.at(-1)?.[1];
    // The last of the instants is the end, which is no sample.
    if (said === null || index === this.#instants.length - 1 || (last !== undefined && isSame(last, said))) return;
    this.sayings.push([index, said]);
  }

  /** Notes the first outcome after each sampling instant. */
  #noteOutcome(at: number): void {
    const { from, every, end } = this.#question;
    const before = Math.min(Math.ceil((at - from) / every), this.#instants.length - 1) - 1;
    const last = this.outcomes.at(-1) ?? -Infinity;
    if (before >= 0 && at <= end && last <= from + before * every) this.outcomes.push(at);
  }
}

/** When the outcome came, in order. */
function outcomesOf({ kind, id }: Outcome, { effects, taken }: Sampled, operations: readonly Operation[]): number[] {
  if (kind === "event") {
    const taking = operations.slice(0, taken).filter(isTrack);
    return taking.flatMap(({ event, occurredAt }) => (event === id ? occurredAt : []));
  }
  const entries = effects.filter((effect) =>
    kind === "state"
      ? effect.kind === "transition" && effect.to === id
      : effect.kind === "segmentEntered" && effect.segment === id,
  );
  return entries.map(({ at }) => at);
}

function isTrack(operation: Operation): operation is TrackOperation {
  return operation.kind === "track";
}

/** Scores are replaced where they change, never changed. */
function isSame(a: Said, b: Said): boolean {
  return (
    a.state === b.state &&
    a.health === b.health &&
    a.segments.join("\n") === b.segments.join("\n") &&
    a.signals.join("\n") === b.signals.join("\n")
  );
}
