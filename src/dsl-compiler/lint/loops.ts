import { parseDuration } from "../../model/snapshot/duration.js";
import { at, quote } from "../../model/snapshot/problem.js";
import type {
  Action,
  Condition,
  Duration,
  Journey,
  JourneyStatus,
  Snapshot,
  Trigger,
} from "../../model/snapshot/types.js";
import { triggerText } from "../../model/snapshot/words.js";
import type { LintWarning } from "./conditions.js";

/** A change of a part of a model that can be caused by another part. */
type Happening = Exclude<Trigger, { kind: "event" | "traitsChanged" }>;

/** A change, with the rule that causes it, if any, and the delay after its cause. */
interface Consequence {
  what: Happening;
  rule?: string;
  after?: Duration;
  /** The state that is left when this one is entered. */
  from?: string;
}

interface Reached extends Consequence {
  cause?: Reached;
}

interface Move {
  from: string;
  to: string;
}

/** Everything that an action leads to. */
interface Reach {
  /** By trigger text, each with its most direct cause. */
  happenings: ReadonlyMap<string, Reached>;
  moves: readonly Move[];
}

/**
 * Finds rules that cause their own triggers, by following what reads the parts that their actions change. A rule with `once` passes, and so does one whose
 * cooldown is longer than the loop is known to take. Other rules with `once` or a cooldown are not followed: their author has thought of how often they act.
 * A loop must also undo what it does: a segment that has to be left before it can be entered again must be left because of the rule. Conditions that count
 * occurrences are assumed to wait for them.
 */
export function lintLoops(snapshot: Snapshot): LintWarning[] {
  const reported = new Set<string>();
  return snapshot.rules.flatMap(({ id, on, then, cooldown, once }, index) => {
    if (reported.has(id) || on.kind === "event" || on.kind === "traitsChanged" || once) return [];
    const reach = reachOf(snapshot, then);
    const end = reach.happenings.get(triggerText(on));
    if (end === undefined || !recurs(on, snapshot, reach)) return [];
    const way = wayTo(end);
    const wait = way.reduce((sum, { after }) => sum + (after === undefined ? 0 : parseDuration(after)), 0);
    if (cooldown !== undefined && parseDuration(cooldown) > wait) return [];
    for (const { rule } of way) if (rule !== undefined) reported.add(rule);
    const steps = way.map(describe).join(", then ");
    const message = `the rule ${quote(id)} causes its own trigger: ${steps}`;
    return [{ path: at("rules", index, "on"), code: "RULE_LOOP" as const, message }];
  });
}

function reachOf(snapshot: Snapshot, action: Action): Reach {
  const happenings = new Map<string, Reached>();
  const moves: Move[] = [];
  const add = (reached: Reached): void => {
    const { what, from } = reached;
    if (what.kind === "stateEntered" && from !== undefined) moves.push({ from, to: what.state });
    const name = triggerText(what);
    if (!happenings.has(name)) happenings.set(name, reached);
  };
  effectsOf(action).forEach(add);
  // The iteration includes entries that are added meanwhile.
  for (const cause of happenings.values()) {
    for (const consequence of consequencesOf(snapshot, cause.what)) add({ ...consequence, cause });
  }
  return { happenings, moves };
}

function wayTo(end: Reached): Reached[] {
  return end.cause === undefined ? [end] : [...wayTo(end.cause), end];
}

/** `signal "bell" cleared 7d later`, `segment "g" exited by the rule "off"`. */
function describe({ what, rule, after }: Consequence): string {
  const by = rule === undefined ? "" : ` by the rule ${quote(rule)}`;
  return triggerText(what) + by + (after === undefined ? "" : ` ${after} later`);
}

function effectsOf(action: Action): Consequence[] {
  switch (action.kind) {
    case "addToSegment":
      return [{ what: { kind: "segmentEntered", segment: action.segment } }];
    case "removeFromSegment":
      return [{ what: { kind: "segmentExited", segment: action.segment } }];
    case "raiseSignal":
      return [{ what: { kind: "signalRaised", signal: action.signal } }];
    case "clearSignal":
      return [{ what: { kind: "signalCleared", signal: action.signal } }];
    case "emit":
      return [];
  }
}

/** The changes that follow from one at once, or by time alone. */
function consequencesOf({ lifecycle, journeys, segments, rules, signals }: Snapshot, cause: Happening): Consequence[] {
  const turns = (when: Condition | undefined, holds: boolean, state?: string): boolean =>
    when !== undefined && canTurn(when, holds, cause, state);
  const where = (happens: boolean, what: Happening): Consequence[] => (happens ? [{ what }] : []);
  return [
    ...rules.flatMap(({ id, on, then, cooldown, once }) => {
      if (cooldown !== undefined || once || triggerText(on) !== triggerText(cause)) return [];
      return effectsOf(then).map(({ what }) => ({ what, rule: id }));
    }),
    ...segments.flatMap(({ id: segment, when }) => [
      ...where(turns(when, true), { kind: "segmentEntered", segment }),
      ...where(turns(when, false), { kind: "segmentExited", segment }),
    ]),
    ...signals.flatMap(({ id: signal, when, for: length }) => [
      ...where(turns(when, true), { kind: "signalRaised", signal }),
      ...where(turns(when, false), { kind: "signalCleared", signal }),
      ...(length !== undefined && cause.kind === "signalRaised" && cause.signal === signal
        ? [{ what: { kind: "signalCleared" as const, signal }, after: length }]
        : []),
    ]),
    ...(lifecycle?.states ?? []).flatMap(({ name, transitions }) =>
      transitions.flatMap(({ to, when }): Consequence[] => {
        if (!turns(when, true, name)) return [];
        return [
          { what: { kind: "stateExited", state: name } },
          { what: { kind: "stateEntered", state: to }, from: name },
        ];
      }),
    ),
    ...journeys.flatMap((journey) => turnsOf(journey, cause)),
  ];
}

function turnsOf(journey: Journey, cause: Happening): Consequence[] {
  const { id, start, steps, anyOrder, expiresAfter } = journey;
  const found: Consequence[] = [];
  if (canTurn(start, true, cause)) found.push({ what: { kind: "journeyStarted", journey: id } });
  for (const step of steps) {
    if (!canTurn(step.when, true, cause)) continue;
    found.push({ what: { kind: "journeyStepCompleted", journey: id, step: step.id } });
  }
  if (!("journey" in cause) || cause.journey !== id) return found;
  if (cause.kind === "journeyStepCompleted" && (anyOrder || cause.step === steps.at(-1)!.id))
    found.push({ what: { kind: "journeyCompleted", journey: id } });
  if (cause.kind === "journeyStarted" && expiresAfter !== undefined)
    found.push({ what: { kind: "journeyExpired", journey: id }, after: expiresAfter });
  return found;
}

/** Whether a change can make a condition hold, or no longer hold. @param state the only state in which the condition is evaluated, if any */
function canTurn(condition: Condition, holds: boolean, cause: Happening, state?: string): boolean {
  switch (condition.kind) {
    case "all":
    case "any":
      return condition.conditions.some((part) => canTurn(part, holds, cause, state));
    case "not":
      return canTurn(condition.condition, !holds, cause, state);
    case "segment":
      return "segment" in cause && cause.segment === condition.segment && (cause.kind === "segmentEntered") === holds;
    case "lifecycle":
      return cause.kind === "stateEntered" && condition.states.includes(cause.state) === holds;
    case "inState":
      return cause.kind === "stateEntered" && (state === undefined || cause.state === state);
    case "journey": {
      if (!("journey" in cause) || cause.journey !== condition.journey) return false;
      const status = STATUSES[cause.kind];
      return status !== undefined && condition.statuses.includes(status) === holds;
    }
    case "journeyStep": {
      if (!("journey" in cause) || cause.journey !== condition.journey) return false;
      const isStep = cause.kind === "journeyStepCompleted" && cause.step === condition.step;
      const isStart = cause.kind === "journeyStarted";
      if (condition.is === "completed") return holds ? isStep : isStart;
      return holds ? isStart || (cause.kind === "journeyStepCompleted" && !isStep) : isStep || !isStart;
    }
    default:
      return false;
  }
}

const STATUSES: { readonly [K in Happening["kind"]]?: JourneyStatus } = {
  journeyStarted: "active",
  journeyCompleted: "complete",
  journeyExpired: "expired",
};

/** Whether a trigger can happen again and again because of what was reached, which must also undo it before. */
function recurs(on: Happening, { journeys }: Snapshot, { happenings, moves }: Reach): boolean {
  const has = (what: Happening): boolean => happenings.has(triggerText(what));
  if ("segment" in on) {
    const { segment } = on;
    return has({ kind: "segmentEntered", segment }) && has({ kind: "segmentExited", segment });
  }
  if ("signal" in on) {
    const { signal } = on;
    return has({ kind: "signalRaised", signal }) && has({ kind: "signalCleared", signal });
  }
  if ("journey" in on) {
    const { journey } = on;
    if (journeys.find(({ id }) => id === journey)?.repeat !== true || !has({ kind: "journeyStarted", journey }))
      return false;
    return has({ kind: "journeyCompleted", journey }) || has({ kind: "journeyExpired", journey });
  }
  return "state" in on && leadsRound(on.state, moves);
}

/** Whether the reached transitions lead from a state back to it. */
function leadsRound(state: string, moves: readonly Move[]): boolean {
  const next = (from: string): string[] => moves.flatMap((move) => (move.from === from ? [move.to] : []));
  const entered = new Set(next(state));
  // The iteration includes members that are added meanwhile.
  for (const one of entered) for (const to of next(one)) entered.add(to);
  return entered.has(state);
}
