import { expect, it, onTestFinished, vi } from "vitest";
import { readConfig } from "../../src/server/config.js";
import { openHttp } from "../../src/server/http-role.js";
import { startProxy } from "../http/ingest/vanishing-proxy.js";
import { createDatabase } from "../support/database.js";
import { runLog } from "../support/run-log.js";
import { createTenant } from "../support/tenant.js";

const METRICS_TOKEN = "the-token-of-the-tests-of-metrics";
/** A little longer than the longest statement may take. */
const SILENT_MS = 6 * 60_000;

it("metrics, explanations and exports use a vanished database machine's successor, although no connection was closed", async () => {
  // The checks for silence, so that minutes of it pass at once.
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  const db = await createDatabase();
  const proxy = await startProxy(db.url);
  const { config } = readConfig({ SVC_PORT: "0", SVC_METRICS_TOKEN: METRICS_TOKEN });
  const http = await openHttp(config, runLog());
  onTestFinished(async () => {
    vi.useRealTimers();
    await proxy.stop();
    await http.stop();
    await db.drop();
  });
  http.serve({ databaseUrl: proxy.url, useRoles: true, secret: "a secret of the tests, long enough" });
  const { admin } = await createTenant(db.sql, http.address);
  const up = async () => {
    const reply = await fetch(`${http.address}/metrics`, { headers: { Authorization: `Bearer ${METRICS_TOKEN}` } });
    return /^svc_database_up (.)$/m.exec(await reply.text())?.[1];
  };
  const statusOf = async (part: string) =>
    (await admin("GET", `/projects/app/customers/nobody/${part}?env=test`)).status;
  const parts = ["explanation", "export"];
  const all = () => Promise.all([up(), ...parts.map(statusOf)]);
  expect(await all()).toEqual(["1", 404, 404]);
  proxy.vanish();
  expect(await up()).toBe("0");
  proxy.replace();
  vi.advanceTimersByTime(SILENT_MS * 2);
  await expect.poll(all, { timeout: 20_000 }).toEqual(["1", 404, 404]);
});
