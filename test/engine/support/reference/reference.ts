import type { IdentifyOperation, Json, Operation, TrackOperation } from "../../../../src/engine/index.js";
import type { Order } from "../../../../src/engine/state/types.js";
import type { Snapshot } from "../../../../src/model/snapshot/types.js";
import { Customer } from "./customer.js";

const FIVE_MINUTES = 5 * 60_000;

/** A plain implementation of the evaluation rules: keeps every operation, and evaluates one after another. */
export class Reference {
  readonly customer: Customer;
  traitsChangedAt: number | null = null;
  traitsChangedSeq = 0;
  ahead: TrackOperation[] = [];
  identifiesDue: Order[] = [];
  private lastTrack: TrackOperation | null = null;

  constructor(customerId: string, snapshot: Snapshot) {
    this.customer = new Customer(customerId, snapshot);
  }

  take(operation: Operation): void {
    if (operation.kind === "identify") return this.takeIdentify(operation);
    this.lastTrack = operation;
    if (operation.occurredAt > operation.acceptedAt + FIVE_MINUTES) {
      this.ahead.push(operation);
      this.ahead.sort((a, b) => a.occurredAt - b.occurredAt || a.seq - b.seq);
      return;
    }
    this.catchUp(Math.max(this.customer.clock ?? -Infinity, operation.occurredAt));
    this.customer.apply(operation);
  }

  /** Evaluates everything due up to an instant: at one instant timers, then a pending identify, then operations. */
  catchUp(through: number): void {
    for (;;) {
      const next = this.nextDueAt() ?? Infinity;
      if (next > through) return;
      if (this.timerDueAt() === next) {
        this.customer.evaluate(next, { kind: "timer" });
      } else if (this.identifiesDue[0]?.occurredAt === next) {
        this.customer.evaluate(next, { kind: "identify" }, null, this.identifiesDue.shift());
      } else {
        this.customer.apply(this.ahead.shift()!);
      }
    }
  }

  changeVersion(snapshot: Snapshot): void {
    this.customer.changeVersion(snapshot);
  }

  nextDueAt(): number | null {
    const ahead = this.ahead[0] && Math.max(this.ahead[0].occurredAt, this.customer.clock ?? -Infinity);
    const next = Math.min(this.timerDueAt(), this.identifiesDue[0]?.occurredAt ?? Infinity, ahead ?? Infinity);
    return next === Infinity ? null : next;
  }

  /** A customer whose first operation is in the future is due at its acceptance. */
  private timerDueAt(): number {
    if (this.customer.clock !== null || this.identifiesDue.length > 0) return this.customer.timerDueAt();
    return Math.min(Infinity, ...this.ahead.map(({ acceptedAt }) => acceptedAt));
  }

  private takeIdentify({ traits, acceptedAt, seq }: IdentifyOperation): void {
    const last = this.lastTrack;
    if (last !== null && last.acceptedAt <= last.occurredAt + FIVE_MINUTES) {
      this.catchUp(acceptedAt - 1);
      if (this.timerDueAt() === acceptedAt) this.customer.evaluate(acceptedAt, { kind: "timer" });
    } else if (this.customer.clock !== null && this.customer.clock < acceptedAt) {
      this.catchUp(this.customer.clock);
    }
    if (!this.merge(traits)) return;
    this.traitsChangedAt = acceptedAt;
    this.traitsChangedSeq = seq;
    const due = Math.max(acceptedAt, this.customer.clock ?? -Infinity);
    const rest = this.identifiesDue.filter(({ occurredAt }) => occurredAt !== due);
    this.identifiesDue = [...rest, { occurredAt: due, seq }].sort((a, b) => a.occurredAt - b.occurredAt);
  }

  /** Merges by key, where null removes one; returns whether any changed. Equal values have equal text. */
  private merge(traits: Record<string, Json>): boolean {
    const { customer } = this;
    const before = customer.traits;
    const merged = Object.entries({ ...before, ...traits }).filter(([, value]) => value !== null);
    customer.setTraits(Object.fromEntries(merged));
    const names = new Set([...Object.keys(before), ...Object.keys(customer.traits)]);
    return [...names].some((name) => JSON.stringify(before[name]) !== JSON.stringify(customer.traits[name]));
  }
}
