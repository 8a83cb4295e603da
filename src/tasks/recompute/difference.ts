import type { EffectRows } from "../../db/api/evaluation.js";
import type { ExecutionKey, ResultCounts } from "../../db/api/recompute.js";
import {
  type CustomerState,
  type Effect,
  type HealthScore,
  type StateDocument,
  stateDocument,
} from "../../engine/index.js";
import { canonicalJson } from "../../model/snapshot/canonical.js";

type Execution = EffectRows["ruleExecutions"][number];

/**
 * The runs of rules that a replay adds to a log: those that the log does not have at the same instant, for the same trigger and with the
 * same result. Both are added in order of their instants, and only runs past the settled instant are held. The first `keepMax` added runs
 * are kept, the others only counted.
 */
export class ExecutionsAdded {
  readonly kept: Execution[] = [];
  count = 0;
  /** How many runs of the log the replay does not have. */
  removed = 0;
  #logged: ExecutionKey[] = [];
  #replayed: Execution[] = [];

  constructor(private readonly keepMax: number) {}

  /** Runs that the log has. */
  addLogged(runs: readonly ExecutionKey[]): void {
    for (const run of runs) this.#logged.push(run);
  }

  /** Runs of the replay. */
  addReplayed(runs: readonly Execution[]): void {
    for (const run of runs) this.#replayed.push(run);
  }

  /** Compares the runs before an instant, of which all must have been added. */
  settle(before: number): void {
    const unmatched = new Map<string, number>();
    const logged = this.#logged.findIndex(([, , , at]) => at >= before);
    for (const key of this.#logged.splice(0, logged < 0 ? this.#logged.length : logged)) {
      const name = key.join("\n");
      unmatched.set(name, (unmatched.get(name) ?? 0) + 1);
    }
    const replayed = this.#replayed.findIndex(({ at }) => at >= before);
    for (const run of this.#replayed.splice(0, replayed < 0 ? this.#replayed.length : replayed)) {
      const name = [run.rule, run.result, run.triggeredBy, run.at].join("\n");
      const count = unmatched.get(name) ?? 0;
      if (count > 0) {
        unmatched.set(name, count - 1);
        continue;
      }
      this.count++;
      if (this.kept.length < this.keepMax) this.kept.push(run);
    }
    for (const count of unmatched.values()) this.removed += count;
  }
}

/** Lists of a customer's difference are truncated at this length. */
export const LIST_MAX = 1_000;

/** What a recompute changes of one customer, as the API shows it (src/http/admin/recomputes.ts says what each member means). */
export type Difference = NonNullable<Compared["difference"]>;

export type Compared = ReturnType<typeof compare>;

/**
 * Compares a customer's states before and after, at one instant. The difference is null if the states are equal, no runs of rules are added and
 * nothing is emitted; the weight says how significant it is.
 */
export function compare(
  before: CustomerState,
  after: CustomerState,
  added: ExecutionsAdded,
  emissions: readonly Extract<Effect, { kind: "emission" }>[],
) {
  const [from, to] = [before, after].map((state) => stateDocument(state, { environment: "", configVersion: null }));
  const lifecycle = { before: from!.lifecycle, after: to!.lifecycle };
  const health = { before: scoreOf(before), after: scoreOf(after) };
  const segments = { before: from!.segments, after: to!.segments };
  const journeys = { before: from!.journeys, after: to!.journeys };
  const signals = compareSignals(from!.signals, to!.signals);

  const entered = segments.after.filter((id) => !Object.hasOwn(before.segments, id)).length;
  const exited = segments.before.filter((id) => !Object.hasOwn(after.segments, id)).length;
  const lifecycleChanged = lifecycle.before !== lifecycle.after;
  const healthChanged = differ(health);
  const journeysChanged = differ(journeys);
  const signalsRaised = signals.after.filter((id) => !Object.hasOwn(before.signals, id)).length;
  const signalsCleared = signals.before.filter((id) => !Object.hasOwn(after.signals, id)).length;
  const signalsChanged = signalsRaised + signalsCleared > 0 || signals.changed !== undefined;
  const isListed =
    lifecycleChanged ||
    healthChanged ||
    entered + exited > 0 ||
    journeysChanged ||
    signalsChanged ||
    added.count > 0 ||
    emissions.length > 0;
  const counts: ResultCounts = {
    customersChanged: Number(isListed),
    lifecycleChanged: Number(lifecycleChanged),
    healthChanged: Number(healthChanged),
    segmentsEntered: entered,
    segmentsExited: exited,
    signalsRaised,
    signalsCleared,
    rules: added.count,
    rulesRemoved: added.removed,
    emissions: emissions.length,
  };
  if (!isListed) return { difference: null, weight: 0, counts };

  const difference = {
    customerId: after.customerId,
    lifecycle,
    health,
    segments,
    journeys,
    signals,
    rules: added.kept.map(({ rule, result, triggeredBy, conditions, action, at }) => ({
      ruleId: rule,
      result,
      triggeredBy,
      conditions,
      action,
      executedAt: new Date(at).toISOString(),
    })),
    ...(added.count > added.kept.length ? { rulesOmitted: added.count - added.kept.length } : {}),
    ...(added.removed > 0 ? { rulesRemoved: added.removed } : {}),
    emissions: emissions.slice(0, LIST_MAX).map(({ type, source, metadata, at }) => ({
      eventType: type,
      source,
      metadata,
      timestamp: new Date(at).toISOString(),
    })),
    ...(emissions.length > LIST_MAX ? { emissionsOmitted: emissions.length - LIST_MAX } : {}),
  };
  const moved = Math.abs((health.after?.overall ?? 0) - (health.before?.overall ?? 0));
  const weight =
    100 * Number(lifecycleChanged) +
    10 * (entered + exited) +
    moved +
    20 * Number(health.before?.band !== health.after?.band) +
    20 * Number(signalsChanged) +
    5 * Number(journeysChanged) +
    Math.min(emissions.length, 5) +
    Math.min(added.count, 5);
  return { difference, weight, counts };
}

export function addCounts(sum: ResultCounts, counts: ResultCounts): void {
  for (const name of Object.keys(sum) as (keyof ResultCounts)[]) sum[name] += counts[name];
}

function scoreOf({ health }: CustomerState): Pick<HealthScore, "overall" | "band" | "components"> | null {
  return health && { overall: health.overall, band: health.band, components: health.components };
}

type Raised = StateDocument["signals"];

/** `changed`: those that stay raised, with the severity and the message of another model. Evaluation keeps those of the raise. */
function compareSignals(before: Raised, after: Raised): { before: string[]; after: string[]; changed?: string[] } {
  const ids = (raised: Raised) => raised.map(({ signalId }) => signalId);
  const isOther = (was: Raised[number], { signalId, severity, message }: Raised[number]) =>
    was.signalId === signalId && (was.severity !== severity || was.message !== message);
  const changed = ids(after.filter((one) => before.some((was) => isOther(was, one))));
  return { before: ids(before), after: ids(after), ...(changed.length > 0 ? { changed } : {}) };
}

/** The order of components and steps, which a model may change, is no difference. */
function differ({ before, after }: { before: unknown; after: unknown }): boolean {
  return JSON.stringify(before) !== JSON.stringify(after) && canonicalJson(before) !== canonicalJson(after);
}
