import type { Circumstances } from "./contradiction.js";
import { contradiction } from "./contradiction.js";
import { isDuration, parseDuration } from "./duration.js";
import type { FieldTypes } from "./facts-of-condition.js";
import type { Scope } from "./scope.js";
import type { Journey, JourneyStatus, JourneyStep } from "./types.js";

const DAY_MS = 86_400_000;

/** Why a step can never be met, whatever a customer does; null where it may. Its condition must be sound. */
export function impossibleStep(journey: Journey, step: JourneyStep, scope: Scope): string | null {
  return contradiction(step.when, circumstancesOfStep(journey, step, typesOf(scope)));
}

/** What is the case whenever the condition of a step is asked for: the journey is active and the step unfinished. */
export function circumstancesOfStep(journey: Journey, step: JourneyStep, types: FieldTypes): Circumstances {
  const here = { kind: "journeyStep", journey: journey.id, step: step.id } as const;
  const known: Circumstances["known"] = [
    { condition: { kind: "journey", journey: journey.id, statuses: ["active"] }, holds: true },
    { condition: { ...here, is: "completed" }, holds: false },
    ...(journey.anyOrder ? [] : [{ condition: { ...here, is: "current" } as const, holds: true }]),
  ];
  return { types, known, ...daysOf(journey) };
}

/** What is the case whenever the condition that starts a journey is asked for: it never started, or its last run has ended. */
export function circumstancesOfStart({ id, repeat }: Journey, types: FieldTypes): Circumstances {
  const statuses: JourneyStatus[] = repeat ? ["not_started", "complete", "expired"] : ["not_started"];
  return { types, known: [{ condition: { kind: "journey", journey: id, statuses }, holds: true }] };
}

/** A run ends before it has lasted `expiresAfter`, so nothing in it is that long ago. */
function daysOf({ expiresAfter }: Journey): { daysMost?: number } {
  if (expiresAfter === undefined || !isDuration(expiresAfter)) return {};
  return { daysMost: Math.ceil(parseDuration(expiresAfter) / DAY_MS) - 1 };
}

function typesOf({ events, traits }: Scope): FieldTypes {
  return {
    trait: (name) => traits?.get(name),
    property: (event, name) => events.get(event)?.get(name),
  };
}
