import type { ConditionContext, SearchedReading } from "../compile-context.js";
import type { Aggregate, ChangeSearch, NextChange, OpenCustomer, WorkingAggregate } from "../open-customer.js";
import type { Boundary } from "../state/boundary.js";
import type { HistoryEvent, OutlookMemory, SearchMemory } from "../state/types.js";
import { type Addend, isUnmoved, Margins, type Quotient } from "./margins.js";

/** Which way a number moves, if at all; null where that cannot be told. */
export type MoveDirection = -1 | 0 | 1 | null;

type Present = SearchMemory["present"];
type Anchor = SearchMemory["anchors"][number];

/** A number that occurrences change by leaving their windows. */
export interface MovingNumber {
  value: (customer: OpenCustomer) => number | undefined;
  /** What it is computed of, as far as events change it by adding to something. */
  quotient: Quotient;
  /** The earliest instant after the clock at which one of the aggregates may change by time alone, or Infinity. */
  nextInstant: NextChange;
  /** What the number hangs on besides time and the occurrences of windows; as long as these are the same, so is that. */
  anchors: readonly ((customer: OpenCustomer) => Anchor)[];
  /** Those that it reads and that time alone changes. */
  aggregates: readonly Aggregate[];
  /** Whether it is absent, and stays so if nothing comes. */
  isGone: (customer: OpenCustomer) => boolean;
  /** How it moves by time alone, as long as nothing comes: never the other way, and where it is absent it stays so, unless that is null. */
  drift: (customer: OpenCustomer) => MoveDirection;
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

/**
 * The first outlook at which the number is absent or, reading as before, out of its region (`isOut`; then the margins are those up to it).
 * An event that may change that lets the search go on from there, and not begin anew.
 */
interface Checkpoint {
  outlook: Outlook;
  isOut: boolean;
}

/** How many of the oldest occurrences of a window are remembered at an instant ahead. */
export const REMEMBERED_AHEAD = 16;
/**
 * Of how many windows a model's searches are remembered, so that a state grows by little: those of the first numbers of the model. Counts
 * that are summed up have theirs remembered besides: together they are a fraction of the occurrences that would be remembered otherwise.
 */
const WINDOWS_AHEAD = 16;

/**
 * The search for the instant at which a reading of such a number becomes another one: from instant to instant at which it may, on copies of
 * what the customer remembers, with the margins that the number has at these. An event moves the margins, and the search goes on from where
 * it stopped, or the change is found among the instants before. It is remembered from call to call where it went further than the
 * occurrences at hand, so that a history costs each instant once.
 */
class MarginSearch implements ChangeSearch {
  private checkpoint: Checkpoint | null = null;
  /** What came since the last look: many a search ends before that matters to its copies. */
  private unrecorded: HistoryEvent[] = [];
  /** The instant of the change, if nothing comes; null where the search is to go on. */
  private found: number | null = null;
  /** Undefined before the number was there; null where they are not known: then any event that concerns the number ends the search. */
  private margins: Margins | null | undefined;

  constructor(
    private readonly number: MovingNumber,
    private readonly reading: SearchedReading,
    private readonly present: Present,
    private readonly anchors: readonly Anchor[],
    private outlook: Outlook,
  ) {}

  static begin(customer: OpenCustomer, number: MovingNumber, reading: SearchedReading, present: Present): MarginSearch {
    const anchors = number.anchors.map((anchor) => anchor(customer));
    const copies = number.aggregates.map((aggregate) => {
      return { aggregate, copy: customer.aggregates[aggregate.index]!.clone!() };
    });
    return new MarginSearch(number, reading, present, anchors, { instant: customer.clock, copies });
  }

  static from(number: MovingNumber, reading: SearchedReading, memory: SearchMemory): MarginSearch {
    const open = ({ instant, aggregates }: OutlookMemory): Outlook => ({
      instant,
      copies: aggregates.map((remembered, i) => {
        const aggregate = number.aggregates[i]!;
        return { aggregate, copy: aggregate.open(remembered) };
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
    this.found ??= this.crossing() ?? ahead(customer, this.outlook, () => this.walk(customer));
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
    const checkpoint = this.checkpoint && { ...save(this.checkpoint.outlook), isOut: this.checkpoint.isOut };
    const ofMargins = margins === undefined ? {} : { margins: margins && margins.toMemory() };
    return { present, anchors, outlook: save(outlook), checkpoint, ...ofMargins };
  }

  private recordAll(customer: OpenCustomer): void {
    const { unrecorded, outlook, checkpoint } = this;
    if (unrecorded.length === 0) return;
    recordIn(customer, outlook, unrecorded);
    if (checkpoint !== null) recordIn(customer, checkpoint.outlook, unrecorded);
    this.unrecorded = [];
  }

  private isAnchored(customer: OpenCustomer): boolean {
    return this.number.anchors.every((anchor, i) => anchor(customer) === this.anchors[i]);
  }

  /** Takes in what an event does to the margins, and tells whether these still say how the number reads at the instants looked at. */
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
    // Beyond its region a number may read as within it.
    return this.reading.isMonotone || margins.crossing() === Infinity;
  }

  /** The first of the instants looked at at which the number is out of its region; null where it is within at all of them. */
  private crossing(): number | null {
    const at = this.margins?.crossing() ?? Infinity;
    return at === Infinity ? null : at;
  }

  /** Takes note of the margins at an outlook at which the number is. */
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
    this.checkpoint = { outlook: copied(this.outlook), isOut };
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
    open: (memory) => MarginSearch.from(number, reading, memory),
  });
  return (customer) => {
    const value = number.value(customer);
    const present = readAs(reading, value);
    const drift = number.drift(customer);
    if (drift !== null) {
      const region = value === undefined ? null : reading.regionOf(value);
      const endsNowhere = drift === 0 || value === undefined || region?.[drift < 0 ? "low" : "high"] === null;
      if (endsNowhere) return Infinity;
    }
    let search = customer.searches[position];
    if (!search?.isSound(customer, present)) {
      search = MarginSearch.begin(customer, number, reading, present);
      customer.searches[position] = search;
    }
    return search.find(customer);
  };
}
