import type { RecomputeJob } from "../../client/answers.js";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";

import type { Context } from "../../core/command.js";
import { type LocalCode, UserError } from "../../core/errors.js";
import { interruption } from "../../output/interruption.js";
import { JobProgress } from "./job-progress.js";
import { JOB_MEMBERS, reasonOf } from "./jobs.js";
import { isTransient, pauseAfter, TRIES } from "../../client/retry-transient.js";

export interface JobWait {
  /** Of the job. */
  path: readonly string[];
  /** What Ctrl+C does not do. */
  untouched: string;
  /** What to do about a job that was given up. */
  onDeadLetter: string;
  /** How to learn of the job's end after waiting for it was stopped. */
  onStop: string;
}

/**
 * Waits until a job has ended, and shows meanwhile how far it is. Ctrl+C ends the waiting, not the job.
 *
 * @throws {UserError} DEAD_LETTER where it was given up, STOPPED_WAITING.
 */
export async function untilCompleted(context: Context, first: RecomputeJob, waiting: JobWait): Promise<RecomputeJob> {
  const { api, io, out } = context;
  const progress = new JobProgress(io, out);
  const { signal, release } = interruption();
  const stopped = once(signal, "abort");
  const isStopped = (): boolean => signal.aborted;
  out.note(`Queued ${first.id}. Ctrl+C stops waiting for it${waiting.untouched}.`);
  let job = first;
  const look = async (looks: number): Promise<void> => {
    await setTimeout(pauseAfter(looks), undefined, { signal });
    job = (await api.get<RecomputeJob>(waiting.path, JOB_MEMBERS, {}, signal)).data;
  };
  try {
    let failures = 0;
    for (let looks = 0; !isFinished(job) && !isStopped(); looks++) {
      progress.show(job);
      try {
        await Promise.race([look(looks), stopped]);
        failures = 0;
      } catch (error) {
        if (isStopped()) break;
        if (!isTransient(error) || ++failures >= TRIES) throw error;
      }
    }
    progress.show(job);
  } finally {
    release();
    progress.stop();
  }
  if (job.status === "dead_letter") {
    const message = reasonOf(job) ?? `${job.id} was given up`;
    throw new UserError("DEAD_LETTER" satisfies LocalCode, message, waiting.onDeadLetter, { value: job });
  }
  if (job.status !== "completed") {
    const message = `waiting was stopped; ${job.id} goes on without you`;
    throw new UserError("STOPPED_WAITING" satisfies LocalCode, message, waiting.onStop, { value: job });
  }
  return job;
}

function isFinished({ status }: RecomputeJob): boolean {
  return status === "completed" || status === "dead_letter";
}
