import { setImmediate as nextTurn } from "node:timers/promises";
import {
  type CustomerState,
  type HistorySource,
  type IdentifyOperation,
  type Json,
  type Model,
  newCustomer,
  type Operation,
  type ModelOutput,
  type Sampled,
  sampleThrough,
  type TrackedEvent,
  type TrackOperation,
} from "../engine/index.js";
import type { PastEvents } from "../evaluation/past-events.js";
import { REPLAY_SHARE, WorkBudget } from "../evaluation/work-budget.js";
import { type CustomerSamples, instantsOf, type Outcome, type BacktestQuestion } from "./samples.js";

/** A customer before the operations of a backtest. */
export interface SampledCustomer {
  customerId: string;
  createdAt: number;
  /** The traits from the beginning on; none if the operations include identifies. */
  traits: Record<string, Json>;
}

/** Events and identifies of one customer, in the order that a sampler needs. An event counts as accepted when it occurred. */
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
 * Samples one customer of a backtest: replays its operations once, in the order of `operationsInOrder`, and records what each model says at
 * the sampling instants, and when the outcome came according to the first model.
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

  /** Replays all operations in one step. Returns false if that exceeds the budget; the sampler must then not be used any more. */
  sampleAll(operations: readonly Operation[]): boolean {
    return this.#runs.every((run) => run.step(operations, true).isDone);
  }

  /**
   * Replays the next operations of a long history.
   *
   * @param past by model: provides the events replayed so far when the engine asks for them
   */
  async samplePart(operations: readonly Operation[], isLast: boolean, past: readonly PastEvents[]): Promise<void> {
    for (const [index, run] of this.#runs.entries()) {
      const seen = past[index]!;
      for (let rest = operations; ;) {
        const { taken, isDone } = await seen.runWith((source) => run.step(rest, isLast, source));
        seen.advance(rest.slice(0, taken).filter(isTrack));
        if (isDone) break;
        rest = rest.slice(taken);
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
  #sampled = 0;

  constructor(
    question: BacktestQuestion,
    private readonly model: Model,
    { customerId, createdAt, traits }: SampledCustomer,
    private readonly decidesOutcome: boolean,
  ) {
    this.#question = question;
    // `end` is added so that the replay also includes what time alone changes until the end of the known history.
    this.#instants = [...instantsOf(question), question.end];
    this.#state = { ...newCustomer(customerId, createdAt), traits };
  }

  step(operations: readonly Operation[], isLast: boolean, history?: HistorySource): Sampled {
    // The next part may have more operations at the instant of the last one.
    const until = isLast ? Infinity : operations.at(-1)!.acceptedAt;
    const instants = this.#instants.slice(this.#sampled).filter((instant) => instant < until);
    const sampled = new WorkBudget(REPLAY_SHARE).spend((budget) =>
      sampleThrough(this.model, this.#state, { operations, instants, budget, ...(history && { history }) }),
    );
    this.#state = sampled.state;
    sampled.said.forEach((said) => this.#record(said));
    if (this.decidesOutcome) {
      for (const at of outcomesOf(this.#question.outcome, sampled, operations)) this.#recordOutcome(at);
    }
    return sampled;
  }

  #record(said: ModelOutput | null): void {
    const index = this.#sampled++;
    const last = this.sayings.at(-1)?.[1];
    // The last instant is the end of the known history, which is not a sampling instant.
    if (said === null || index === this.#instants.length - 1 || (last !== undefined && isSame(last, said))) return;
    this.sayings.push([index, said]);
  }

  /** Records the first outcome after each sampling instant. */
  #recordOutcome(at: number): void {
    const { from, every, end } = this.#question;
    const before = Math.min(Math.ceil((at - from) / every), this.#instants.length - 1) - 1;
    const last = this.outcomes.at(-1) ?? -Infinity;
    if (before >= 0 && at <= end && last <= from + before * every) this.outcomes.push(at);
  }
}

/** The instants at which the outcome came, ascending. */
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

/** Compares health scores by identity: a score that changes is a new object. */
function isSame(a: ModelOutput, b: ModelOutput): boolean {
  return (
    a.state === b.state &&
    a.health === b.health &&
    a.segments.join("\n") === b.segments.join("\n") &&
    a.signals.join("\n") === b.signals.join("\n")
  );
}
