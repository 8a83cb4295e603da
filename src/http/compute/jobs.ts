import { compareSnapshots } from "../../model/compare/compare.js";
import { EMPTY_SNAPSHOT, type Snapshot } from "../../model/snapshot/types.js";
import { mapKeptCalls } from "../admin/map-kept-calls.js";
import { type AskStored, explainStored } from "../admin/explain-stored.js";
import { travelStored } from "../admin/travel-stored.js";
import { readSubmission } from "../admin/submitted-snapshot.js";
import { ApiError } from "../errors.js";
import { mapCalls } from "../ingest/map-calls.js";
import { checkBatch, sendBatch } from "../ingest/send-batch.js";

/** The differences between two versions as JSON. `document` has the snapshots from the database, which were validated when they were deployed. */
function compareVersions(document: string): string {
  type Stored = { version: string; snapshot: Snapshot };
  const { from, to } = JSON.parse(document) as { from: Stored | null; to: Stored };
  const changes = compareSnapshots(from?.snapshot ?? EMPTY_SNAPSHOT, to.snapshot);
  return JSON.stringify({ from: from?.version ?? null, to: to.version, changes });
}

/** The jobs of the thread by name. */
const JOBS = {
  checkBatch,
  mapCalls,
  mapKeptCalls,
  sendBatch,
  readSubmission,
  explainStored,
  travelStored,
  compareVersions,
};

export type JobName = keyof typeof JOBS;
export type JobInput<Name extends JobName> = Parameters<(typeof JOBS)[Name]>[0];
export type JobOutput<Name extends JobName> = Awaited<ReturnType<(typeof JOBS)[Name]>>;

/** A message to the thread: a job to run. */
export interface ComputeJob {
  id: number;
  name: JobName;
  input: unknown;
}

/** The answer to a question of a job. */
export type JobAnswer = { id: number; call: number } & ({ output: unknown } | { failed: true });

/** A message from the thread: the result of a job, or a question of a job that still runs. */
export type JobReport = { id: number } & (
  | { output: unknown }
  | { refused: ConstructorParameters<typeof ApiError> }
  // Cloning an error keeps only its message and stack; errors of the database have further members.
  | { error: unknown; members: Record<string, unknown> }
  | { call: number; question: string; input: unknown }
);

/** Runs a job and reports its result. */
export async function runComputeJob({ id, name, input }: ComputeJob, ask: AskStored): Promise<JobReport> {
  try {
    const job = JOBS[name] as (input: unknown, ask: AskStored) => unknown;
    return { id, output: await job(input, ask) };
  } catch (error) {
    if (!(error instanceof ApiError)) return { id, error, members: scalarsOf(error) };
    const { status, code, headers, detail, message } = error;
    return { id, refused: [status, code, { headers, ...detail, message }] };
  }
}

/** The buffers of a report that are transferred instead of copied, if its output consists of pieces of bytes. */
export function transferablesOf(report: JobReport): ArrayBuffer[] {
  if (!("output" in report) || !Array.isArray(report.output)) return [];
  return report.output.flatMap((piece) => (piece instanceof Uint8Array ? [piece.buffer as ArrayBuffer] : []));
}

function scalarsOf(error: unknown): Record<string, unknown> {
  const members = Object.entries((error ?? {}) as Record<string, unknown>);
  return Object.fromEntries(members.filter(([, value]) => typeof value === "string" || typeof value === "number"));
}
