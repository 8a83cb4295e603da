/** Waits until evaluation, or what keys have used, has caught up with what was accepted. */
import { setTimeout as delay } from "node:timers/promises";
import { DemoFailure } from "../src/demo/failure.js";
import type { Server } from "./stage/server.js";

const POLL_MS = 50;
/** There is no limit in all, because nobody knows how much was sent; there is one for standing still. */
const STALL_MS = 120_000;

/** Resolves once no operation waits for a worker. What is set aside, or lies ahead, does not: the verification finds it. */
export async function evaluationCaughtUp(server: Server, signal: AbortSignal): Promise<void> {
  let moved = { waiting: -1, at: performance.now() };
  for (;;) {
    const [{ waiting }] = await server.query(
      (sql) => sql<[{ waiting: number }]>`select count(*)::integer as waiting from svc.inbox where not_before is null`,
    );
    if (waiting === 0) return;
    if (waiting !== moved.waiting) moved = { waiting, at: performance.now() };
    if (performance.now() - moved.at > STALL_MS)
      throw new DemoFailure(`evaluation stands still: ${waiting} operations have waited for ${STALL_MS / 1_000} s`);
    await delay(POLL_MS, undefined, { signal });
  }
}

const USAGE_JOB = "faults";

/** Has what keys have used compared with what is stored, as each minute does, and resolves once that was done. */
export async function usageCaughtUp(server: Server, signal: AbortSignal): Promise<void> {
  await server.query(
    (sql) => sql`select graphile_worker.add_job('count_trends', job_key => ${USAGE_JOB}, max_attempts => 25)`,
  );
  const since = performance.now();
  for (;;) {
    const [{ left }] = await server.query(
      (sql) => sql<[{ left: number }]>`
        select count(*)::integer as left from graphile_worker._private_jobs as j where j.key = ${USAGE_JOB}`,
    );
    if (left === 0) return;
    if (performance.now() - since > STALL_MS)
      throw new DemoFailure(`usage is not compared: its job has not ended for ${STALL_MS / 1_000} s`);
    await delay(POLL_MS, undefined, { signal });
  }
}
