import type { Effect, Operation, TrackOperation } from "../../../src/engine/index.js";
import type { JourneyRun } from "../../../src/engine/state/types.js";
import type { Snapshot } from "../../../src/model/snapshot/types.js";
import { at, show, type Properties } from "./builders.js";
import type { NewSubject, Subject, View } from "./subject.js";

const SETTLE = 30_000;
const FIVE_MINUTES = 300_000;

/** A step of a customer's history, in order. Consecutive operations accepted at the same instant are one request. */
export type Step =
  | [id: string, kind: "track", event: string, accepted: string, occurred?: string, properties?: Properties]
  | [id: string, kind: "identify", traits: Properties, accepted: string]
  | ["tick", now: string]
  | ["version", snapshot: Snapshot]
  | ["replay", through: string]
  | ["look", name: string];

/**
 * The outcome for the customer, one text per fact. `clock` is: evaluatedThrough, lastEventAt, nextDueAt. A journey is: id, status,
 * current step, start, end of either kind, then its steps. Omitted members are empty.
 */
export interface Outcome {
  transitions?: string[];
  blocked?: string[];
  journeys?: string[];
  segments?: string[];
  health?: string[];
  rules?: string[];
  signals?: string[];
  emissions?: string[];
  traits?: Properties;
  clock: string;
}

/** The outcome of a replay, which emits only corrections. */
export type ReplayOutcome = Omit<Outcome, "emissions"> & { corrections?: string[] };

/** One customer, evaluated like a worker does: every request at once, with timers held until the customer settles. */
export class LiveCustomer {
  readonly looks: Record<string, Required<Outcome>> = {};
  readonly replays: Required<ReplayOutcome>[] = [];
  readonly subject: Subject;
  private accepted = 0;
  private lastTrack: TrackOperation | null = null;
  private lateAcceptedAt = -Infinity;

  constructor(create: NewSubject, snapshot: Snapshot, steps: Step[]) {
    this.subject = create(snapshot, "c1", at(firstAccepted(steps)));
    for (let i = 0; i < steps.length;) i += this.take(steps, i);
  }

  outcome(): Required<Outcome> {
    return outcomeOf(this.subject.effects, this.subject.view());
  }

  private take(steps: Step[], index: number): number {
    const step = steps[index]!;
    if (step[1] === "track" || step[1] === "identify") return this.request(steps, index);
    const [kind, value] = step as Exclude<Step, [string, "track" | "identify", ...unknown[]]>;
    if (kind === "tick") this.evaluate([], at(value));
    else if (kind === "look") this.looks[value] = this.outcome();
    else if (kind === "version") this.subject.changeVersion(value);
    else this.replay(at(value));
    return 1;
  }

  private replay(through: number): void {
    const { effects, view, corrections } = this.subject.replay(through, "job");
    const { emissions: _, ...outcome } = outcomeOf(effects, view);
    this.replays.push({ ...outcome, corrections: outcomeOf(corrections, view).emissions });
  }

  private request(steps: Step[], index: number): number {
    const operations: Operation[] = [];
    for (const step of steps.slice(index)) {
      if (step[1] !== "track" && step[1] !== "identify") break;
      const operation = this.operation(step as Extract<Step, [string, "track" | "identify", ...unknown[]]>);
      if (operations.length > 0 && operation.acceptedAt !== operations[0]!.acceptedAt) break;
      this.accepted++;
      operations.push(operation);
      if (operation.kind !== "track") continue;
      this.lastTrack = operation;
      if (isLate(operation)) this.lateAcceptedAt = operation.acceptedAt;
    }
    this.evaluate(operations, operations[0]!.acceptedAt);
    return operations.length;
  }

  private operation(step: Extract<Step, [string, "track" | "identify", ...unknown[]]>): Operation {
    const seq = this.accepted + 1;
    if (step[1] === "identify") return { kind: "identify", seq, traits: step[2], acceptedAt: at(step[3]) };
    const [eventId, , event, accepted, occurred = accepted, properties = {}] = step;
    return { kind: "track", seq, eventId, event, properties, occurredAt: at(occurred), acceptedAt: at(accepted) };
  }

  private evaluate(operations: Operation[], now: number): void {
    const holds = this.lastTrack !== null && isLate(this.lastTrack) && now < this.lateAcceptedAt + SETTLE;
    this.subject.take(operations, now, holds ? "hold" : "fire");
  }
}

function isLate({ occurredAt, acceptedAt }: TrackOperation): boolean {
  return acceptedAt > occurredAt + FIVE_MINUTES;
}

function firstAccepted(steps: Step[]): string {
  const [first] = steps;
  if (first?.[1] === "track") return first[3] as string;
  if (first?.[1] === "identify") return first[3] as string;
  throw new Error("a customer begins with an operation");
}

export function outcomeOf(effects: readonly Effect[], view: View): Required<Outcome> {
  const of = <K extends Effect["kind"]>(kind: K): Extract<Effect, { kind: K }>[] =>
    effects.filter((effect): effect is Extract<Effect, { kind: K }> => effect.kind === kind);
  const exits = of("segmentExited").map((e) => `${e.segment} out (in ${show(e.enteredAt)}, out ${show(e.at)})`);
  const members = Object.entries(view.segments)
    .sort(([, a], [, b]) => a - b)
    .map(([id, enteredAt]) => `${id} in since ${show(enteredAt)}`);
  const cleared = of("signalCleared").map((e) => `${e.signal} cleared (raised ${show(e.raisedAt)}) ${show(e.at)}`);
  const raised = Object.entries(view.signals).map(([id, { raisedAt }]) => `${id} raised ${show(raisedAt)}`);
  return {
    transitions: of("transition").map((e) => `${e.from}→${e.to} ${by(e)}`),
    blocked: of("blocked").map((e) => `${e.from}→${e.to} ${show(e.at)}`),
    journeys: Object.entries(view.journeys).map(([id, run]) => journeyText(id, run)),
    segments: [...exits, ...members],
    health: of("health").map((e) => `${e.overall} ${e.band} ${show(e.at)}`),
    rules: of("ruleExecuted").map((e) => `${e.rule} ${e.result} ${show(e.at)} (${e.triggeredBy})`),
    signals: [...cleared, ...raised],
    emissions: of("emission").map((e) => `${e.type} (${subjectOf(e)}) ${by(e)}`),
    traits: view.traits,
    clock: `${show(view.evaluatedThrough)}, ${show(view.lastEventAt)}, ${show(view.nextDueAt)}`,
  };
}

function by(effect: Effect): string {
  return `${show(effect.at)} by ${effect.cause.kind === "event" ? effect.cause.eventId : effect.cause.kind}`;
}

function journeyText(
  id: string,
  { status, currentStep, startedAt, completedAt, expiredAt, steps }: JourneyRun,
): string {
  const end = completedAt ?? expiredAt;
  const done = Object.entries(steps).map(([step, one]) => `${step} ${show(one.completedAt)} by ${one.triggeredBy}`);
  const time = `${show(startedAt)} – ${end === null ? "…" : show(end)}`;
  return `${id} ${status} at ${currentStep}, ${time}${done.length === 0 ? "" : `: ${done.join(", ")}`}`;
}

/** The subject of an emission. */
function subjectOf({ source, metadata }: Extract<Effect, { kind: "emission" }>): string {
  switch (source) {
    case "lifecycle":
      return `${metadata["previous_lifecycle"]}→${metadata["new_lifecycle"]}`;
    case "journey":
      return [metadata["journey"], metadata["step"]].filter((part) => part !== undefined).join(" ");
    case "segment":
      return `${metadata["segment"]}`;
    case "health":
      return `${metadata["previous_band"]}→${metadata["new_band"]} ${metadata["overall"]}`;
    case "rule":
      return `${metadata["rule"]}`;
    case "signal":
      return [metadata["signal"], metadata["severity"], metadata["message"]].filter((part) => part !== null).join(" ");
  }
}
