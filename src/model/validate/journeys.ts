import { type Circumstances, contradiction } from "../contradiction/contradiction.js";
import type { FieldTypes } from "../contradiction/facts-of-condition.js";
import { isDuration, parseDuration } from "../snapshot/duration.js";
import { LIMITS } from "../snapshot/limits.js";
import { type Placed, type ReadList, readList } from "../snapshot/list.js";
import { at, type Problems, quote } from "../snapshot/problem.js";
import type { Journey, JourneyStatus, JourneyStep } from "../snapshot/types.js";
import { checkCondition } from "./condition.js";
import { checkDuration, type Scope } from "./scope.js";
import { JOURNEY, STEP } from "./shapes.js";

const DAY_MS = 86_400_000;

/** Why a step can never be met, whatever a customer does; null where it may. Its condition must be sound. */
function impossibleStep(journey: Journey, step: JourneyStep, scope: Scope): string | null {
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

interface ReadJourneys extends ReadList<Journey> {
  /** By the journey's position among the sound ones. */
  steps: ReadList<JourneyStep>[];
}

/** Reads the journeys with their steps, and reports what is wrong with their shapes and ids. */
export function readJourneys(values: unknown[], problems: Problems): ReadJourneys {
  const options = { shape: JOURNEY, most: LIMITS.journeys, noun: "journey", duplicate: "DUPLICATE_JOURNEY" } as const;
  const read = readList<Journey>(values, "journeys", options, problems);
  const steps = read.items.map(({ item, path }) =>
    readList<JourneyStep>(
      item.steps,
      at(path, "steps"),
      { shape: STEP, most: LIMITS.steps, noun: "step of this journey", duplicate: "DUPLICATE_STEP" },
      problems,
    ),
  );
  return { ...read, steps };
}

export function checkJourneys({ items, steps }: ReadJourneys, scope: Scope): void {
  items.forEach(({ item: journey, path }, index) => {
    if (journey.expiresAfter !== undefined) {
      checkDuration(journey.expiresAfter, at(path, "expiresAfter"), scope.problems);
    }
    // What starts another run counts since the end of the one before.
    checkCondition(journey.start, at(path, "start"), scope, { depth: 1, inJourney: journey.repeat === true });
    for (const step of steps[index]!.items) checkStep(step, journey, scope);
  });
}

function checkStep({ item: step, path }: Placed<JourneyStep>, journey: Journey, scope: Scope): void {
  const { problems } = scope;
  if (step.since !== undefined && journey.anyOrder) {
    const message = "the steps of this journey are in any order, so none counts since the previous one";
    problems.add(at(path, "since"), "INVALID_SHAPE", message);
  }
  const before = problems.found.length;
  const place = at(path, "when");
  checkCondition(step.when, place, scope, { depth: 1, inJourney: true });
  // Only of a sound condition can it be said that it is never met.
  if (problems.found.length > before) return;
  const reason = impossibleStep(journey, step, scope);
  if (reason === null) return;
  problems.add(place, "STEP_IMPOSSIBLE", `the step ${quote(step.id)} can never be met: ${reason}`);
}
