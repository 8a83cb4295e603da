import type { OpenCustomer, WorkingAggregate } from "../open-customer.js";
import { counts } from "../state/boundary.js";
import { isLater } from "../state/history.js";
import type { FirstMemory, HistoryEvent, Json, LatestMemory } from "../state/types.js";
import { type CompiledScope, type OccurrenceSelection, select } from "./scope.js";

/**
 * The value of a property at the latest occurrence that has one. If that occurrence is out of scope, so are all others; therefore
 * the conditions of all scopes share one memory.
 */
export class LatestAggregate implements WorkingAggregate {
  constructor(
    private readonly selection: OccurrenceSelection<Json>,
    private memory: LatestMemory = { kind: "latest", latest: null },
  ) {}

  record(_customer: OpenCustomer, event: HistoryEvent): boolean {
    const { latest } = this.memory;
    const { occurredAt, seq } = event;
    if (latest !== null && !isLater(occurredAt, seq, latest)) return false;
    const value = select(this.selection, event);
    if (value === undefined) return false;
    this.memory = { kind: "latest", latest: { occurredAt, seq, value } };
    return true;
  }

  /** The value at the customer's clock; undefined if there is none. */
  read(customer: OpenCustomer, { within, boundary }: CompiledScope): Json | undefined {
    const { latest } = this.memory;
    if (latest === null || latest.occurredAt <= customer.clock - within) return undefined;
    if (boundary !== undefined && !counts(boundary(customer), latest.occurredAt, latest.seq)) return undefined;
    return latest.value;
  }

  /** When the value leaves the window, after which there is none, or Infinity. */
  leavesAt(customer: OpenCustomer, scope: CompiledScope): number {
    return this.read(customer, scope) === undefined ? Infinity : this.memory.latest!.occurredAt + scope.within;
  }

  save(): LatestMemory {
    return this.memory;
  }
}

/** The first occurrence ever. */
export class FirstAggregate implements WorkingAggregate {
  constructor(
    private readonly selection: OccurrenceSelection<true>,
    private memory: FirstMemory = { kind: "first", occurredAt: null },
  ) {}

  record(_customer: OpenCustomer, event: HistoryEvent): boolean {
    if (event.occurredAt >= (this.memory.occurredAt ?? Infinity)) return false;
    if (select(this.selection, event) === undefined) return false;
    this.memory = { kind: "first", occurredAt: event.occurredAt };
    return true;
  }

  /** The instant; -Infinity if there is none. */
  get occurredAt(): number {
    return this.memory.occurredAt ?? -Infinity;
  }

  save(): FirstMemory {
    return this.memory;
  }
}
