import type { Reading } from "../compile-context.js";
import type { Aggregate, LookAhead, NextChange, OpenCustomer, WorkingAggregate } from "../open-customer.js";
import type { HistoryEvent } from "../state/types.js";

/** How an event moves a number at instants that were looked at already; null where that cannot be told. */
export type Effect = -1 | 0 | 1 | null;

/** A number made of several, of which more than one may change by time alone. */
export interface MovingNumber {
  value: (customer: OpenCustomer) => number | undefined;
  /** The earliest instant after the clock at which one of them may change by time alone, or Infinity. */
  nextInstant: NextChange;
  /** What the number hangs on besides time and the occurrences of windows; as long as these are the same, so is that. */
  anchors: readonly ((customer: OpenCustomer) => unknown)[];
  /** The aggregates that it reads. */
  aggregates: ReadonlySet<Aggregate>;
  /**
   * How an event moves it at the instants up to `until`.
   *
   * @param isPresent whether it is there at all of them
   */
  effect: (customer: OpenCustomer, event: HistoryEvent, until: number, isPresent: boolean) => Effect;
}

/**
 * The search for the instant at which a reading of such a number becomes another one: from instant to instant at which it may, on copies of
 * what the customer remembers. It is kept while events come that cannot have brought the change forward, so that a history costs each
 * instant once.
 */
class Walk implements LookAhead {
  private readonly copies: { aggregate: Aggregate; copy: WorkingAggregate }[];
  private instant: number;
  /** Whether events came since, so that the search has to go on from its instant. */
  private isOpen = true;
  private at = Infinity;

  constructor(
    private readonly number: MovingNumber,
    private readonly reading: Reading,
    customer: OpenCustomer,
    private readonly present: unknown,
    private readonly anchors: readonly unknown[],
  ) {
    this.instant = customer.clock;
    this.copies = [...number.aggregates].flatMap((aggregate) => {
      const copy = customer.aggregates[aggregate.index]!.clone?.();
      return copy === undefined ? [] : [{ aggregate, copy }];
    });
  }

  isSound({ clock }: OpenCustomer, present: unknown, anchors: readonly unknown[]): boolean {
    return this.instant > clock && present === this.present && anchors.every((one, i) => one === this.anchors[i]);
  }

  find(customer: OpenCustomer): number {
    if (this.isOpen) {
      this.at = this.ahead(customer, () => this.walk(customer));
      this.isOpen = false;
    }
    return this.at;
  }

  record(customer: OpenCustomer, event: HistoryEvent): boolean {
    const { number, reading, present } = this;
    const effect = number.effect(customer, event, this.instant, reading.of(undefined) !== present);
    if (effect === null) return false;
    if (effect !== 0 && reading.steadyAs?.(present) !== (effect > 0 ? "not falling" : "not rising")) return false;
    this.ahead(customer, () => {
      for (const { aggregate, copy } of this.copies) {
        if (aggregate.events.includes(event.event)) copy.record(customer, event);
      }
    });
    this.isOpen = true;
    return true;
  }

  private walk(customer: OpenCustomer): number {
    const { number, reading, present } = this;
    for (;;) {
      if (reading.of(number.value(customer)) !== present) return this.instant;
      const next = number.nextInstant(customer);
      if (next === Infinity) return Infinity;
      this.instant = customer.clock = next;
    }
  }

  /** Looks at the customer as it is at the instant of the search, if nothing comes. */
  private ahead<T>(customer: OpenCustomer, look: () => T): T {
    const { clock, aggregates } = customer;
    const own = this.copies.map(({ aggregate: { index } }) => aggregates[index]!);
    customer.clock = this.instant;
    for (const { aggregate, copy } of this.copies) aggregates[aggregate.index] = copy;
    try {
      return look();
    } finally {
      customer.clock = clock;
      this.copies.forEach(({ aggregate }, i) => (aggregates[aggregate.index] = own[i]!));
    }
  }
}

/** The earliest instant after the clock at which a reading of such a number changes by time alone. */
export function nextChangeOf(number: MovingNumber, reading: Reading): NextChange {
  return (customer) => {
    const present = reading.of(number.value(customer));
    const anchors = number.anchors.map((anchor) => anchor(customer));
    let search = customer.lookAheads.get(number);
    if (!search?.isSound(customer, present, anchors)) {
      search = new Walk(number, reading, customer, present, anchors);
      customer.lookAheads.set(number, search);
    }
    return search.find(customer);
  };
}
