import fc from "fast-check";

import {
  evaluate,
  HistoryNeeded,
  newCustomer,
  stateOf,
  storedState,
  type Budget,
  type CustomerState,
  type Effect,
  type Evaluated,
  type HistoryPage,
  type HistoryRequest,
  type HistorySource,
  type Model,
  type Operation,
  type StoredState,
  type TrackOperation,
} from "../../../src/engine/index.js";
import { PastEvents } from "../../../src/evaluation/past-events.js";
import { propertyRuns } from "../../support/property-runs.js";
import { rebuildMemory } from "./whole-history.js";

/** The number of random runs of each property. */
export const runs = propertyRuns(250);

/** The time limit of a property in ms: the default runs need a fraction of it, and a few more rounds if one missed a rare case. */
export const timeout = 60_000 + 180 * runs;

/** Checks a property; a failure names the seed and the path that repeat it. */
export function check<T extends [unknown, ...unknown[]]>(property: fc.IProperty<T>): void {
  fc.assert(property, { numRuns: runs });
}

export { Coverage } from "./coverage.js";

/** Whether the whole history is available at once, or fetched in pages: small ones, or of this number of events. */
export type History = "whole" | "pages" | number;

const FIVE_MINUTES = 300_000;

/** A budget of `count` instants for one call. */
export function ofInstants(count: number): Budget {
  let left = count;
  return () => --left > 0;
}

/** A state as it comes back from the database. */
export function storedAndRead(state: CustomerState): CustomerState {
  const { customerId, createdAt, traits } = state;
  const row = JSON.parse(
    JSON.stringify({ customerId, createdAt, traits, state: storedState(state) }),
  ) as typeof state & {
    state: StoredState;
  };
  return stateOf(row.state, row);
}

/** Makes changing an argument an error. */
function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(freeze);
  return value;
}

/** A customer under the engine, with a caller that keeps the deferred operations and the history, and stores the state as text between calls. */
export class Run {
  state: CustomerState;
  effects: Effect[] = [];
  deferred: TrackOperation[] = [];
  /** The history requests of the engine so far. */
  readonly requests: HistoryRequest[] = [];
  /** The number of engine calls so far, without those repeated because history was missing. */
  calls = 0;
  /** In order of occurrence. */
  private readonly taken: TrackOperation[] = [];

  /**
   * @param history if pages are fetched, the call is repeated
   * @param budget for each call; if it does not suffice, another call continues with the rest
   */
  constructor(
    private model: Model,
    private readonly history: History = "whole",
    customer: { customerId: string; createdAt: number } = { customerId: "c1", createdAt: 0 },
    private readonly budget: () => Budget = () => () => true,
    /** The maximum number of deferred operations passed in. */
    private readonly aheadMax = Infinity,
  ) {
    this.state = newCustomer(customer.customerId, customer.createdAt);
  }

  take(operations: readonly Operation[], options: Parameters<typeof evaluate>[3] = { now: 0, timers: "hold" }): void {
    for (let left = operations; ;) {
      const { taken, isDone } = this.call(left, options);
      if (isDone) return;
      left = left.slice(taken);
    }
  }

  tick(now: number): void {
    this.take([], { now, timers: "fire" });
  }

  changeVersion(model: Model): void {
    this.model = model;
    this.state = rebuildMemory(model, this.state, this.evaluated());
  }

  /** Removes some events from the history, like retention. */
  forget(isLost: (event: TrackOperation) => boolean): void {
    const kept = this.taken.filter((event) => !isLost(event));
    this.taken.splice(0, this.taken.length, ...kept);
  }

  /** The evaluated events, in order. */
  evaluated(): TrackOperation[] {
    const ahead = new Set(this.deferred.map(({ seq }) => seq));
    return this.taken.filter(({ seq }) => !ahead.has(seq));
  }

  private call(operations: readonly Operation[], options: Parameters<typeof evaluate>[3]): Evaluated {
    const evaluated = this.evaluated();
    const state = freeze(storedAndRead(this.state));
    // The operations due first. If the customer was never evaluated they are due at their acceptance: its first timer precedes everything.
    const dueAt = ({ occurredAt, acceptedAt }: TrackOperation) =>
      this.state.evaluatedThrough === null ? acceptedAt : occurredAt;
    const ahead = this.deferred.toSorted((a, b) => dueAt(a) - dueAt(b) || a.seq - b.seq);
    const left = ahead.splice(this.aheadMax);
    const first = left[0];
    ahead.sort((a, b) => a.seq - b.seq);
    const given = freeze([...ahead, ...operations]);
    const result = withHistory(evaluated, this.history, this.requests, (history) =>
      evaluate(this.model, state, given, {
        ...options,
        history,
        budget: this.budget(),
        ...(first === undefined ? {} : { aheadFrom: dueAt(first) }),
      }),
    );
    const taken = result.taken - ahead.length;
    for (const operation of operations.slice(0, taken)) {
      if (operation.kind !== "track") continue;
      const before = this.taken.findLastIndex((one) => isLater(operation, one));
      this.taken.splice(before + 1, 0, operation);
    }
    this.state = result.state;
    this.deferred = [...result.deferred, ...left].sort((a, b) => a.seq - b.seq);
    this.effects.push(...result.effects);
    this.calls++;
    return { ...result, taken };
  }
}

/** Serves the history requests of a call: at once, or by calling again with one more page until nothing is missing. */
export function withHistory<T>(
  evaluated: readonly TrackOperation[],
  history: History,
  requests: HistoryRequest[],
  call: (history: HistorySource) => T,
): T {
  if (history === "whole") {
    return call((request) => {
      requests.push(request);
      return { events: requestedEvents(evaluated, request), complete: true };
    });
  }
  const size = history === "pages" ? 2 : history;
  const pages = new Map<string, HistoryPage>();
  for (;;) {
    try {
      return call((request) => pages.get(JSON.stringify(request)));
    } catch (error) {
      if (!(error instanceof HistoryNeeded)) throw error;
      const { request } = error;
      const key = JSON.stringify(request);
      if (pages.has(key)) throw new Error("the same history is asked for again", { cause: error });
      requests.push(request);
      const events = requestedEvents(evaluated, request);
      pages.set(key, { events: events.slice(0, size), complete: events.length <= size });
    }
  }
}

function isLater(a: { occurredAt: number; seq: number }, b: typeof a): boolean {
  return a.occurredAt > b.occurredAt || (a.occurredAt === b.occurredAt && a.seq > b.seq);
}

/** The events that match a request. */
function requestedEvents(
  evaluated: readonly TrackOperation[],
  { event, after, until }: HistoryRequest,
): TrackOperation[] {
  return evaluated.filter((one) => one.event === event && isLater(one, after) && !(until && isLater(one, until)));
}

/** A history of which two events are fetched at a time. */
export function pastEvents(events: readonly TrackOperation[]): PastEvents {
  return new PastEvents(async (request) => {
    const found = requestedEvents(events, request);
    return Promise.resolve({ events: found.slice(0, 2), complete: found.length <= 2 });
  });
}

/** The last instant at which timers can fire before an operation without affecting the result. */
export function tickLimit({ state, deferred }: Run, operation: Operation): number {
  const clock = state.evaluatedThrough ?? -Infinity;
  if (operation.kind === "track") return Math.max(clock, operation.occurredAt);
  const { acceptedAt } = operation;
  const last = state.lastTrack;
  const instant = last === null || last.acceptedAt > last.occurredAt + FIVE_MINUTES ? clock : acceptedAt;
  const due = Math.max(acceptedAt, clock);
  // A tick at exactly this instant would evaluate operations that belong with or after this identify.
  const isShared = state.traitsDueAt.includes(due) || deferred.some((one) => one.occurredAt === acceptedAt);
  return isShared ? Math.min(instant, due - 1) : instant;
}
