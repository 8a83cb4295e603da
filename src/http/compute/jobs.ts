import { compareVersions } from "../admin/compare-versions.js";
import { explainStored } from "../admin/explain-stored.js";
import { readSubmission } from "../admin/submitted-snapshot.js";
import { checkBatch } from "../ingest/batch-body.js";
import { ApiError } from "../errors.js";

/** What is done in a thread, by name. */
const JOBS = { checkBatch, readSubmission, explainStored, compareVersions };

export type JobName = keyof typeof JOBS;
export type JobInput<Name extends JobName> = Parameters<(typeof JOBS)[Name]>[0];
export type JobOutput<Name extends JobName> = Awaited<ReturnType<(typeof JOBS)[Name]>>;

/** What the thread is told to do. */
export interface Job {
  id: number;
  name: JobName;
  input: unknown;
}

/** The answer to a question of a job. */
export type JobAnswer = { id: number; call: number } & ({ output: unknown } | { failed: true });

/** What the thread tells: how a job ended, or what it asks. */
export type JobReport = { id: number } & (
  | { output: unknown }
  | { refused: ConstructorParameters<typeof ApiError> }
  | { error: unknown }
  | { call: number; question: string; input: unknown }
);

/** Asks whoever runs the job; never settles where that fails, because the job is over then. */
export type Ask = (question: string, input: unknown) => Promise<unknown>;

/** Does a job, and tells how it ended. */
export async function doJob({ id, name, input }: Job, ask: Ask): Promise<JobReport> {
  try {
    const job = JOBS[name] as (input: unknown, ask: Ask) => unknown;
    return { id, output: await job(input, ask) };
  } catch (error) {
    if (!(error instanceof ApiError)) return { id, error };
    const { status, code, headers, detail, message } = error;
    return { id, refused: [status, code, { headers, ...detail, message }] };
  }
}
