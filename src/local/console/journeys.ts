import type { QuestionParams } from "../../console/source.js";
import type { Effect } from "../../engine/index.js";
import type { JourneyCounts, JourneyTimes, ListedRun } from "../../http/admin/answers.js";
import { ApiError } from "../../http/errors.js";
import { earliestOf, isoTime, quartilesOf, type PopulationView } from "./population-view.js";

type Run = Extract<Effect, { kind: "journey" }>["run"];
type RunOf = Run & { customerId: string; journeyId: string };

/** The present state of journeys' runs, by customer, without those that began before `since`. */
function runsOf(view: PopulationView, of: QuestionParams): RunOf[] {
  const { population } = view;
  const from = earliestOf(view, of);
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

/** The counts of all journeys of the model. */
export function localJourneys(view: PopulationView, of: QuestionParams): { journeys: JourneyCounts[] } {
  const runs = runsOf(view, of);
  const counts = view.engine.snapshot.journeys.map(({ id, steps }) => {
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

/** How long the steps of a journey took, over all runs. */
export function localJourneyTimes(view: PopulationView, of: QuestionParams): JourneyTimes {
  const steps = stepsOf(view, of);
  const since = earliestOf(view, of);
  const runs = runsOf(view, of).filter(({ journeyId }) => journeyId === of["journeyId"]);
  const taken = new Map<string, number[]>();
  for (const run of runs) {
    let before = run.startedAt;
    const done = steps.flatMap((id) => (Object.hasOwn(run.steps, id) ? [{ id, at: run.steps[id]!.completedAt }] : []));
    for (const { id, at } of done.toSorted((a, b) => a.at - b.at)) {
      taken.set(id, [...(taken.get(id) ?? []), (at - before) / 1000]);
      before = at;
    }
  }
  const whole = runs.flatMap(({ startedAt, completedAt }) =>
    completedAt === null ? [] : (completedAt - startedAt) / 1000,
  );
  return {
    journeyId: of["journeyId"]!,
    since: since === -Infinity ? null : isoTime(since),
    runs: runs.length,
    secondsToComplete: whole.length === 0 ? null : quartilesOf(whole),
    steps: [...taken]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([stepId, seconds]) => ({
        stepId,
        completed: seconds.length,
        secondsFromPrevious: quartilesOf(seconds),
      })),
  };
}

/** The runs of a journey, filtered as the service does. */
export function localJourneyRuns(view: PopulationView, of: QuestionParams): ListedRun[] {
  const { journeyId, status, step, completed } = of;
  stepsOf(view, of);
  return runsOf(view, of)
    .filter((run) => run.journeyId === journeyId)
    .filter((run) => status === undefined || run.status === status)
    .filter((run) => step === undefined || (run.status !== "complete" && run.currentStep === step))
    .filter((run) => completed === undefined || Object.hasOwn(run.steps, completed))
    .map(({ customerId, run, status, currentStep, startedAt, completedAt, expiredAt }) => ({
      ...{ customerId, run, status, currentStep, startedAt: isoTime(startedAt) },
      completedAt: completedAt === null ? null : isoTime(completedAt),
      expiredAt: expiredAt === null ? null : isoTime(expiredAt),
    }));
}

/** The steps of a journey in the author's order. Throws JOURNEY_NOT_FOUND. */
function stepsOf({ engine }: PopulationView, { journeyId = "" }: QuestionParams): string[] {
  const journey = engine.snapshot.journeys.find(({ id }) => id === journeyId);
  if (journey !== undefined) return journey.steps.map(({ id }) => id);
  throw new ApiError(404, "JOURNEY_NOT_FOUND", { message: `There is no journey "${journeyId}" in the model.` });
}
