import { once } from "node:events";
import { setTimeout } from "node:timers/promises";

import { Presets, SingleBar } from "cli-progress";

import type { JobDifference, RecomputeOrPreview } from "../../../http/admin/answers.js";
import type { ApiAnswer, Members } from "../../client/api.js";
import { isRetryable, pauseAfter, TRIES } from "../../client/pages.js";
import type { Context } from "../../core/command.js";
import { failure } from "../../core/errors.js";
import { interruption } from "../../output/interruption.js";
import type { Io, Out } from "../../output/out.js";
import { formatNumber, printable, shellWord } from "../../../words/text.js";
import { jobInWords } from "./job-report.js";
import { differencesOf, documentOf, JOB_MEMBERS, jobFailure } from "./jobs.js";

/** Customers shown to people. */
const SHOWN = 10;

/** Waits for the end of a queued recompute, and prints its result. */
export async function printResult(context: Context, job: RecomputeOrPreview): Promise<void> {
  const completed = await waitForJob(context, job, {
    path: ["recomputes", job.id],
    members: JOB_MEMBERS,
    untouched: ", and nothing else",
    onDeadLetter: `resume where it ended: ${commandFor(context, "retry", job)}`,
    onStop: `see its progress: ${commandFor(context, "status", job)}`,
  });
  await printRecomputeJob(context, completed, { customers: true });
}

/** Prints a recompute: for people with the customers that change most, with `--json` all of them if `customers` is set. */
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
  if (job.status === "dead_letter") return [retryHint(context, job)];
  if (job.status !== "completed" || !job.dry_run) return [];
  if (job.result.customersChanged === 0 && job.result.rulesRemoved === 0) return ["Nothing would change."];
  return [`Nothing was written. To do exactly this: ${commandFor(context, "--from", job)}`];
}

/** How to resume a job that was given up or cancelled. */
export function retryHint(context: Context, job: RecomputeOrPreview): string {
  return `To resume it: ${commandFor(context, "retry", job)}`;
}

function commandFor(
  { out }: Context,
  what: "status" | "retry" | "--from",
  { id, environment }: RecomputeOrPreview,
): string {
  return out.typed(`svc recompute ${what} ${shellWord(id)} --env ${environment}`);
}

/** Prints that a recompute was queued, without waiting for it. */
export function printQueued(context: Context, answer: ApiAnswer<RecomputeOrPreview>): void {
  const job = answer.data;
  context.out.result(answer, () => `Queued ${job.id}. See its progress: ${commandFor(context, "status", job)}`);
}

/** The members of a job that waiting for it needs. */
type WaitedJob = Pick<RecomputeOrPreview, "id" | "status" | "progress" | "error" | "nextAttemptAt">;

interface JobWait<Job> {
  path: readonly string[];
  /** The members that every answer with the job must have. */
  members: Members<Job>;
  /** The end of the note on Ctrl+C: what stopping leaves untouched. */
  untouched: string;
  /** The fix for a job that was given up. */
  onDeadLetter: string;
  /** The fix after waiting was stopped: how to learn of the job's end. */
  onStop: string;
}

/** Waits until a job has ended, and shows its progress. Ctrl+C ends the waiting, not the job. @throws {UserError} DEAD_LETTER, STOPPED_WAITING */
export async function waitForJob<Job extends WaitedJob>(
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
    const message = `waiting was stopped; ${job.id} continues`;
    throw failure("STOPPED_WAITING", message, waiting.onStop, undefined, { value: job });
  }
  return job;
}

function hasEnded({ status }: WaitedJob): boolean {
  return status === "completed" || status === "dead_letter";
}

/** The job at its end, or its last known state when waiting was stopped. */
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
  const poll = async (polls: number): Promise<void> => {
    await setTimeout(pauseAfter(polls), undefined, { signal });
    job = (await api.get<Job>(path, members, {}, signal)).data;
  };
  try {
    let failures = 0;
    for (let polls = 0; !hasEnded(job) && !isStopped(); polls++) {
      progress.show(job);
      try {
        await Promise.race([poll(polls), stopped]);
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

/** Shows a job's progress: a bar if standard error is a terminal; otherwise only failures, for logs. */
function jobProgress(io: Io, out: Out) {
  let bar: SingleBar | undefined;
  /** The time and progress when the job was first seen with a known total. */
  let since: { at: number; done: number } | undefined;
  /** The failure that was noted last. */
  let noted = "";

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
    // A job without customers shows a full bar once it is completed.
    bar.update(job.status === "completed" ? Math.max(1, total) : Math.min(done, total), payload);
  }

  function noteFailure(job: WaitedJob): void {
    const note = noteOf(out, job);
    if (note === "" || note === noted) return;
    noted = note;
    out.note(`${job.id}${note}`);
  }

  return {
    show: io.stderr.isTTY === true ? draw : noteFailure,
    stop: () => bar?.stop(),
  };
}

function noteOf(out: Out, { status, error, nextAttemptAt }: WaitedJob): string {
  if (status !== "retrying") return "";
  const when = nextAttemptAt === null ? "again" : `again at ${out.at(nextAttemptAt)}`;
  return ` | it failed and will be tried ${when}: ${printable(error ?? "unknown")}`;
}
