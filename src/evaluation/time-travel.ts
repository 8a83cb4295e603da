import { setImmediate as nextTurn } from "node:timers/promises";
import {
  type CustomerState,
  type Effect,
  type Model,
  type Replayed,
  type ReplayInput,
  replayPart,
  type TrackedEvent,
} from "../engine/index.js";
import type { PastEvents } from "./past-events.js";
import { REPLAY_SHARE, WorkBudget } from "./work-budget.js";

type EmissionEffect = Extract<Effect, { kind: "emission" }>;

/** A customer's state at an instant, and the emissions until then. */
export interface PastState {
  state: CustomerState;
  /** The latest emissions of the replay, oldest first. */
  emissions: EmissionEffect[];
  /** The number of emissions before those. */
  omitted: number;
}

export interface TravelOptions {
  model: Model;
  /** The customer as live evaluation left it. */
  input: ReplayInput;
  /** The instant, in milliseconds since the epoch. */
  at: number;
  /** All evaluated events of the customer in order, also those after the instant; reading stops at the first of these. */
  parts: AsyncIterable<{ events: TrackedEvent[]; isLast: boolean }>;
  /** The past events of this replay. Afterwards it answers requests for the history up to the instant. */
  past: PastEvents;
  /** The most emissions to keep. */
  emissionsMax: number;
}

/**
 * A customer's state at an instant, by replaying its history as a recompute does, up to and including the instant, and so with its present
 * traits. Null if the customer did not exist yet.
 */
export async function travelTo({ model, input, at, parts, past, emissionsMax }: TravelOptions) {
  const then = knownAt(input, at);
  const emissions: EmissionEffect[] = [];
  let emitted = 0;
  let state: CustomerState | null = null;
  for await (const { events, isLast } of parts) {
    const later = events.findIndex(({ occurredAt }) => occurredAt > at);
    const isEnd = isLast || later >= 0;
    let left = later < 0 ? events : events.slice(0, later);
    if (state === null && left.length === 0 && !hasBegun(input, at)) return null;
    for (let isDone = false; !isDone;) {
      const from: CustomerState | null = state;
      const part: Replayed = await past.runWith((history) =>
        new WorkBudget(REPLAY_SHARE).spend((budget) =>
          replayPart(model, then, { state: from, events: left, through: isEnd ? at : null, history, budget }),
        ),
      );
      ({ state, isDone } = part);
      for (const effect of part.effects) if (effect.kind === "emission") emissions.push(effect);
      emitted += emissions.splice(0, emissions.length - emissionsMax).length;
      past.advance(left.slice(0, part.taken));
      left = left.slice(part.taken);
      await nextTurn();
    }
    if (isEnd) break;
  }
  return state && ({ state, emissions, omitted: emitted } satisfies PastState);
}

/** The input as it was at an instant, except for the traits. */
function knownAt(input: ReplayInput, at: number): ReplayInput {
  const { traitsChangedSeq, ...others } = input;
  const { traitsChangedAt, lastEventAt } = input;
  const isChanged = traitsChangedAt !== null && traitsChangedAt <= at;
  return {
    ...others,
    traitsChangedAt: isChanged ? traitsChangedAt : null,
    ...(isChanged && traitsChangedSeq !== undefined ? { traitsChangedSeq } : {}),
    // An event after the instant must not count; the replay finds the last one before it among the retained events.
    lastEventAt: lastEventAt !== null && lastEventAt <= at ? lastEventAt : null,
  };
}

/** Whether a customer without an event until an instant had been evaluated by then. */
function hasBegun({ createdAt, firstEvaluatedAt }: ReplayInput, at: number): boolean {
  return firstEvaluatedAt !== null && Math.max(createdAt, firstEvaluatedAt) <= at;
}
