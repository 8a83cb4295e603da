import type { JourneyCounts, JourneyTimes, ListedRun, Of } from "../../console/source.js";
import type { Effect } from "../../engine/index.js";
import { ApiError, invalidField } from "../../http/errors.js";
import { isDuration, parseDuration } from "../../model/snapshot/duration.js";
import type { Stand } from "./stand.js";

type Run = Extract<Effect, { kind: "journey" }>["run"];
type RunOf = Run & { customerId: string; journeyId: string };

/** Runs of journeys as they stand, by customer; of those that began within `since`. */
function runsOf({ population, now }: Stand, { since }: Of): RunOf[] {
  if (since !== undefined && !isDuration(since)) {
    throw invalidField("since", since, "`since` is not a duration.", "Write for example 30d.");
  }
  const from = since === undefined ? -Infinity : now - parseDuration(since);
  const runs = new Map<string, RunOf>();
  for (const customerId of population.customerIds) {
    for (const effect of population.effects(customerId)) {
      if (effect.kind !== "journey") continue;
      const { journey: journeyId, run } = effect;
      runs.set(JSON.stringify([customerId, journeyId, run.run]), { ...run, customerId, journeyId });
    }
  }
  return [...runs.values()].filter(({ startedAt }) => startedAt >= from);
}

/** All journeys of the model, by counts. */
export function journeys(stand: Stand, of: Of): { journeys: JourneyCounts[] } {
  const runs = runsOf(stand, of);
  const counts = stand.engine.snapshot.journeys.map(({ id, steps }) => {
    const own = runs.filter(({ journeyId }) => journeyId === id);
    const count = (status: Run["status"], step?: string) =>
      own.filter((run) => run.status === status && (step === undefined || run.currentStep === step)).length;
    return {
      journeyId: id,
      declared: true,
      ...{ active: count("active"), complete: count("complete"), expired: count("expired") },
      steps: steps.map((step) => ({
        stepId: step.id,
        declared: true,
        active: count("active", step.id),
        expired: count("expired", step.id),
      })),
    };
  });
  return { journeys: counts };
}

/** How long the steps of a journey took, of all runs. */
export function journeyTimes(stand: Stand, of: Of): JourneyTimes {
  const steps = stepsOf(stand, of);
  const runs = runsOf(stand, of).filter(({ journeyId }) => journeyId === of["journeyId"]);
  const taken = new Map<string, number[]>();
  for (const run of runs) {
    let before = run.startedAt;
    const done = steps.flatMap((id) => (id in run.steps ? [{ id, at: run.steps[id]!.completedAt }] : []));
    for (const { id, at } of done.toSorted((a, b) => a.at - b.at)) {
      taken.set(id, [...(taken.get(id) ?? []), (at - before) / 1000]);
      before = at;
    }
  }
  const whole = runs.flatMap(({ startedAt, completedAt }) =>
    completedAt === null ? [] : (completedAt - startedAt) / 1000,
  );
  return {
    runs: runs.length,
    secondsToComplete: whole.length === 0 ? null : { median: medianOf(whole) },
    steps: [...taken].map(([stepId, seconds]) => ({
      stepId,
      completed: seconds.length,
      secondsFromPrevious: { median: medianOf(seconds) },
    })),
  };
}

/** The middle of values, of which there is one at least. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2;
}

/** The runs of a journey, filtered as the service does. */
export function journeyRuns(stand: Stand, of: Of): ListedRun[] {
  const { journeyId, status, step, completed } = of;
  stepsOf(stand, of);
  return runsOf(stand, of)
    .filter((run) => run.journeyId === journeyId)
    .filter((run) => status === undefined || run.status === status)
    .filter((run) => step === undefined || (run.status !== "complete" && run.currentStep === step))
    .filter((run) => completed === undefined || completed in run.steps)
    .map(({ customerId, run, status, currentStep, startedAt, completedAt, expiredAt }) => ({
      ...{ customerId, run, status, currentStep, startedAt: iso(startedAt) },
      completedAt: completedAt === null ? null : iso(completedAt),
      expiredAt: expiredAt === null ? null : iso(expiredAt),
    }));
}

const iso = (instant: number) => new Date(instant).toISOString();

/** The steps of a journey in the author's order. Throws JOURNEY_NOT_FOUND. */
function stepsOf({ engine }: Stand, { journeyId = "" }: Of): string[] {
  const journey = engine.snapshot.journeys.find(({ id }) => id === journeyId);
  if (journey !== undefined) return journey.steps.map(({ id }) => id);
  throw new ApiError(404, "JOURNEY_NOT_FOUND", { message: `There is no journey "${journeyId}" in the model.` });
}
