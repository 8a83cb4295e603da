import { LIMITS } from "./limits.js";
import type { Placed, ReadList } from "./list.js";
import { readList } from "./list.js";
import type { Problems } from "./problem.js";
import { at, quote } from "./problem.js";
import type { Scope } from "./scope.js";
import { checkDuration } from "./scope.js";
import { JOURNEY, STEP } from "./shapes.js";
import { impossibleStep } from "./steps.js";
import type { Journey, JourneyStep } from "./types.js";
import { checkCondition } from "./validate-condition.js";

export interface ReadJourneys extends ReadList<Journey> {
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
