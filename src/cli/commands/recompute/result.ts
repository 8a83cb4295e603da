import type { JobDifference, RecomputeJob } from "../../client/answers.js";
import type { ApiAnswer } from "../../client/api.js";
import type { Context } from "../../core/command.js";
import { jobInWords } from "./job-report.js";
import { untilCompleted } from "./job-wait.js";
import { differencesOf, documentOf } from "./jobs.js";
import { shellWord } from "../../output/text.js";

/** How many customers a person is shown. */
const SHOWN = 10;

/** Waits for the end of a recompute that was queued, and prints what came of it. */
export async function printResult(context: Context, job: RecomputeJob): Promise<void> {
  const completed = await untilCompleted(context, job, {
    path: ["recomputes", job.id],
    untouched: ", and nothing else",
    onDeadLetter: `mend the cause, then go on where it ended: ${commandFor("retry", job)}`,
    onStop: `see how far it is: ${commandFor("status", job)}`,
  });
  await printJob(context, completed, { customers: true });
}

/** Prints a recompute: for people with the customers that change most, with `--json` all of them where that is asked for. */
export async function printJob(
  context: Context,
  job: RecomputeJob,
  { customers }: { customers: boolean },
): Promise<void> {
  const { out } = context;
  const path = ["recomputes", job.id];
  if (out.json && customers) return out.stream(documentOf(job, differencesOf(context, path)));
  const top: JobDifference[] = [];
  if (!out.json && job.result.customersChanged > 0) {
    for await (const { items } of differencesOf(context, path, SHOWN)) top.push(...items);
  }
  out.result({ document: job }, () => [jobInWords(out, job, top), ...nextStep(job)].join("\n\n"));
}

function nextStep(job: RecomputeJob): string[] {
  if (job.status === "dead_letter") return [`Once the cause is mended: ${commandFor("retry", job)}`];
  if (job.status !== "completed" || !job.dry_run) return [];
  if (job.result.customersChanged === 0 && job.result.rulesRemoved === 0) return ["Nothing would change."];
  return [`Nothing was written. To do exactly this: svc recompute --from ${job.id} --env ${job.environment}`];
}

function commandFor(verb: "status" | "retry", { id, environment }: RecomputeJob): string {
  return `svc recompute ${verb} ${shellWord(id)} --env ${environment}`;
}

/** Tells of a recompute that nobody waits for. */
export function printQueued({ out }: Context, answer: ApiAnswer<RecomputeJob>): void {
  const job = answer.data;
  out.result(answer, () => `Queued ${job.id}. See how far it is: ${commandFor("status", job)}`);
}
