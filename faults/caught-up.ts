/** Waits until evaluation has caught up with what was accepted. */
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
