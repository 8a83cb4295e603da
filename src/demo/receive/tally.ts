/** What a receiver has seen: every emission once, however often it was delivered. */

export interface ReceivedEvent {
  id: string;
  type: string;
  customerId: string;
  /** What the emission is about, where the metadata says so: the lifecycle state or the segment. */
  subject: string | null;
}

const PAUSE_MS = 1_000;

export class ReceiptTally {
  readonly #seen = new Set<string>();
  readonly #byType = new Map<string, number>();
  readonly #byCustomer = new Map<string, Map<string, number>>();
  /** Deliveries of an emission that was delivered before: at least once is what is promised. */
  repeated = 0;
  /** Deliveries that did not verify, by reason. */
  readonly invalid = new Map<string, number>();
  /** The time in which deliveries came, in milliseconds: a pause of more than a second is a time in which there was nothing to deliver. */
  busyMs = 0;
  #lastAt: number | null = null;

  /** @param at when the delivery came, on any steady clock in milliseconds */
  add(event: ReceivedEvent, at: number): void {
    if (this.#seen.has(event.id)) {
      this.repeated++;
      return;
    }
    this.#seen.add(event.id);
    const pause = at - (this.#lastAt ?? at);
    if (pause <= PAUSE_MS) this.busyMs += pause;
    this.#lastAt = at;
    this.#byType.set(event.type, (this.#byType.get(event.type) ?? 0) + 1);
    const entries = this.#byCustomer.get(event.customerId) ?? new Map<string, number>();
    const entry = event.subject === null ? event.type : `${event.type} ${event.subject}`;
    entries.set(entry, (entries.get(entry) ?? 0) + 1);
    this.#byCustomer.set(event.customerId, entries);
  }

  refuse(reason: string): void {
    this.invalid.set(reason, (this.invalid.get(reason) ?? 0) + 1);
  }

  get ids(): ReadonlySet<string> {
    return this.#seen;
  }

  get events(): number {
    return this.#seen.size;
  }

  counts(): { type: string; events: number }[] {
    return [...this.#byType]
      .map(([type, events]) => ({ type, events }))
      .sort((one, other) => (one.type < other.type ? -1 : 1));
  }

  /** For each customer, how often each kind of emission came. In no order. */
  customers(): ReadonlyMap<string, ReadonlyMap<string, number>> {
    return this.#byCustomer;
  }
}
