import { expect, it, vi } from "vitest";
import { useDatabase } from "../support/database.js";
import { startTestWorker } from "./support/worker.js";

const db = useDatabase();

it("a worker whose tick has no answer says that it is stuck, and recovers where the answer comes after all", async () => {
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
  await startTestWorker(db, { onStalled, silenceMsMax: 200 });
  await vi.waitFor(() => expect(onStalled).toHaveBeenCalledOnce());
  release();
  await blocked;
  await vi.waitFor(async () => expect(await db.sql`select from svc.workers`).toHaveLength(1), { timeout: 10_000 });
});
