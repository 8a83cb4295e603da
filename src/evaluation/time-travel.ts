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
import { WorkBudget } from "./work-budget.js";

type EmissionEffect = Extract<Effect, { kind: "emission" }>;

/** Where a customer stood, and what had happened to it. */
export interface Travelled {
  state: CustomerState;
  /** The latest of what the replay emitted, oldest first. */
  emissions: EmissionEffect[];
  /** How many it emitted before those. */
  omitted: number;
}

export interface TravelOptions {
  model: Model;
  /** The customer as live evaluation left it. */
  input: ReplayInput;
  /** The instant, in milliseconds. */
  at: number;
  /** All of its evaluated events in order, also those after the instant: no more is read than that takes. */
  parts: AsyncIterable<{ events: TrackedEvent[]; isLast: boolean }>;
  /** Of this replay; afterwards it answers for the history up to the instant. */
  past: PastEvents;
  /** How many emissions are kept. */
  emissionsMax: number;
}

/** Others wait for the same thread. */
const SHARE = 0.25;

/**
 * Where a customer stood at an instant: the replay of its history, as a recompute makes it, up to and including that instant, so with the
 * traits as they are now. What came later is not looked at. Null where the customer had not begun by then.
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
      const part: Replayed = await past.during((history) =>
        new WorkBudget(SHARE).spend((budget) =>
          replayPart(model, then, { state: from, events: left, through: isEnd ? at : null, history, budget }),
        ),
      );
      ({ state, isDone } = part);
      for (const effect of part.effects) if (effect.kind === "emission") emissions.push(effect);
      emitted += emissions.splice(0, emissions.length - emissionsMax).length;
      past.passed(left.slice(0, part.taken));
      left = left.slice(part.taken);
      await nextTurn();
    }
    if (isEnd) break;
  }
  return state && ({ state, emissions, omitted: emitted } satisfies Travelled);
}

/** What was known of the customer by then, but for its traits. */
function knownAt(input: ReplayInput, at: number): ReplayInput {
  const { traitsChangedSeq, ...others } = input;
  const { traitsChangedAt, lastEventAt } = input;
  const isChanged = traitsChangedAt !== null && traitsChangedAt <= at;
  return {
    ...others,
    traitsChangedAt: isChanged ? traitsChangedAt : null,
    ...(isChanged && traitsChangedSeq !== undefined ? { traitsChangedSeq } : {}),
    // The events after it were not removed, so it is known from them.
    lastEventAt: lastEventAt !== null && lastEventAt <= at ? lastEventAt : null,
  };
}

/** Whether a customer without an event by then had been evaluated. */
function hasBegun({ createdAt, firstEvaluatedAt }: ReplayInput, at: number): boolean {
  return firstEvaluatedAt !== null && Math.max(createdAt, firstEvaluatedAt) <= at;
}
