import { afterAll, beforeAll, expect, it } from "vitest";
import { call } from "../../src/db/api/call.js";
import { newAccessToken } from "../../src/http/request/credentials.js";
import { readConfig } from "../../src/server/config.js";
import { openHttp, type OpenHttp } from "../../src/server/http-role.js";
import { createDatabase, type TestDatabase } from "../support/database.js";
import { runLog } from "../support/run-log.js";

const token = newAccessToken();
let db: TestDatabase;
let http: OpenHttp;
let key: string;

beforeAll(async () => {
  db = await createDatabase();
  const { config } = readConfig({ SVC_PORT: "0" });
  http = await openHttp(config, runLog());
  http.serve({ databaseUrl: db.url, useRoles: true, secret: "a secret of the tests, long enough" });
  const document = await call(db.sql, "bootstrap", "acme", "owner@acme.example", token.hash);
  const { organizationId } = JSON.parse(document) as { organizationId: string };
  const headers = { Authorization: `Bearer ${token.text}`, "X-Svc-Organization": organizationId };
  const project = await post("/projects", { name: "App", slug: "app" }, headers);
  key = ((await project.json()) as { keys: { test: string } }).keys.test;
  await db.sql`insert into svc.workers (worker_id, seen_at) values ('a worker', now() + interval '1 hour')`;
});
afterAll(async () => {
  await http.stop();
  await db.drop();
});

function post(path: string, body: object, headers: Record<string, string>): Promise<Response> {
  const init = { method: "POST", headers: { "Content-Type": "application/json", ...headers } };
  return fetch(http.address + path, { ...init, body: JSON.stringify(body) });
}

const send = () => post("/v1/events", { customerId: "c", event: "e" }, { Authorization: `Bearer ${key}` });
const readyz = async () => {
  const reply = await fetch(`${http.address}/readyz`);
  return [reply.status, await reply.json()];
};

it("is not ready where the database's disk is full, until something could be written", async () => {
  expect(await readyz()).toMatchObject([200, { status: "ok" }]);
  // As the server raises it where a table cannot grow.
  await db.sql.unsafe(`
    create function public.no_room() returns trigger language plpgsql as $$
      begin raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end $$;
    create trigger no_room before insert on svc.events for each row execute function public.no_room()`);
  expect((await send()).status).toBe(503);
  expect(await readyz()).toMatchObject([
    503,
    { error: { checks: [{ name: "database", message: "The database's disk is full." }] } },
  ]);
  await db.sql`drop trigger no_room on svc.events`;
  expect((await send()).status).toBe(202);
  expect(await readyz()).toMatchObject([200, { status: "ok" }]);
});
