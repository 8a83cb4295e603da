import { once } from "node:events";
import { setTimeout } from "node:timers/promises";

import { Presets, SingleBar } from "cli-progress";

import type { JobDifference, RecomputeOrPreview } from "../../../http/admin/answers.js";
import type { ApiAnswer } from "../../client/api.js";
import { isRetryable, pauseAfter, TRIES } from "../../client/pages.js";
import type { Context } from "../../core/command.js";
import { failure } from "../../core/errors.js";
import { interruption } from "../../output/interruption.js";
import type { Io, Out } from "../../output/out.js";
import { formatNumber, printable, shellWord } from "../../../words/text.js";
import { jobInWords } from "./job-report.js";
import { differencesOf, documentOf, JOB_MEMBERS, jobFailure } from "./jobs.js";

/** How many customers a person is shown. */
const SHOWN = 10;

/** Waits for the end of a recompute that was queued, and prints what came of it. */
export async function printResult(context: Context, job: RecomputeOrPreview): Promise<void> {
  const completed = await untilCompleted(context, job, {
    path: ["recomputes", job.id],
    members: JOB_MEMBERS,
    untouched: ", and nothing else",
    onDeadLetter: `mend the cause, then go on where it ended: ${commandFor(context, "retry", job)}`,
    onStop: `see how far it is: ${commandFor(context, "status", job)}`,
  });
  await printRecomputeJob(context, completed, { customers: true });
}

/** Prints a recompute: for people with the customers that change most, with `--json` all of them where that is asked for. */
export async function printRecomputeJob(
  context: Context,
  job: RecomputeOrPreview,
  { customers }: { customers: boolean },
): Promise<void> {
  const { out } = context;
  const path = ["recomputes", job.id];
  if (out.json && customers) return out.stream(documentOf(job, differencesOf(context, path)));
  const top: JobDifference[] = [];
  if (!out.json && job.result.customersChanged > 0) {
    for await (const { items } of differencesOf(context, path, SHOWN)) top.push(...items);
  }
  out.result({ document: job }, () => [jobInWords(out, job, top), ...nextStep(context, job)].join("\n\n"));
}

function nextStep(context: Context, job: RecomputeOrPreview): string[] {
  if (job.status === "dead_letter") return [`Once the cause is fixed: ${commandFor(context, "retry", job)}`];
  if (job.status !== "completed" || !job.dry_run) return [];
  if (job.result.customersChanged === 0 && job.result.rulesRemoved === 0) return ["Nothing would change."];
  return [`Nothing was written. To do exactly this: ${commandFor(context, "--from", job)}`];
}

function commandFor(
  { out }: Context,
  what: "status" | "retry" | "--from",
  { id, environment }: RecomputeOrPreview,
): string {
  return out.typed(`svc recompute ${what} ${shellWord(id)} --env ${environment}`);
}

/** Tells of a recompute that nobody waits for. */
export function printQueued(context: Context, answer: ApiAnswer<RecomputeOrPreview>): void {
  const job = answer.data;
  context.out.result(answer, () => `Queued ${job.id}. See how far it is: ${commandFor(context, "status", job)}`);
}

/** What every job is known by while it is waited for. */
type WaitedJob = Pick<RecomputeOrPreview, "id" | "status" | "progress" | "error" | "nextAttemptAt">;

interface JobWait<Job> {
  path: readonly string[];
  /** Those that every answer with the job must have. */
  members: readonly (keyof Job & string)[];
  /** What Ctrl+C does not do. */
  untouched: string;
  /** What to do about a job that was given up. */
  onDeadLetter: string;
  /** How to learn of the job's end after waiting for it was stopped. */
  onStop: string;
}

/** Waits until a job has ended, and shows how far it is. Ctrl+C ends the waiting, not the job. @throws {UserError} DEAD_LETTER, STOPPED_WAITING */
export async function untilCompleted<Job extends WaitedJob>(
  context: Context,
  first: Job,
  waiting: JobWait<Job>,
): Promise<Job> {
  const job = hasEnded(first) ? first : await untilEnded(context, first, waiting);
  if (job.status === "dead_letter") {
    const message = jobFailure(job) ?? `${job.id} was given up`;
    throw failure("DEAD_LETTER", message, waiting.onDeadLetter, undefined, { value: job });
  }
  if (job.status !== "completed") {
    const message = `waiting was stopped; ${job.id} goes on without you`;
    throw failure("STOPPED_WAITING", message, waiting.onStop, undefined, { value: job });
  }
  return job;
}

function hasEnded({ status }: WaitedJob): boolean {
  return status === "completed" || status === "dead_letter";
}

/** The job at its end, or as it was when waiting for it was stopped. */
async function untilEnded<Job extends WaitedJob>(
  { api, io, out }: Context,
  first: Job,
  { path, members, untouched }: JobWait<Job>,
): Promise<Job> {
  const progress = jobProgress(io, out);
  const { signal, release } = interruption();
  const stopped = once(signal, "abort");
  const isStopped = (): boolean => signal.aborted;
  const what = first.status === "queued" ? "Queued" : "Waiting for";
  out.note(`${what} ${first.id}. Ctrl+C stops waiting for it${untouched}.`);
  let job = first;
  const look = async (looks: number): Promise<void> => {
    await setTimeout(pauseAfter(looks), undefined, { signal });
    job = (await api.get<Job>(path, members, {}, signal)).data;
  };
  try {
    let failures = 0;
    for (let looks = 0; !hasEnded(job) && !isStopped(); looks++) {
      progress.show(job);
      try {
        await Promise.race([look(looks), stopped]);
        failures = 0;
      } catch (error) {
        if (isStopped()) break;
        if (!isRetryable(error) || ++failures >= TRIES) throw error;
      }
    }
    progress.show(job);
    return job;
  } finally {
    release();
    progress.stop();
  }
}

/** Shows how far a job is: a bar where standard error is a terminal; elsewhere only what somebody must know who reads it later. */
function jobProgress(io: Io, out: Out) {
  let bar: SingleBar | undefined;
  /** The first look at it while it ran: when, and how far it was. */
  let since: { at: number; done: number } | undefined;
  /** The failure that was told last. */
  let told = "";

  function draw(job: WaitedJob): void {
    const { customersTotal: total, customersDone: done } = job.progress;
    if (total === null) return;
    since ??= { at: io.now(), done };
    const seconds = (io.now() - since.at) / 1000;
    const isMoving = seconds >= 1 && done > since.done;
    const rate = isMoving ? ` | ${formatNumber(Math.round((done - since.done) / seconds))}/s` : "";
    const payload = { rate, note: noteOf(out, job) };
    if (bar === undefined) {
      const format = "{bar} {percentage} % | {value}/{total} customers{rate}{note}";
      bar = new SingleBar({ format, stream: io.stderr, barsize: 30, hideCursor: true }, Presets.shades_classic);
      bar.start(Math.max(1, total), done, payload);
    }
    // Of nobody, all are done as soon as it is completed.
    bar.update(job.status === "completed" ? Math.max(1, total) : Math.min(done, total), payload);
  }

  function tellFailure(job: WaitedJob): void {
    const note = noteOf(out, job);
    if (note === "" || note === told) return;
    told = note;
    out.note(`${job.id}${note}`);
  }

  return {
    show: io.stderr.isTTY === true ? draw : tellFailure,
    stop: () => bar?.stop(),
  };
}

function noteOf(out: Out, { status, error, nextAttemptAt }: WaitedJob): string {
  if (status !== "retrying") return "";
  const when = nextAttemptAt === null ? "again" : `again at ${out.at(nextAttemptAt)}`;
  return ` | it failed and is tried ${when}: ${printable(error ?? "unknown")}`;
}
