import type { Condition, PropertyCondition, Scalar, Snapshot } from "../../../src/snapshot/types.js";
import { parseDuration } from "../../../src/snapshot/duration.js";
import type { Cause, IdentifyOperation, Json, Operation, TrackOperation } from "../../../src/engine/index.js";

const FIVE_MINUTES = 5 * 60_000;

/**
 * A plain reading of the evaluation rules: keeps every operation, evaluates every condition afresh, looks at every item in
 * every pass, and finds the next due instant by trying each instant at which a condition could change. Knows fields
 * without declared types only.
 */
export class Reference {
  clock: number | null = null;
  lastEventAt: number | null = null;
  traits: Record<string, Json> = {};
  lifecycle: { state: string; enteredAt: number; cause: TrackOperation | null } | null = null;
  segments = new Map<string, number>();
  effects: string[] = [];

  private firstEvaluatedAt: number | null = null;
  private readonly applied: TrackOperation[] = [];
  private ahead: TrackOperation[] = [];
  private identifiesDueAt: number[] = [];
  private lastTrack: TrackOperation | null = null;
  /** The due instant of the former version, until the first evaluation under the present one. */
  private formerTimer: { at: number | null } | null = null;

  constructor(private snapshot: Snapshot) {}

  take(operation: Operation): void {
    if (operation.kind === "identify") return this.takeIdentify(operation);
    this.lastTrack = operation;
    if (operation.occurredAt > operation.acceptedAt + FIVE_MINUTES) {
      this.ahead.push(operation);
      this.ahead.sort((a, b) => a.occurredAt - b.occurredAt || a.seq - b.seq);
      return;
    }
    this.catchUp(Math.max(this.clock ?? -Infinity, operation.occurredAt));
    this.apply(operation);
  }

  catchUp(through: number): void {
    for (;;) {
      const timer = this.timer() ?? Infinity;
      const identify = this.identifiesDueAt[0] ?? Infinity;
      const operation = this.ahead[0]?.occurredAt ?? Infinity;
      const next = Math.min(timer, identify, operation);
      if (next > through || next === Infinity) return;
      if (timer === next) {
        this.evaluate(next, { kind: "timer" }, null);
      } else if (identify === next) {
        this.identifiesDueAt.shift();
        this.evaluate(next, { kind: "identify" }, null);
      } else {
        this.apply(this.ahead.shift()!);
      }
    }
  }

  changeVersion(snapshot: Snapshot): void {
    if (this.clock !== null) this.formerTimer ??= { at: this.timer() };
    this.snapshot = snapshot;
  }

  nextDueAt(): number | null {
    const instants = [this.timer(), this.identifiesDueAt[0], this.ahead[0]?.occurredAt];
    const next = Math.min(...instants.map((instant) => instant ?? Infinity));
    return next === Infinity ? null : next;
  }

  private takeIdentify({ traits, acceptedAt }: IdentifyOperation): void {
    const last = this.lastTrack;
    if (last !== null && last.acceptedAt <= last.occurredAt + FIVE_MINUTES) {
      this.catchUp(acceptedAt - 1);
      const timer = this.timer();
      if (timer === acceptedAt) this.evaluate(timer, { kind: "timer" }, null);
    }
    const before = JSON.stringify(this.traits);
    for (const [name, value] of Object.entries(traits)) {
      if (value === null) delete this.traits[name];
      else this.traits[name] = value;
    }
    this.traits = Object.fromEntries(Object.entries(this.traits).sort(([a], [b]) => (a < b ? -1 : 1)));
    if (JSON.stringify(this.traits) === before) return;
    const due = Math.max(acceptedAt, this.clock ?? -Infinity);
    this.identifiesDueAt = [...new Set([...this.identifiesDueAt, due])].sort((a, b) => a - b);
  }

  private apply(operation: TrackOperation): void {
    this.applied.push(operation);
    this.lastEventAt = Math.max(this.lastEventAt ?? -Infinity, operation.occurredAt);
    const instant = Math.max(this.clock ?? -Infinity, operation.occurredAt);
    this.evaluate(instant, { kind: "event", eventId: operation.eventId }, operation);
  }

  private timer(): number | null {
    if (this.formerTimer !== null) return this.formerTimer.at;
    if (this.clock === null) {
      if (this.ahead.length === 0 || this.identifiesDueAt.length > 0) return null;
      return Math.min(...this.ahead.map(({ acceptedAt }) => acceptedAt));
    }
    const leaves = this.consulted().flatMap(leavesOf);
    const candidates = leaves.flatMap((leaf) => this.candidates(leaf)).filter((instant) => instant > this.clock!);
    const changing = candidates.filter((instant) =>
      leaves.some((leaf) => this.holds(leaf, instant) !== this.holds(leaf, instant - 1)),
    );
    return changing.length === 0 ? null : Math.min(...changing);
  }

  /** The conditions that are consulted in the present state. */
  private consulted(): Condition[] {
    const state = this.stateDefinition();
    return [
      ...(state === undefined || state.terminal ? [] : state.transitions.map(({ when }) => when)),
      ...this.snapshot.segments.flatMap(({ when }) => (when === undefined ? [] : [when])),
    ];
  }

  private stateDefinition(): { terminal?: true; transitions: { to: string; when: Condition }[] } | undefined {
    return this.snapshot.lifecycle?.states.find(({ name }) => name === this.lifecycle?.state);
  }

  private candidates(leaf: Condition): number[] {
    switch (leaf.kind) {
      case "count":
        if (leaf.within === undefined) return [];
        return this.applied.map(({ occurredAt }) => occurredAt + parseDuration(leaf.within!));
      case "inactiveFor":
        return [(this.lastEventAt ?? this.firstEvaluatedAt!) + parseDuration(leaf.duration)];
      case "activeWithin":
        return this.lastEventAt === null ? [] : [this.lastEventAt + parseDuration(leaf.duration)];
      case "inState":
        return this.lifecycle === null ? [] : [this.lifecycle.enteredAt + parseDuration(leaf.atLeast)];
      case "traitDateWithin": {
        const date = instantOf(this.traits[leaf.trait]);
        return Number.isNaN(date) ? [] : [date - parseDuration(leaf.within), date];
      }
      default:
        return [];
    }
  }

  private evaluate(instant: number, cause: Cause, operation: TrackOperation | null): void {
    this.clock = instant;
    this.firstEvaluatedAt ??= instant;
    this.formerTimer = null;
    const by = cause.kind === "event" ? cause.eventId : cause.kind;
    const note = (text: string): void => void this.effects.push(`${text} at ${instant} by ${by}`);
    const held = new Set(this.lifecycle === null ? [] : [this.lifecycle.state]);
    const evaluation = { held, blocked: false, operation, note };
    const items = orderOf(this.snapshot);
    for (let changed = true; changed;) {
      changed = false;
      for (const item of items) {
        const run = item === "lifecycle" ? this.runLifecycle(evaluation) : this.runSegment(item, note);
        changed = run || changed;
      }
    }
  }

  private runLifecycle(evaluation: {
    held: Set<string>;
    blocked: boolean;
    operation: TrackOperation | null;
    note: (text: string) => void;
  }): boolean {
    const { held, operation, note } = evaluation;
    const enter = (state: string): void => {
      const from = this.lifecycle?.state ?? null;
      this.lifecycle = { state, enteredAt: this.clock!, cause: operation };
      held.add(state);
      note(`transition ${from}→${state}`);
      note(`emission ${from === null ? "customer.created" : `customer.${state}`}`);
    };
    let changed = false;
    if (this.lifecycle === null) {
      enter(this.snapshot.lifecycle!.initial);
      changed = true;
    }
    while (!evaluation.blocked) {
      const state = this.stateDefinition();
      if (state === undefined || state.terminal) break;
      const next = state.transitions.find(({ when }) => this.holds(when, this.clock!));
      if (next === undefined) break;
      if (held.has(next.to)) {
        evaluation.blocked = true;
        note(`blocked ${this.lifecycle!.state}→${next.to}`);
      } else {
        enter(next.to);
        changed = true;
      }
    }
    return changed;
  }

  private runSegment(id: string, note: (text: string) => void): boolean {
    const member = this.holds(this.snapshot.segments.find((segment) => segment.id === id)!.when!, this.clock!);
    if (member === this.segments.has(id)) return false;
    if (member) this.segments.set(id, this.clock!);
    else this.segments.delete(id);
    note(`${member ? "segmentEntered" : "segmentExited"} ${id}`);
    note(`emission ${member ? "segment.entered" : "segment.exited"}`);
    return true;
  }

  holds(condition: Condition, t: number): boolean {
    switch (condition.kind) {
      case "all":
        return condition.conditions.every((inner) => this.holds(inner, t));
      case "any":
        return condition.conditions.some((inner) => this.holds(inner, t));
      case "not":
        return !this.holds(condition.condition, t);
      case "count":
        return compare(this.occurrences(condition, t), condition.operator, condition.value);
      case "trait":
        return compare(this.traits[condition.trait], condition.operator, condition.value);
      case "traitExists":
        return this.traits[condition.trait] !== undefined;
      case "traitDateWithin": {
        const date = instantOf(this.traits[condition.trait]);
        return t >= date - parseDuration(condition.within) && t < date;
      }
      case "inactiveFor":
        return t - (this.lastEventAt ?? this.firstEvaluatedAt!) >= parseDuration(condition.duration);
      case "activeWithin":
        return this.applied.some(({ occurredAt }) => occurredAt > t - parseDuration(condition.duration));
      case "lifecycle":
        return this.lifecycle !== null && condition.states.includes(this.lifecycle.state);
      case "inState":
        return this.lifecycle !== null && t - this.lifecycle.enteredAt >= parseDuration(condition.atLeast);
      case "segment":
        return this.segments.has(condition.segment);
    }
  }

  private occurrences(condition: Extract<Condition, { kind: "count" }>, t: number): number {
    return this.applied.filter((operation) => {
      if (operation.event !== condition.of.event) return false;
      if (condition.of.where !== undefined && !matches(condition.of.where, operation.properties)) return false;
      if (condition.within !== undefined && operation.occurredAt <= t - parseDuration(condition.within)) return false;
      return condition.since === undefined || this.isSinceState(operation);
    }).length;
  }

  private isSinceState(operation: TrackOperation): boolean {
    if (this.lifecycle === null || operation.occurredAt < this.lifecycle.enteredAt) return false;
    const { cause } = this.lifecycle;
    if (cause === null || operation.occurredAt !== cause.occurredAt) return true;
    return operation.seq > cause.seq;
  }
}

function leavesOf(condition: Condition): Condition[] {
  if (condition.kind === "all" || condition.kind === "any") return condition.conditions.flatMap(leavesOf);
  if (condition.kind === "not") return leavesOf(condition.condition);
  return [condition];
}

/** Lifecycle and segments with a condition, each after what it reads; those in a cycle together, as they are declared. */
function orderOf(snapshot: Snapshot): string[] {
  const names = [
    ...(snapshot.lifecycle === null ? [] : ["lifecycle"]),
    ...snapshot.segments.flatMap(({ id, when }) => (when === undefined ? [] : [id])),
  ];
  const conditions = (name: string): Condition[] =>
    name === "lifecycle"
      ? snapshot.lifecycle!.states.flatMap((state) => state.transitions.map(({ when }) => when))
      : [snapshot.segments.find(({ id }) => id === name)!.when!];
  const reads = (name: string): string[] => {
    const read = conditions(name).flatMap(leavesOf).map(readBy);
    return names.filter((other) => read.includes(other));
  };
  const reaches = (from: string, to: string, seen = new Set<string>()): boolean =>
    reads(from).some((next) => next === to || (!seen.has(next) && reaches(next, to, seen.add(next))));
  const order: string[] = [];
  const place = (name: string): void => {
    if (order.includes(name)) return;
    const group = names.filter((other) => other === name || (reaches(name, other) && reaches(other, name)));
    const outside = names.filter((other) => !group.includes(other) && group.some((one) => reads(one).includes(other)));
    outside.forEach(place);
    order.push(...group);
  };
  names.forEach(place);
  return order;
}

function readBy(leaf: Condition): string | null {
  if (leaf.kind === "segment") return leaf.segment;
  const readsState = leaf.kind === "lifecycle" || leaf.kind === "inState" || (leaf.kind === "count" && leaf.since);
  return readsState ? "lifecycle" : null;
}

function matches(condition: PropertyCondition, properties: Record<string, Json>): boolean {
  switch (condition.kind) {
    case "all":
      return condition.conditions.every((inner) => matches(inner, properties));
    case "any":
      return condition.conditions.some((inner) => matches(inner, properties));
    case "not":
      return !matches(condition.condition, properties);
    case "exists":
      return (properties[condition.property] ?? null) !== null;
    case "compare":
      return compare(properties[condition.property], condition.operator, condition.value);
  }
}

function compare(actual: Json | undefined, operator: string, expected: Scalar | Scalar[]): boolean {
  const list = [expected].flat() as (Json | undefined)[];
  switch (operator) {
    case "eq":
    case "in":
      return list.includes(actual);
    case "ne":
    case "notIn":
      return !list.includes(actual);
    case "contains":
      return Array.isArray(actual) ? actual.includes(expected) : String(actual ?? "").includes(`${expected}`);
    default:
      if (typeof actual !== "number") return false;
      if (operator === "lt") return actual < (expected as number);
      if (operator === "lte") return actual <= (expected as number);
      return operator === "gt" ? actual > (expected as number) : actual >= (expected as number);
  }
}

function instantOf(value: Json | undefined): number {
  return typeof value === "string" ? Date.parse(value) : NaN;
}
