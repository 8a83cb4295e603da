import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { connect } from "../../src/db/connect.js";
import { startWorker } from "../../src/tasks/worker.js";
import { createDatabase, type TestDatabase } from "../support/database.js";
import { runLog } from "../support/run-log.js";

let db: TestDatabase;
beforeAll(async () => {
  db = await createDatabase();
});
afterAll(() => db.drop());

it("a worker whose tick has no answer says that it is stuck, and recovers where the answer comes after all", async () => {
  const sql = connect(db.url, { max: 4, applicationName: "svc test worker" });
  const onStalled = vi.fn();
  // The tick waits for this lock, as it would for an answer that never comes.
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  let blocked: Promise<unknown> = Promise.resolve();
  await new Promise<void>((locked) => {
    blocked = db.sql.begin(async (tx) => {
      await tx`lock table svc.workers in access exclusive mode`;
      locked();
      await released;
    });
  });
  const worker = await startWorker({
    databaseUrl: db.url,
    useRoles: false,
    sql,
    settleSeconds: 30,
    attemptDays: 30,
    onRecompute: () => undefined,
    concurrency: 1,
    logger: runLog(),
    onStalled,
    silenceMsMax: 200,
  });
  await vi.waitFor(() => expect(onStalled).toHaveBeenCalledOnce());
  release();
  await blocked;
  await vi.waitFor(async () => expect(await db.sql`select from svc.workers`).toHaveLength(1), { timeout: 10_000 });
  await worker.stop();
  await sql.end();
});
