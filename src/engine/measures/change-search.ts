import type { ConditionContext, SearchedReading } from "../compile-context.js";
import type { Aggregate, ChangeSearch, NextChange, OpenCustomer, WorkingAggregate } from "../open-customer.js";
import type { Boundary } from "../state/boundary.js";
import type { HistoryEvent, OutlookMemory, SearchMemory } from "../state/types.js";
import { type Addend, isUnmoved, Margins, type Quotient } from "./margins.js";

/** The direction in which a number moves; null if unknown. */
export type MoveDirection = -1 | 0 | 1 | null;

type Present = SearchMemory["present"];
type Anchor = SearchMemory["anchors"][number];

/** A number that changes when occurrences leave their windows. */
export interface WindowedNumber {
  value: (customer: OpenCustomer) => number | undefined;
  /** The quotient that it equals, whose parts events change by adding to them. */
  quotient: Quotient;
  /** The earliest instant after the clock at which one of the aggregates may change by time alone, or Infinity. */
  nextInstant: NextChange;
  /** Everything that the number depends on besides time and the occurrences in windows; a search is valid while all anchors are unchanged. */
  anchors: readonly ((customer: OpenCustomer) => Anchor)[];
  /** The aggregates that it reads and that time alone changes. */
  aggregates: readonly Aggregate[];
  /** Whether it is absent, and stays absent if no event comes. */
  isGone: (customer: OpenCustomer) => boolean;
  /** The only direction in which it moves by time alone, if no event comes; if absent it then stays absent. Null: no such promise. */
  drift: (customer: OpenCustomer) => MoveDirection;
}

/** The anchor of a number that counts from a boundary. */
export function boundaryAnchor(boundary: (customer: OpenCustomer) => Boundary): (customer: OpenCustomer) => Anchor {
  return (customer) => {
    const { at, occurredAt, seq } = boundary(customer);
    return `${at} ${occurredAt} ${seq}`;
  };
}

/** The customer at a future instant, if no event comes. */
interface Outlook {
  instant: number;
  copies: { aggregate: Aggregate; copy: WorkingAggregate }[];
}

/**
 * The first outlook at which the number is absent, or outside its region although it still reads the same (`isOut`; then the margins end
 * there). After an event that may change that, the search continues from the checkpoint instead of starting over.
 */
interface Checkpoint {
  outlook: Outlook;
  isOut: boolean;
}

/** How many of the oldest occurrences of a window are stored for a future instant. */
export const REMEMBERED_OCCURRENCES_AHEAD = 16;
/**
 * For how many windows a model's searches are stored, to limit the growth of states: those of the first numbers of the model. Searches of
 * summed-up counts are always stored: they take a fraction of the space of the occurrences that would be stored otherwise.
 */
const WINDOWS_AHEAD = 16;

/**
 * The search for the instant at which the reading of a moving number changes. It visits the instants at which it may change, on copies of
 * the customer's aggregates, and notes the number's margins there. An event shifts the margins; then either one of the visited instants is
 * the change, or the search continues where it stopped. A search that went beyond the loaded occurrences is stored from call to call, so
 * that a history visits each instant only once.
 */
class MarginSearch implements ChangeSearch {
  private checkpoint: Checkpoint | null = null;
  /** Events not yet recorded in the copies: many searches end before that is necessary. */
  private unrecorded: HistoryEvent[] = [];
  /** The instant of the change, if no event comes; null if the search has to continue. */
  private found: number | null = null;
  /** Undefined until the number has a value; null if unknown: then every event that concerns the number ends the search. */
  private margins: Margins | null | undefined;

  constructor(
    private readonly number: WindowedNumber,
    private readonly reading: SearchedReading,
    private readonly present: Present,
    private readonly anchors: readonly Anchor[],
    private outlook: Outlook,
  ) {}

  static begin(
    customer: OpenCustomer,
    number: WindowedNumber,
    reading: SearchedReading,
    present: Present,
  ): MarginSearch {
    const anchors = number.anchors.map((anchor) => anchor(customer));
    const copies = number.aggregates.map((aggregate) => {
      return { aggregate, copy: customer.aggregates[aggregate.index]!.clone!() };
    });
    return new MarginSearch(number, reading, present, anchors, { instant: customer.clock, copies });
  }

  static from(number: WindowedNumber, reading: SearchedReading, memory: SearchMemory): MarginSearch {
    const open = ({ instant, aggregates }: OutlookMemory): Outlook => ({
      instant,
      copies: aggregates.map((memoryOfOne, i) => {
        const aggregate = number.aggregates[i]!;
        return { aggregate, copy: aggregate.open(memoryOfOne) };
      }),
    });
    const { present, anchors, outlook, checkpoint, margins } = memory;
    const search = new MarginSearch(number, reading, present, anchors, open(outlook));
    search.checkpoint = checkpoint && { outlook: open(checkpoint), isOut: checkpoint.isOut };
    search.margins = margins && Margins.from(number.quotient, margins);
    return search;
  }

  isSound(customer: OpenCustomer, present: Present): boolean {
    const { clock } = customer;
    if (this.outlook.instant <= clock || present !== this.present || !this.isAnchored(customer)) return false;
    return this.margins?.holds(clock) ?? true;
  }

  find(customer: OpenCustomer): number {
    this.recordAll(customer);
    this.found ??= this.crossing() ?? lookAt(customer, this.outlook, () => this.walk(customer));
    return this.found;
  }

  record(customer: OpenCustomer, event: HistoryEvent): boolean {
    if (!this.isAnchored(customer) || !this.move(customer, event)) return false;
    this.unrecorded.push(event);
    this.found = null;
    return true;
  }

  save(customer: OpenCustomer): Omit<SearchMemory, "number"> | null {
    const { number, present, anchors, outlook, margins } = this;
    const { clock } = customer;
    if (!this.isSound(customer, present)) return null;
    const needsHistory = number.aggregates.some(
      ({ index }) => customer.aggregates[index]!.remembersUntil!() <= outlook.instant,
    );
    if (!needsHistory) return null;
    this.recordAll(customer);
    const save = (one: Outlook): OutlookMemory => ({
      instant: one.instant,
      aggregates: lookAt(customer, one, () =>
        // An outlook at or before the clock is never continued from.
        one.instant <= clock ? [] : one.copies.map(({ copy }) => copy.save(customer, REMEMBERED_OCCURRENCES_AHEAD)),
      ),
    });
    const checkpoint = this.checkpoint && { ...save(this.checkpoint.outlook), isOut: this.checkpoint.isOut };
    const savedMargins = margins === undefined ? {} : { margins: margins && margins.toMemory() };
    return { present, anchors, outlook: save(outlook), checkpoint, ...savedMargins };
  }

  private recordAll(customer: OpenCustomer): void {
    const { unrecorded, outlook, checkpoint } = this;
    if (unrecorded.length === 0) return;
    recordAt(customer, outlook, unrecorded);
    if (checkpoint !== null) recordAt(customer, checkpoint.outlook, unrecorded);
    this.unrecorded = [];
  }

  private isAnchored(customer: OpenCustomer): boolean {
    return this.number.anchors.every((anchor, i) => anchor(customer) === this.anchors[i]);
  }

  /** Shifts the margins by an event. Returns whether they still determine how the number reads at the visited instants. */
  private move(customer: OpenCustomer, event: HistoryEvent): boolean {
    const { dividend, divisor } = this.number.quotient;
    const isUnmovedBy = (part: Addend | null): boolean =>
      part === null || isUnmoved(part.shift(customer, event, this.outlook.instant, 0));
    const { checkpoint } = this;
    if (checkpoint !== null && !(isUnmovedBy(divisor) && (!checkpoint.isOut || isUnmovedBy(dividend)))) {
      this.outlook = checkpoint.outlook;
      this.checkpoint = null;
      this.margins?.forgetFrom(this.outlook.instant);
    }
    const { margins } = this;
    if (margins === undefined) return dividend.shift(customer, event, this.outlook.instant, 0) !== null;
    if (margins === null) return isUnmovedBy(dividend) && isUnmovedBy(divisor);
    if (!margins.move(customer, event, this.outlook.instant)) return false;
    // Outside its region a number may still read as inside it.
    return this.reading.isMonotone || margins.crossing() === Infinity;
  }

  /** The first visited instant at which the number is outside its region; null if it is inside at all of them. */
  private crossing(): number | null {
    const at = this.margins?.crossing() ?? Infinity;
    return at === Infinity ? null : at;
  }

  /** Notes the margins at the current outlook, where the number has a value. */
  private look(customer: OpenCustomer, value: number): void {
    if (this.checkpoint?.isOut || this.margins === null) return;
    if (this.margins === undefined) {
      const region = this.reading.regionOf(value);
      this.margins = region && Margins.begin(this.number.quotient, region, customer);
    }
    if (this.margins?.look(customer) !== false) return;
    if (this.checkpoint === null) this.setCheckpoint(true);
    else this.margins = null;
  }

  private setCheckpoint(isOut: boolean): void {
    this.checkpoint = { outlook: copyOf(this.outlook), isOut };
  }

  private walk(customer: OpenCustomer): number {
    const { number, reading, present, outlook } = this;
    for (;;) {
      const value = number.value(customer);
      if (readAs(reading, value) !== present) return outlook.instant;
      if (value !== undefined) this.look(customer, value);
      else if (number.isGone(customer)) return Infinity;
      const next = number.nextInstant(customer);
      if (next === Infinity) return Infinity;
      if (value === undefined && this.checkpoint === null) this.setCheckpoint(false);
      outlook.instant = customer.clock = next;
    }
  }
}

function readAs(reading: SearchedReading, value: number | undefined): Present {
  return reading.of(value) ?? null;
}

function copyOf({ instant, copies }: Outlook): Outlook {
  return { instant, copies: copies.map(({ aggregate, copy }) => ({ aggregate, copy: copy.clone!() })) };
}

function recordAt(customer: OpenCustomer, outlook: Outlook, events: readonly HistoryEvent[]): void {
  lookAt(customer, outlook, () => {
    for (const event of events) {
      for (const { aggregate, copy } of outlook.copies) {
        if (aggregate.events.includes(event.event)) copy.record(customer, event);
      }
    }
  });
}

/** Calls `look` with the customer as it will be at an outlook. */
function lookAt<T>(customer: OpenCustomer, { instant, copies }: Outlook, look: () => T): T {
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
 * The earliest instant after the clock at which the reading of a moving number changes by time alone.
 *
 * @param isCount whether it is a summed-up count
 */
export function nextChangeOf(
  number: WindowedNumber,
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
    open: (memory) => MarginSearch.from(number, reading, memory),
  });
  return (customer) => {
    const value = number.value(customer);
    const present = readAs(reading, value);
    const drift = number.drift(customer);
    if (drift !== null) {
      const region = value === undefined ? null : reading.regionOf(value);
      const staysInRegion = drift === 0 || value === undefined || region?.[drift < 0 ? "low" : "high"] === null;
      if (staysInRegion) return Infinity;
    }
    let search = customer.searches[position];
    if (!search?.isSound(customer, present)) {
      search = MarginSearch.begin(customer, number, reading, present);
      customer.searches[position] = search;
    }
    return search.find(customer);
  };
}
