import type { ConditionContext, SearchedReading } from "../compile-context.js";
import type { Aggregate, LookAhead, NextChange, OpenCustomer, WorkingAggregate } from "../open-customer.js";
import type { Boundary } from "../state/boundary.js";
import type { HistoryEvent, LookAheadMemory, OutlookMemory } from "../state/types.js";

/** Which way a number moves, if at all; null where that cannot be told. */
export type Direction = -1 | 0 | 1 | null;

/** How an event moves a number at instants that were looked at already: one way, or closer to a value, which it becomes where it was absent. */
export type Effect = Direction | { towards: number };

type Present = LookAheadMemory["present"];
type Anchor = LookAheadMemory["anchors"][number];

/** A number that occurrences change by leaving their windows. */
export interface MovingNumber {
  value: (customer: OpenCustomer) => number | undefined;
  /** The earliest instant after the clock at which one of the aggregates may change by time alone, or Infinity. */
  nextInstant: NextChange;
  /** What the number hangs on besides time and the occurrences of windows; as long as these are the same, so is that. */
  anchors: readonly ((customer: OpenCustomer) => Anchor)[];
  /** Those that it reads and that time alone changes. */
  aggregates: readonly Aggregate[];
  /**
   * How an event moves it at the instants up to `until`.
   *
   * @param isPresent whether it is there at all of them
   */
  effect: (customer: OpenCustomer, event: HistoryEvent, until: number, isPresent: boolean) => Effect;
  /** How it moves by time alone, as long as nothing comes: never the other way. */
  drift: (customer: OpenCustomer) => Direction;
}

/** What a number hangs on that counts from a boundary. */
export function boundaryAnchor(boundary: (customer: OpenCustomer) => Boundary): (customer: OpenCustomer) => Anchor {
  return (customer) => {
    const { at, occurredAt, seq } = boundary(customer);
    return `${at} ${occurredAt} ${seq}`;
  };
}

/** The customer at an instant ahead, if nothing comes. */
interface Outlook {
  instant: number;
  copies: { aggregate: Aggregate; copy: WorkingAggregate }[];
}

/** How many of the oldest occurrences of a window are remembered at an instant ahead. */
export const REMEMBERED_AHEAD = 16;
/**
 * Of how many windows a model's searches are remembered, so that a state grows by little: those of the first numbers of the model. Counts
 * that are summed up have theirs remembered besides: they take less than the occurrences that they stand for.
 */
const WINDOWS_AHEAD = 16;

/**
 * The search for the instant at which a reading of such a number becomes another one: from instant to instant at which it may, on copies of
 * what the customer remembers. It is kept while events come that cannot have brought the change forward, and remembered from call to call
 * where it went further than the occurrences at hand, so that a history costs each instant once.
 */
class Walk implements LookAhead {
  /** The first outlook without a number: an event that may give it one lets the search go on from there, and not begin anew. */
  private absence: Outlook | null = null;
  /** Whether an event was let pass that may have made the number read otherwise now, and nobody has looked yet. */
  private isUnseen = false;
  /** What came since the last look: many a search ends before that matters to its copies. */
  private unrecorded: HistoryEvent[] = [];
  /** The instant of the change, as long as nothing comes; null where the search has to go on. */
  private at: number | null = null;

  constructor(
    private readonly number: MovingNumber,
    private readonly reading: SearchedReading,
    private readonly present: Present,
    private readonly anchors: readonly Anchor[],
    private outlook: Outlook,
  ) {}

  static from(number: MovingNumber, reading: SearchedReading, memory: LookAheadMemory): Walk {
    const open = ({ instant, aggregates }: OutlookMemory): Outlook => ({
      instant,
      copies: aggregates.map((remembered, i) => {
        const aggregate = number.aggregates[i]!;
        return { aggregate, copy: aggregate.open(remembered) };
      }),
    });
    const { present, anchors, outlook, absence } = memory;
    const walk = new Walk(number, reading, present, anchors, open(outlook));
    walk.absence = absence && open(absence);
    return walk;
  }

  isSound(customer: OpenCustomer, present: Present): boolean {
    this.isUnseen = false; // the caller has looked
    return this.outlook.instant > customer.clock && present === this.present && this.isAnchored(customer);
  }

  find(customer: OpenCustomer): number {
    this.recordAll(customer);
    this.at ??= ahead(customer, this.outlook, () => this.walk(customer));
    return this.at;
  }

  record(customer: OpenCustomer, event: HistoryEvent): boolean {
    if (!this.isAnchored(customer)) return false;
    if (!this.stays(customer, event)) {
      if (this.absence === null) return false;
      this.outlook = this.absence;
      this.absence = null;
      if (!this.stays(customer, event)) return false;
    }
    this.unrecorded.push(event);
    this.at = null;
    return true;
  }

  save(customer: OpenCustomer): Omit<LookAheadMemory, "number"> | null {
    const { number, present, anchors, outlook } = this;
    const { clock } = customer;
    if (outlook.instant <= clock || this.isUnseen || !this.isAnchored(customer)) return null;
    const isFar = number.aggregates.some(
      ({ index }) => customer.aggregates[index]!.remembersUntil!() <= outlook.instant,
    );
    if (!isFar) return null;
    this.recordAll(customer);
    const save = (one: Outlook): OutlookMemory => ({
      instant: one.instant,
      aggregates: ahead(customer, one, () =>
        // A search does not go on from where the clock is.
        one.instant <= clock ? [] : one.copies.map(({ copy }) => copy.save(customer, REMEMBERED_AHEAD)),
      ),
    });
    return { present, anchors, outlook: save(outlook), absence: this.absence && save(this.absence) };
  }

  private recordAll(customer: OpenCustomer): void {
    const { unrecorded, outlook, absence } = this;
    if (unrecorded.length === 0) return;
    for (const one of [outlook, absence]) if (one !== null) recordIn(customer, one, unrecorded);
    this.unrecorded = [];
  }

  private isAnchored(customer: OpenCustomer): boolean {
    return this.number.anchors.every((anchor, i) => anchor(customer) === this.anchors[i]);
  }

  /** Whether an event leaves the reading as it was at all instants before that of the search. */
  private stays(customer: OpenCustomer, event: HistoryEvent): boolean {
    const { number, reading, present, outlook } = this;
    const effect = number.effect(customer, event, outlook.instant, this.absence === null);
    if (effect === 0) return true;
    if (effect === null || this.isUnseen) return false;
    const { isMonotone } = reading;
    if (typeof effect === "object") return isMonotone && readAs(reading, effect.towards) === present;
    if (reading.steadyAs?.(present) === (effect > 0 ? "not falling" : "not rising")) return true;
    // Between what it was and what it is now.
    this.isUnseen = isMonotone && number.drift(customer) === -effect;
    return this.isUnseen;
  }

  private walk(customer: OpenCustomer): number {
    const { number, reading, present, outlook } = this;
    for (;;) {
      const value = number.value(customer);
      if (readAs(reading, value) !== present) return outlook.instant;
      const next = number.nextInstant(customer);
      if (next === Infinity) return Infinity;
      if (value === undefined) this.absence ??= copied(outlook);
      outlook.instant = customer.clock = next;
    }
  }
}

function readAs(reading: SearchedReading, value: number | undefined): Present {
  return reading.of(value) ?? null;
}

function copied({ instant, copies }: Outlook): Outlook {
  return { instant, copies: copies.map(({ aggregate, copy }) => ({ aggregate, copy: copy.clone!() })) };
}

function recordIn(customer: OpenCustomer, outlook: Outlook, events: readonly HistoryEvent[]): void {
  ahead(customer, outlook, () => {
    for (const event of events) {
      for (const { aggregate, copy } of outlook.copies) {
        if (aggregate.events.includes(event.event)) copy.record(customer, event);
      }
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

/**
 * The earliest instant after the clock at which a reading of such a number changes by time alone.
 *
 * @param isCount whether it is a count that is summed up
 */
export function nextChangeOf(
  number: MovingNumber,
  reading: SearchedReading,
  { registry, source }: ConditionContext,
  isCount: boolean,
): NextChange {
  const position = registry.searched.length;
  const windows = registry.windowsAhead + (isCount ? 0 : number.aggregates.length);
  const isRemembered = windows <= WINDOWS_AHEAD;
  if (isRemembered) registry.windowsAhead = windows;
  registry.searched.push({
    source,
    aggregates: number.aggregates,
    isRemembered,
    anchors: number.anchors.length,
    open: (memory) => Walk.from(number, reading, memory),
  });
  return (customer) => {
    const present = readAs(reading, number.value(customer));
    const drift = number.drift(customer);
    const steady = reading.steadyAs?.(present);
    if (drift === 0 || (drift === -1 && steady === "not rising") || (drift === 1 && steady === "not falling")) {
      return Infinity;
    }
    let search = customer.lookAheads[position];
    if (!search?.isSound(customer, present)) {
      const anchors = number.anchors.map((anchor) => anchor(customer));
      const copies = number.aggregates.map((aggregate) => {
        return { aggregate, copy: customer.aggregates[aggregate.index]!.clone!() };
      });
      const outlook = { instant: customer.clock, copies };
      search = new Walk(number, reading, present, anchors, outlook);
      customer.lookAheads[position] = search;
    }
    return search.find(customer);
  };
}
