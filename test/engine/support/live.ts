import {
  evaluate,
  isBackfilling,
  newCustomer,
  rebuildMemory,
  type CustomerState,
  type Effect,
  type Model,
  type Operation,
  type TrackOperation,
} from "../../../src/engine/index.js";
import { at, show, type Properties } from "./builders.js";

const SETTLE = 30_000;

/** What happens to a customer, in order. Operations accepted at one instant in a row are one request. */
export type Step =
  | [id: string, kind: "track", event: string, accepted: string, occurred?: string, properties?: Properties]
  | [id: string, kind: "identify", traits: Properties, accepted: string]
  | ["tick", now: string]
  | ["version", model: Model]
  | ["look", name: string];

export interface Outcome {
  transitions?: string[];
  segments?: string[];
  emissions?: string[];
  blocked?: string[];
  traits?: Properties;
  clock: string;
}

/** One customer of a service that evaluates every request at once and lets its timers settle: what a worker does. */
export class LiveCustomer {
  state: CustomerState;
  readonly effects: Effect[] = [];
  readonly looks: Record<string, Outcome> = {};
  private readonly history: Operation[] = [];
  private ahead: TrackOperation[] = [];
  private lateAcceptedAt = -Infinity;

  constructor(
    private model: Model,
    steps: Step[],
  ) {
    this.state = newCustomer("c1", at(firstAccepted(steps)));
    for (let i = 0; i < steps.length;) i += this.take(steps, i);
  }

  outcome(): Outcome {
    const { state, effects } = this;
    const by = (effect: Effect): string => {
      const cause = effect.cause.kind === "event" ? effect.cause.eventId : effect.cause.kind;
      return `${show(effect.at)} by ${cause}`;
    };
    const of = <K extends Effect["kind"]>(kind: K): Extract<Effect, { kind: K }>[] =>
      effects.filter((effect): effect is Extract<Effect, { kind: K }> => effect.kind === kind);
    const exits = of("segmentExited").map((e) => `${e.segment} out (in ${show(e.enteredAt)}, out ${show(e.at)})`);
    const members = Object.entries(state.segments).map(([id, { enteredAt }]) => `${id} in since ${show(enteredAt)}`);
    return {
      transitions: of("transition").map((e) => `${e.from}→${e.to} ${by(e)}`),
      segments: [...exits, ...members],
      emissions: of("emission").map((e) => {
        const { previous_lifecycle: from, new_lifecycle: to, segment } = e.metadata;
        return `${e.type} (${e.source === "lifecycle" ? `${from}→${to}` : segment}) ${by(e)}`;
      }),
      blocked: of("blocked").map((e) => `${e.from}→${e.to} ${show(e.at)}`),
      traits: state.traits,
      clock: `${show(state.evaluatedThrough)}, ${show(state.lastEventAt)}, ${show(state.nextDueAt)}`,
    };
  }

  private take(steps: Step[], index: number): number {
    const step = steps[index]!;
    if (step[0] === "tick") {
      this.evaluate([], at(step[1]));
    } else if (step[0] === "look") {
      this.looks[step[1]] = this.outcome();
    } else if (step[0] === "version") {
      this.model = step[1] as Model;
      const events = this.history.filter((operation) => operation.kind === "track");
      this.state = rebuildMemory(this.model, this.state, events);
    } else {
      return this.request(steps, index);
    }
    return 1;
  }

  private request(steps: Step[], index: number): number {
    const operations: Operation[] = [];
    for (const step of steps.slice(index)) {
      if (step[1] !== "track" && step[1] !== "identify") break;
      const operation = this.operation(step as Extract<Step, [string, "track" | "identify", ...unknown[]]>);
      if (operations.length > 0 && operation.acceptedAt !== operations[0]!.acceptedAt) break;
      this.history.push(operation);
      operations.push(operation);
      if (isLate(operation)) this.lateAcceptedAt = operation.acceptedAt;
    }
    this.evaluate(operations, operations[0]!.acceptedAt);
    return operations.length;
  }

  private operation(step: Extract<Step, [string, "track" | "identify", ...unknown[]]>): Operation {
    const seq = this.history.length + 1;
    if (step[1] === "identify") return { kind: "identify", seq, traits: step[2], acceptedAt: at(step[3]) };
    const [eventId, , event, accepted, occurred = accepted, properties = {}] = step;
    return { kind: "track", seq, eventId, event, properties, occurredAt: at(occurred), acceptedAt: at(accepted) };
  }

  private evaluate(operations: Operation[], now: number): void {
    const pending = [...this.ahead, ...operations];
    const hold = isBackfilling(this.state, pending) && now < this.lateAcceptedAt + SETTLE;
    const result = evaluate(this.model, this.state, pending, { now, timers: hold ? "hold" : "fire" });
    // The state is stored as text between calls.
    this.state = JSON.parse(JSON.stringify(result.state)) as CustomerState;
    this.ahead = result.deferred;
    this.effects.push(...result.effects);
  }
}

function isLate(operation: Operation): boolean {
  return operation.kind === "track" && operation.acceptedAt > operation.occurredAt + 300_000;
}

function firstAccepted(steps: Step[]): string {
  const [first] = steps;
  if (first?.[1] === "track") return first[3] as string;
  if (first?.[1] === "identify") return first[3] as string;
  throw new Error("a customer begins with an operation");
}
