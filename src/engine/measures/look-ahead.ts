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

/** The customer at an instant ahead, if nothing comes. */
interface Outlook {
  instant: number;
  copies: { aggregate: Aggregate; copy: WorkingAggregate }[];
}

/**
 * The search for the instant at which a reading of such a number becomes another one: from instant to instant at which it may, on copies of
 * what the customer remembers. It is kept while events come that cannot have brought the change forward, so that a history costs each
 * instant once.
 */
class Walk implements LookAhead {
  private outlook: Outlook;
  /** The first one without a number: an event that may give it one lets the search go on from there, and not begin anew. */
  private absence: Outlook | null = null;
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
    const copies = [...number.aggregates].flatMap((aggregate) => {
      const copy = customer.aggregates[aggregate.index]!.clone?.();
      return copy === undefined ? [] : [{ aggregate, copy }];
    });
    this.outlook = { instant: customer.clock, copies };
  }

  isSound({ clock }: OpenCustomer, present: unknown, anchors: readonly unknown[]): boolean {
    return (
      this.outlook.instant > clock && present === this.present && anchors.every((one, i) => one === this.anchors[i])
    );
  }

  find(customer: OpenCustomer): number {
    if (this.isOpen) {
      this.at = ahead(customer, this.outlook, () => this.walk(customer));
      this.isOpen = false;
    }
    return this.at;
  }

  record(customer: OpenCustomer, event: HistoryEvent): boolean {
    if (!this.stays(customer, event)) {
      if (this.absence === null) return false;
      this.outlook = this.absence;
      this.absence = null;
      if (!this.stays(customer, event)) return false;
    }
    for (const outlook of [this.outlook, this.absence]) if (outlook !== null) recordIn(customer, outlook, event);
    this.isOpen = true;
    return true;
  }

  /** Whether an event leaves the reading as it was at all instants before that of the search. */
  private stays(customer: OpenCustomer, event: HistoryEvent): boolean {
    const { number, reading, present, outlook } = this;
    const effect = number.effect(customer, event, outlook.instant, this.absence === null);
    if (effect === null) return false;
    return effect === 0 || reading.steadyAs?.(present) === (effect > 0 ? "not falling" : "not rising");
  }

  private walk(customer: OpenCustomer): number {
    const { number, reading, present, outlook } = this;
    for (;;) {
      const value = number.value(customer);
      if (reading.of(value) !== present) return outlook.instant;
      const next = number.nextInstant(customer);
      if (next === Infinity) return Infinity;
      if (value === undefined) this.absence ??= copied(outlook);
      outlook.instant = customer.clock = next;
    }
  }
}

function copied({ instant, copies }: Outlook): Outlook {
  return { instant, copies: copies.map(({ aggregate, copy }) => ({ aggregate, copy: copy.clone!() })) };
}

function recordIn(customer: OpenCustomer, outlook: Outlook, event: HistoryEvent): void {
  ahead(customer, outlook, () => {
    for (const { aggregate, copy } of outlook.copies) {
      if (aggregate.events.includes(event.event)) copy.record(customer, event);
    }
  });
}

/** Looks at the customer as it is then. */
function ahead<T>(customer: OpenCustomer, { instant, copies }: Outlook, look: () => T): T {
  const { clock, aggregates } = customer;
  const own = copies.map(({ aggregate: { index } }) => aggregates[index]!);
  customer.clock = instant;
  for (const { aggregate, copy } of copies) aggregates[aggregate.index] = copy;
  try {
    return look();
  } finally {
    customer.clock = clock;
    copies.forEach(({ aggregate }, i) => (aggregates[aggregate.index] = own[i]!));
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
