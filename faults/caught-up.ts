/** Waits until evaluation, or the usage of keys, has caught up with what was accepted. */
import { setTimeout as delay } from "node:timers/promises";
import { DemoFailure } from "../src/demo/failure.js";
import type { Server } from "./stage/server.js";

const POLL_MS = 50;
/** The total time has no limit, because the amount sent is unknown; only the time without progress has one. */
const STALL_MS = 120_000;

/** Resolves once no operation waits for a worker. Those set aside or in the future do not wait; the verification finds them. */
export async function evaluationCaughtUp(server: Server, signal: AbortSignal): Promise<void> {
  let progress = { waiting: -1, at: performance.now() };
  for (;;) {
    const [{ waiting }] = await server.query(
      (sql) => sql<[{ waiting: number }]>`select count(*)::integer as waiting from svc.inbox where not_before is null`,
    );
    if (waiting === 0) return;
    if (waiting !== progress.waiting) progress = { waiting, at: performance.now() };
    if (performance.now() - progress.at > STALL_MS)
      throw new DemoFailure(
        `evaluation makes no progress: ${waiting} operations have waited for ${STALL_MS / 1_000} s`,
      );
    await delay(POLL_MS, undefined, { signal });
  }
}

const USAGE_JOB = "faults";

/** Queues the job that compares the usage of keys with what is stored, which also runs each minute; resolves once it is done. */
export async function usageCaughtUp(server: Server, signal: AbortSignal): Promise<void> {
  await server.query(
    (sql) => sql`select graphile_worker.add_job('count_trends', job_key => ${USAGE_JOB}, max_attempts => 25)`,
  );
  const since = performance.now();
  for (;;) {
    const [{ jobs }] = await server.query(
      (sql) => sql<[{ jobs: number }]>`
        select count(*)::integer as jobs from graphile_worker._private_jobs as j where j.key = ${USAGE_JOB}`,
    );
    if (jobs === 0) return;
    if (performance.now() - since > STALL_MS)
      throw new DemoFailure(`the usage was not compared: its job has not ended within ${STALL_MS / 1_000} s`);
    await delay(POLL_MS, undefined, { signal });
  }
}
