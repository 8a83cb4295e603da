import { DecimalSum } from "../decimal.js";
import type { OpenCustomer, WorkingAggregate } from "../open-customer.js";
import { isLater, isSamePlace, justBefore, readHistory } from "../state/history.js";
import type { HistoryEvent, Order, StreamMemory, SumMemory } from "../state/types.js";
import { OccurrenceQueue, REMEMBERED_OF_WINDOW } from "./occurrences.js";
import { AggregateScope, type CompiledScope, type ScopedSelection, select } from "./scope.js";

/** The value of `others` if nothing is known about a window except where it begins. */
const UNREAD = -1;

/** The memory of a count whose stream knows only the latest occurrences: its window is read from history when it is first needed. */
export function unread(stream: StreamMemory, { within, boundary }: CompiledScope, clock: number): SumMemory {
  const last = stream.seq.length - 1;
  const oldest = { occurredAt: [], seq: [], value: [] };
  // With a boundary it is read anyway, as if the boundary had just moved.
  const isUnread = boundary === undefined && last >= 0;
  const [others, othersFrom] = isUnread ? [UNREAD, { occurredAt: clock - within, seq: 0 }] : [0, null];
  return {
    kind: "sum",
    sum: { units: 0, scale: 0 },
    count: 0,
    positive: 0,
    negative: 0,
    scope: { latest: last < 0 ? null : { occurredAt: stream.occurredAt[last]!, seq: stream.seq[last]! }, since: null },
    window: within === Infinity ? null : { oldest, others, othersFrom },
  };
}

/** The exact sum of a number property, and the count of its summands. */
export class SumAggregate implements WorkingAggregate {
  sum: DecimalSum;
  count: number;
  /** How many of the numbers are above and below zero. */
  private positive: number;
  private negative: number;
  private readonly scope: AggregateScope<number> | null;
  /** The loaded occurrences in the window. From `othersFrom` on it has only those of this call; `others` more are not loaded. */
  private readonly window: OccurrenceQueue | null;
  private others: number;
  private othersFrom: Order | null;
  /** Whether `othersFrom` is the position of the first of them, and not a later position up to which history was read. */
  private isFirstOther = true;
  /** True if the number of others is unknown, or if the first of them is missing from history: then all that exist are read and summed up. */
  private lacksOthers: boolean;
  private changed = false;

  constructor(
    private readonly selection: ScopedSelection<number>,
    private readonly origin: SumMemory | undefined,
  ) {
    const isWindow = selection.within !== Infinity;
    const isScoped = isWindow || selection.boundary !== undefined;
    this.scope = isScoped ? new AggregateScope(selection, origin?.scope) : null;
    this.window = isWindow ? new OccurrenceQueue(origin?.window?.oldest) : null;
    this.sum = origin === undefined ? new DecimalSum() : DecimalSum.from(origin.sum);
    this.count = origin?.count ?? 0;
    this.positive = origin?.positive ?? 0;
    this.negative = origin?.negative ?? 0;
    this.others = origin?.window?.others ?? 0;
    this.othersFrom = origin?.window?.othersFrom ?? null;
    this.lacksOthers = this.others === UNREAD;
  }

  clone(): SumAggregate {
    const { sum, scope, window } = this;
    const own: object = {
      sum: sum.clone(),
      scope: scope && scope.clone(),
      window: window && window.clone(),
    };
    return Object.assign(new SumAggregate(this.selection, this.origin), this, own);
  }

  record(customer: OpenCustomer, event: HistoryEvent): boolean {
    const value = select(this.selection, event);
    if (value === undefined) return false;
    this.changed = true;
    if (this.scope !== null) {
      this.followBoundary(customer, this.scope);
      this.scope.note(event, value);
      if (!this.scope.includes(customer, event) && !this.isAmongOthers(event)) return false;
    }
    this.add(event, value);
    return true;
  }

  /** Updates the sum as of the customer's clock. */
  read(customer: OpenCustomer): this {
    if (this.scope !== null) {
      this.followBoundary(customer, this.scope);
      while (this.needsHistory(customer, this.scope) || (this.lacksOthers && this.othersFrom !== null)) {
        this.readPage(customer);
      }
      this.leave(customer, this.scope);
    }
    return this;
  }

  /** The earliest instant after the clock at which something may leave the window, or Infinity. Requires a window. */
  nextLeave(customer: OpenCustomer): number {
    if (this.read(customer).count === 0) return Infinity;
    const window = this.window!;
    const isLoaded = window.before(this.othersFrom) > 0;
    return (isLoaded ? window.occurredAt(0) : this.othersFrom!.occurredAt) + this.selection.within;
  }

  /** Whether no number is below (or above) zero, so that the sum never is either, however many leave. */
  get isNonNegative(): boolean {
    return this.negative === 0;
  }

  get isNonPositive(): boolean {
    return this.positive === 0;
  }

  remembersUntil(): number {
    const first = this.window?.firstBeyond(REMEMBERED_OF_WINDOW, this.othersFrom);
    return first ? first.occurredAt + this.selection.within : Infinity;
  }

  save(customer: OpenCustomer, occurrences = REMEMBERED_OF_WINDOW): SumMemory {
    const { scope, window } = this;
    if (scope !== null) {
      this.followBoundary(customer, scope);
      if (!this.needsHistory(customer, scope)) this.leave(customer, scope);
    }
    const isUnchanged = !this.changed && this.origin !== undefined;
    if (isUnchanged && (this.origin.window?.oldest.seq.length ?? 0) <= occurrences) return this.origin;
    return {
      kind: "sum",
      sum: this.sum.toMemory(),
      count: this.count,
      positive: this.positive,
      negative: this.negative,
      scope: scope && scope.toMemory(),
      window: window && this.saveWindow(window, occurrences),
    };
  }

  private saveWindow(window: OccurrenceQueue, occurrences: number): SumMemory["window"] {
    if (this.lacksOthers) return { oldest: window.toMemory(0), others: UNREAD, othersFrom: this.othersFrom };
    const kept = Math.min(window.before(this.othersFrom), occurrences);
    return {
      oldest: window.toMemory(kept),
      others: this.others + window.length - kept,
      othersFrom: window.firstBeyond(kept, this.othersFrom),
    };
  }

  private followBoundary(customer: OpenCustomer, scope: AggregateScope<number>): void {
    const boundary = scope.moved(customer);
    if (boundary === null) return;
    this.clear();
    scope.addSince(customer, boundary, (order, value) => this.add(order, value));
  }

  /** Whether an occurrence is in the range that is not loaded yet: it is counted with the others, read with them, and leaves with them. */
  private isAmongOthers(event: HistoryEvent): boolean {
    const from = this.othersFrom;
    return from !== null && !isLater(from.occurredAt, from.seq, event) && this.scope!.counts(event);
  }

  /** Whether something that is not loaded may have left the window. */
  private needsHistory(customer: OpenCustomer, scope: AggregateScope<number>): boolean {
    const from = this.othersFrom;
    return from !== null && from.occurredAt <= customer.clock - this.selection.within && !scope.hasLeft(customer);
  }

  /** Removes what has left the window. */
  private leave(customer: OpenCustomer, scope: AggregateScope<number>): void {
    const { window } = this;
    if (window === null || this.count === 0) return;
    if (scope.hasLeft(customer)) return this.clear();
    const start = customer.clock - this.selection.within;
    while (window.length > 0 && window.occurredAt(0) <= start) {
      this.take(window.value(0), -1);
      window.removeFirst();
      this.changed = true;
    }
  }

  /** Reads another page of the window from history. If history has lost some of it, the sum is computed from what is left. */
  private readPage(customer: OpenCustomer): void {
    const window = this.window!;
    const { event } = this.selection;
    const from = this.othersFrom!;
    const { events, complete } = readHistory(customer, { event, after: justBefore(from), until: null });
    let isFirst = this.isFirstOther;
    for (const one of events) {
      const value = select(this.selection, one);
      if (value === undefined) continue;
      if (isFirst && !isSamePlace(one, from)) this.lacksOthers = true;
      isFirst = false;
      window.insert(window.find(one.occurredAt, one.seq), one.occurredAt, one.seq, value);
      this.others--;
    }
    const last = events.at(-1);
    if (last !== undefined && !complete && (this.others > 0 || this.lacksOthers)) {
      this.othersFrom = { occurredAt: last.occurredAt, seq: last.seq + 1 };
      this.isFirstOther = false;
      return;
    }
    this.othersFrom = null;
    this.lacksOthers = false;
    if (this.others !== 0) this.sumUp();
  }

  private add({ occurredAt, seq }: Order, value: number): void {
    this.take(value, 1);
    this.window?.insert(this.window.find(occurredAt, seq), occurredAt, seq, value);
  }

  private take(value: number, times: 1 | -1): void {
    this.sum.add(times * value);
    this.count += times;
    if (value > 0) this.positive += times;
    else if (value < 0) this.negative += times;
  }

  private clear(): void {
    this.window?.clear();
    this.othersFrom = null;
    this.lacksOthers = false;
    this.sumUp();
  }

  /** Computes the sum again from the loaded occurrences. */
  private sumUp(): void {
    this.sum = new DecimalSum();
    this.count = this.positive = this.negative = this.others = 0;
    for (let i = 0; this.window !== null && i < this.window.length; i++) this.take(this.window.value(i), 1);
    this.changed = true;
  }
}
