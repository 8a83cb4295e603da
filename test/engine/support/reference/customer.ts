import { createHash } from "node:crypto";

import { parseDuration } from "../../../../src/model/snapshot/duration.js";
import type { Condition, Snapshot } from "../../../../src/model/snapshot/types.js";
import type { Cause, Effect, Json, TrackOperation } from "../../../../src/engine/index.js";
import type { HealthScore, JourneyRun, Order, RaisedSignal } from "../../../../src/engine/state/types.js";
import { earliest, holds, nextFlip, scoreCandidates, type Scoped } from "./conditions.js";
import { scored, type Facts } from "./facts.js";
import {
  healthOf,
  runHealth,
  runJourney,
  runLifecycle,
  runRule,
  runSignal,
  setMember,
  startScope,
  stepScope,
  type Evaluation,
} from "./items.js";
import { isHealthRead, orderOf, type Item } from "./order.js";

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;

/**
 * A customer's state, and one evaluation of it: looks at every item in every pass, and finds the next due
 * instant by trying each instant at which something could change.
 */
export class Customer implements Facts {
  clock: number | null = null;
  firstEvaluatedAt: number | null = null;
  lastEventAt: number | null = null;
  applied: TrackOperation[] = [];
  traits: Record<string, Json> = {};
  lifecycle: { state: string; enteredAt: number; cause: Order | null } | null = null;
  journeys = new Map<string, JourneyRun>();
  segments = new Map<string, number>();
  health: HealthScore | null = null;
  signals = new Map<string, RaisedSignal>();
  /** When a rule last passed. */
  passes = new Map<string, number>();
  readonly effects: Effect[] = [];
  /** Whether in the last evaluation a journey that had started in it would have started again. */
  hasBlockedJourney = false;

  /** The earliest change of a component since health was last scored, if no condition reads it. */
  private healthChangesAt = Infinity;
  /** The cached result of `timerDueAt`, until something changes. */
  private due: number | null = null;
  /** The due instant of the former version, until the first evaluation under the current one. */
  private former: { at: number } | null = null;
  private items: Item[];
  private readsHealth: boolean;

  constructor(
    readonly customerId: string,
    public snapshot: Snapshot,
  ) {
    this.items = orderOf(snapshot);
    this.readsHealth = isHealthRead(snapshot);
  }

  changeVersion(snapshot: Snapshot): void {
    if (this.clock !== null) this.former ??= { at: this.timerDueAt() };
    this.due = null;
    this.snapshot = snapshot;
    this.items = orderOf(snapshot);
    this.readsHealth = isHealthRead(snapshot);
  }

  setTraits(traits: Record<string, Json>): void {
    this.due = null;
    this.traits = traits;
  }

  holds(condition: Condition): boolean {
    return holds(this, { condition, start: "ever" }, this.clock!);
  }

  /** Applies an event and evaluates. */
  apply(operation: TrackOperation): void {
    this.applied.push(operation);
    this.applied.sort((a, b) => a.occurredAt - b.occurredAt || a.seq - b.seq);
    this.lastEventAt = Math.max(this.lastEventAt ?? -Infinity, operation.occurredAt);
    const instant = Math.max(this.clock ?? -Infinity, operation.occurredAt);
    this.evaluate(instant, { kind: "event", eventId: operation.eventId }, operation);
  }

  evaluate(at: number, cause: Cause, operation: TrackOperation | null = null, order: Order | null = operation): void {
    const isFirst = this.clock === null || this.former !== null;
    const isRefresh = !isFirst && this.refreshDueAt() === at;
    this.due = null;
    this.former = null;
    this.clock = at;
    this.firstEvaluatedAt ??= at;
    this.hasBlockedJourney = false;
    const evaluation: Evaluation = {
      at,
      cause,
      operation,
      order: order && { occurredAt: order.occurredAt, seq: order.seq },
      held: new Set(this.lifecycle === null ? [] : [this.lifecycle.state]),
      isBlocked: false,
      startedJourneys: new Set(),
      happened: new Set(),
      rulesRun: new Set(),
      scoresHealth: this.readsHealth || cause.kind !== "timer" || isRefresh,
      note: (body) => void this.effects.push({ at, cause, ...body }),
    };
    while (this.items.map((item) => this.run(item, evaluation)).includes(true));
    if (evaluation.scoresHealth || isFirst) this.healthChangesAt = this.nextScoreChange();
    // The start of a component's count may have moved, and another version scores differently.
    if (!evaluation.scoresHealth && this.isHealthStale()) this.healthChangesAt = Math.min(this.healthChangesAt, at);
  }

  /** The earliest instant after the clock at which anything changes by time alone. */
  timerDueAt(): number {
    this.due ??= this.findTimerDueAt();
    return this.due;
  }

  private findTimerDueAt(): number {
    if (this.former !== null) return this.former.at;
    if (this.clock === null) return Infinity;
    const { snapshot, clock } = this;
    const ends = snapshot.journeys.flatMap(({ id, expiresAfter }) => {
      const run = this.journeys.get(id);
      return run?.status === "active" && expiresAfter ? [run.startedAt + parseDuration(expiresAfter)] : [];
    });
    const clears = snapshot.signals.flatMap((signal) => {
      const raised = this.signals.get(signal.id);
      return raised && signal.for && !signal.when ? [raised.renewedAt + parseDuration(signal.for)] : [];
    });
    const health = this.readsHealth ? this.nextScoreChange() : this.refreshDueAt();
    return Math.min(nextFlip(this, this.consulted(), clock), health, ...ends, ...clears);
  }

  /** The conditions that are evaluated in the current state. */
  private consulted(): Scoped[] {
    const { snapshot } = this;
    const state = snapshot.lifecycle?.states.find(({ name }) => name === this.lifecycle?.state);
    const always = [
      ...(state === undefined || state.terminal ? [] : state.transitions),
      ...snapshot.segments,
      ...snapshot.signals,
    ];
    return [
      ...always.flatMap(({ when }) => (when === undefined ? [] : [{ condition: when, start: "ever" as const }])),
      ...snapshot.journeys.flatMap((journey): Scoped[] => {
        const run = this.journeys.get(journey.id);
        const start = startScope(journey, run);
        if (start !== undefined) return [{ condition: journey.start, start }];
        if (run!.status !== "active") return [];
        const steps = journey.steps
          .map(({ id, when }, index) => ({ id, condition: when, start: stepScope(journey, index, run!) }))
          .filter(({ id }) => !Object.hasOwn(run!.steps, id));
        return journey.anyOrder ? steps : steps.slice(0, 1);
      }),
    ];
  }

  private nextScoreChange(): number {
    const components = this.snapshot.health?.components ?? [];
    const tries = components.flatMap((of) => scoreCandidates(this, of.score).map((at) => ({ at, of })));
    return earliest(tries, this.clock!, (component, t) => scored(this, component, t));
  }

  private isHealthStale(): boolean {
    const { health, snapshot } = this;
    if (snapshot.health === null) return false;
    // No score means not scored yet, unless all components can be absent.
    if (health === null && snapshot.health.components.some(({ weight, absent }) => weight > 0 && absent !== "skip"))
      return false;
    return JSON.stringify(health) !== JSON.stringify(healthOf(this, snapshot.health, this.clock!));
  }

  /** The customer's minute of the day, at or after the change and after the clock. */
  private refreshDueAt(): number {
    if (this.readsHealth || this.snapshot.health === null || this.healthChangesAt === Infinity) return Infinity;
    const minute = createHash("sha256").update(this.customerId).digest().readUInt32BE(0) % 1440;
    const from = Math.max(this.healthChangesAt, this.clock! + 1);
    const sameDay = Math.floor(from / DAY) * DAY + minute * MINUTE;
    return sameDay >= from ? sameDay : sameDay + DAY;
  }

  private run({ kind, id }: Item, evaluation: Evaluation): boolean {
    const { journeys, segments, rules, signals, health } = this.snapshot;
    const byId = <T extends { id: string }>(list: readonly T[]): T => list.find((one) => one.id === id)!;
    switch (kind) {
      case "lifecycle":
        return runLifecycle(this, evaluation);
      case "journey":
        return runJourney(this, evaluation, byId(journeys));
      case "segment":
        return setMember(this, evaluation, id, this.holds(byId(segments).when!));
      case "health":
        return runHealth(this, evaluation, health!);
      case "rule":
        return runRule(this, evaluation, byId(rules));
      case "signal":
        return runSignal(this, evaluation, byId(signals));
    }
  }
}
