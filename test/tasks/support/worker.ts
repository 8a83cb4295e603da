import { onTestFinished } from "vitest";
import { connect } from "../../../src/db/connect.js";
import { startWorker, type RunningWorker, type WorkerOptions } from "../../../src/tasks/worker.js";
import type { TestDatabase } from "../../support/database.js";
import { runLog } from "../../support/run-log.js";

/** Starts a worker, until the end of the test. */
export async function startTestWorker(db: TestDatabase, options: Partial<WorkerOptions> = {}): Promise<RunningWorker> {
  const role = options.useRoles ? { role: "svc_worker" } : {};
  const sql = connect(db.url, { max: 10, applicationName: "svc test worker", ...role });
  const worker = await startWorker({
    databaseUrl: db.url,
    useRoles: false,
    sql,
    settleSeconds: 0,
    attemptDays: 30,
    onRecompute: () => undefined,
    concurrency: 1,
    logger: runLog(),
    onStalled: () => undefined,
    ...options,
  });
  onTestFinished(async () => {
    await worker.stop();
    await sql.end();
  });
  return worker;
}
