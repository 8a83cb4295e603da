import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { connect } from "../../../src/db/connect.js";
import { createEmptyDatabase } from "../../support/database.js";
import { freePort } from "../../support/free-port.js";

const program = path.resolve(import.meta.dirname, "../../../bin/svc-server.js");
/** The lock that a migrating process holds (src/db/migrate/migrate.ts). */
const MIGRATE_LOCK = "7205759403793";

it("| `GET /startupz` | startup completed; returns 503 otherwise |: the process, while it waits to migrate its database", async () => {
  const db = await createEmptyDatabase();
  onTestFinished(() => db.drop());
  const held = connect(db.url, { max: 1, applicationName: "svc test lock" });
  onTestFinished(() => held.end());
  await held.unsafe(`select pg_advisory_lock(${MIGRATE_LOCK})`);
  const port = await freePort();
  const child = spawn(process.execPath, [program, "start"], {
    env: {
      PATH: process.env["PATH"],
      DATABASE_URL: db.url,
      SVC_PORT: String(port),
      SVC_SECRET: "x".repeat(32),
      LOG_LEVEL: "silent",
    },
    stdio: "ignore",
  });
  onTestFinished(async () => {
    if (child.exitCode === null) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
  });
  const status = async (probe: string) => (await fetch(`http://127.0.0.1:${port}${probe}`)).status;
  await vi.waitFor(async () => expect(await status("/startupz")).toBe(503), { timeout: 20_000 });
  expect([await status("/livez"), await status("/readyz")]).toEqual([200, 503]);
  await held.unsafe(`select pg_advisory_unlock(${MIGRATE_LOCK})`);
  await vi.waitFor(async () => expect(await status("/startupz")).toBe(200), { timeout: 30_000 });
});
