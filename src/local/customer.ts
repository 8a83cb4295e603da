import {
  type CustomerState,
  type Effect,
  evaluate,
  firstLater,
  timersHeldUntil,
  type HistoryPage,
  type HistoryRequest,
  type Model,
  newCustomer,
  type Operation,
  timersMayFire,
  type TrackOperation,
} from "../engine/index.js";

/** The most events in an answer to the engine. */
const PAGE = 1_000;

/** The evaluated events of one customer, by name and in order of (occurrence, acceptance), for the engine's requests. */
export class EventHistory {
  readonly #byName = new Map<string, TrackOperation[]>();

  add(event: TrackOperation): void {
    const events = this.#byName.get(event.event);
    if (events === undefined) this.#byName.set(event.event, [event]);
    else events.splice(firstLater(events, event), 0, event);
  }

  readonly source = ({ event, after, until }: HistoryRequest): HistoryPage => {
    const events = this.#byName.get(event) ?? [];
    const from = firstLater(events, after);
    const to = until === null ? events.length : firstLater(events, until);
    return { events: events.slice(from, Math.min(to, from + PAGE)), complete: to - from <= PAGE };
  };
}

/** The present instant, and whether no late event was accepted during the settling time before it. */
export interface Instant {
  now: number;
  settled: boolean;
}

/** The result of an evaluation, which changes nothing until it is committed. */
export interface Evaluation {
  effects: Effect[];
  commit: () => void;
}

/** One customer in memory: its state, the events from which it was derived, and events in the future. */
export class LocalCustomer {
  #state: CustomerState;
  #ahead: TrackOperation[] = [];
  readonly #history = new EventHistory();
  readonly history = this.#history.source;

  constructor(customerId: string, createdAt: number) {
    this.#state = newCustomer(customerId, createdAt);
  }

  get state(): CustomerState {
    return this.#state;
  }

  /** Events in the future. */
  get ahead(): readonly TrackOperation[] {
    return this.#ahead;
  }

  /** The latest instant until which the settle rule holds the customer's timers; null if it does not. */
  get heldUntil(): number | null {
    return timersHeldUntil(this.#state);
  }

  /** Whether something is due that need not wait for the settle rule. */
  isDue(instant: Instant): boolean {
    const { nextDueAt } = this.#state;
    return nextDueAt !== null && nextDueAt <= instant.now && timersMayFire(this.#state, this.#ahead, instant);
  }

  /** The earliest instant at which `isDue` will hold; Infinity if time alone changes nothing. `settledAt`: when the settle rule will let
   * the timers of all customers fire. */
  dueAt(settledAt: number): number {
    const { nextDueAt } = this.#state;
    if (nextDueAt === null) return Infinity;
    const until = timersHeldUntil(this.#state);
    return until === null ? nextDueAt : Math.max(nextDueAt, Math.min(settledAt, until));
  }

  /** Evaluates operations, given in order of acceptance, and what is due. */
  evaluate(model: Model, operations: readonly Operation[], instant: Instant): Evaluation {
    const all = [...this.#ahead, ...operations];
    const { state, effects, deferred } = evaluate(model, this.#state, all, {
      now: instant.now,
      timers: timersMayFire(this.#state, all, instant) ? "fire" : "hold",
      history: this.history,
    });
    return {
      effects,
      commit: () => {
        const ahead = new Set(deferred.map(({ seq }) => seq));
        for (const operation of all) {
          if (operation.kind === "track" && !ahead.has(operation.seq)) this.#history.add(operation);
        }
        this.#ahead = deferred;
        this.#state = state;
      },
    };
  }
}
