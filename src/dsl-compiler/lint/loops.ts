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

/** What happens to a part of a model, and can be caused by another part. */
type Happening = Exclude<Trigger, { kind: "event" | "traitsChanged" }>;

/** Something that happens, the rule that brings it about, and how long it is waited for. */
interface Consequence {
  what: Happening;
  rule?: string;
  after?: Duration;
  /** Of a state that is entered: the one that is left. */
  from?: string;
}

interface Reached extends Consequence {
  cause?: Reached;
}

interface Move {
  from: string;
  to: string;
}

/** All that an action leads to. */
interface Reach {
  /** By its words: each with what it follows from most directly. */
  happenings: ReadonlyMap<string, Reached>;
  moves: readonly Move[];
}

/**
 * Finds rules that cause their own triggers, by what reads what their actions change. A rule with `once` is let pass, and so is one whose
 * cooldown is longer than its trigger is known to take. Of other rules on the way none with either is followed: how often they act has been
 * thought of. What does not happen again because of the rule alone is let pass, too: a segment that has to be left before it is entered again
 * must be left because of it. What counts occurrences is taken to wait for them.
 */
export function lintLoops(snapshot: Snapshot): LintWarning[] {
  const told = new Set<string>();
  return snapshot.rules.flatMap(({ id, on, then, cooldown, once }, index) => {
    if (told.has(id) || on.kind === "event" || on.kind === "traitsChanged" || once) return [];
    const reach = reachOf(snapshot, then);
    const end = reach.happenings.get(triggerText(on));
    if (end === undefined || !recurs(on, snapshot, reach)) return [];
    const way = wayTo(end);
    const wait = way.reduce((sum, { after }) => sum + (after === undefined ? 0 : parseDuration(after)), 0);
    if (cooldown !== undefined && parseDuration(cooldown) > wait) return [];
    for (const { rule } of way) if (rule !== undefined) told.add(rule);
    const steps = way.map(inWords).join(", then ");
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
  // A map that grows while it is walked is walked to its new end.
  for (const cause of happenings.values()) {
    for (const consequence of consequencesOf(snapshot, cause.what)) add({ ...consequence, cause });
  }
  return { happenings, moves };
}

function wayTo(end: Reached): Reached[] {
  return end.cause === undefined ? [end] : [...wayTo(end.cause), end];
}

/** `signal "bell" cleared 7d later`, `segment "g" exited by the rule "off"`. */
function inWords({ what, rule, after }: Consequence): string {
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

/** What follows from something at once, or with time alone. */
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

/** Whether something can make a condition hold, or no longer hold. @param state the one in which alone it is asked for, if any */
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

/** Whether what was reached brings something about again: what has to be undone before that is undone by it, too. */
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

/** Whether the transitions that were reached lead from a state back to it. */
function leadsRound(state: string, moves: readonly Move[]): boolean {
  const next = (from: string): string[] => moves.flatMap((move) => (move.from === from ? [move.to] : []));
  const entered = new Set(next(state));
  // A set that grows while it is walked is walked to its new end.
  for (const one of entered) for (const to of next(one)) entered.add(to);
  return entered.has(state);
}
