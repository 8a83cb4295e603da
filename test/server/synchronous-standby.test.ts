import { rm } from "node:fs/promises";
import { expect, it, onTestFinished } from "vitest";
import { connect } from "../../src/db/connect.js";
import { startEmbedded } from "../../src/db/embedded/embedded.js";
import { migrate } from "../../src/db/migrate/migrate.js";
import { readConfig } from "../../src/server/config.js";
import { openHttp } from "../../src/server/http-role.js";
import { runLog } from "../support/run-log.js";
import { temporaryDirectory } from "../support/server.js";

const PATIENCE = { timeout: 30_000 };

it("a process is not ready while commits wait for a synchronous standby, and says so", async () => {
  // A server of its own: the setting is one of the whole server.
  const directory = await temporaryDirectory();
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const server = await startEmbedded(directory, { sync: false, settings: { shared_buffers: "16MB", fsync: "off" } });
  onTestFinished(() => server.stop());
  await migrate(server.url);
  const sql = connect(server.url, { max: 2, applicationName: "test", statementTimeoutMs: 0 });
  onTestFinished(() => sql.end());
  const http = await openHttp(readConfig({ SVC_PORT: "0" }).config, runLog());
  http.serve({ databaseUrl: server.url, useRoles: true, secret: "a secret of the tests, long enough" });
  onTestFinished(() => http.stop());
  const readiness = async () => {
    const answer = await fetch(`${http.address}/readyz?exclude=worker`);
    return `${answer.status} ${await answer.text()}`;
  };
  expect(await readiness()).toBe('200 {"status":"ok"}');

  const setStandby = async (name: string) => {
    await sql.unsafe(`alter system set synchronous_standby_names = '${name}'`);
    await sql`select pg_reload_conf()`;
  };
  await setStandby("nobody");
  const writer = connect(server.url, { max: 1, applicationName: "test", statementTimeoutMs: 0 });
  onTestFinished(() => writer.end());
  const written = writer`create table svc.waits ()`.then(() => "written");
  await expect
    .poll(readiness, PATIENCE)
    .toMatch(/^503 .*Commits wait for a synchronous standby that does not answer\./);
  await setStandby("");
  expect(await written).toBe("written");
  expect(await readiness()).toBe('200 {"status":"ok"}');
});
