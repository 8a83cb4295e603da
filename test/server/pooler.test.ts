import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import path from "node:path";
import { text } from "node:stream/consumers";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { checkPooler } from "../../src/server/pooler.js";
import { StartError } from "../../src/server/start-failure.js";
import { createUser, signedIn, whoIs } from "../http/pages/people.js";
import { createDatabase, setUnusualDefaults, type TestDatabase } from "../support/database.js";
import { INSTALL_MS_MAX } from "../support/debian.js";
import { pgBouncerMissing, startPgBouncer, type PgBouncer } from "../support/pgbouncer.js";
import { waitingForLock } from "../support/locks.js";
import { runLog } from "../support/run-log.js";
import { startServiceProcess, type ServiceProcess } from "../support/service-process.js";
import { createTenant, type Tenant } from "../support/tenant.js";
import { runServer } from "./support/run-server.js";

// HTTP processes behind Debian's PgBouncer in transaction mode, with fewer sessions than connections, and a worker without it.

const ROOT = path.resolve(import.meta.dirname, "../..");
const guide = readFileSync(path.join(ROOT, "docs/deploy.md"), "utf8");

const SESSIONS = 3;
const CUSTOMERS = 40;
const EVENTS_EACH = 5;
const METRICS_TOKEN = "the-token-of-the-tests";

/** A unique user, as roles belong to the whole server. */
const user = `svc_test_web_${randomBytes(4).toString("hex")}`;
let skipped: string | null;
let db: TestDatabase;
let pooler: PgBouncer | undefined;
const processes: ServiceProcess[] = [];
let tenant: Tenant;

beforeAll(async () => {
  skipped = await pgBouncerMissing();
  if (skipped !== null) return;
  db = await createDatabase();
  await db.sql.unsafe(loginRole());
  const owner = new URL(db.url);
  pooler = await startPgBouncer(
    db.url,
    { [user]: "pooled", [owner.username]: decodeURIComponent(owner.password) },
    { default_pool_size: SESSIONS },
  );
  const env = { SVC_POOLER_URL: pooler.urlOf(user), SVC_METRICS_TOKEN: METRICS_TOKEN, SVC_SETTLE_SECONDS: "0" };
  const roles = ["http", "http", "worker"] as const;
  processes.push(...(await Promise.all(roles.map((role) => startServiceProcess(db.url, env, { role })))));
  tenant = await createTenant(db.sql, first().url);
  await vi.waitUntil(async () => (await readyz()) === 200, PATIENCE);
}, INSTALL_MS_MAX);

beforeEach((context) => {
  if (skipped !== null) context.skip(skipped);
});

afterAll(async () => {
  if (skipped !== null) return;
  await Promise.all(processes.map((each) => each.stop()));
  await pooler?.stop();
  await db.sql.unsafe(`drop role if exists ${user}`);
  await db.drop();
});

const PATIENCE = { timeout: 30_000 };
const readyz = async () => (await fetch(`${first().url}/readyz`)).status;
const first = () => processes[0]!;
const second = () => processes[1]!;

/** The guide's statements that create the pooler's user, for this run's user. */
function loginRole(): string {
  const [, statements] = /^```sql\n(create role svc_web .*?)^```$/ms.exec(guide)!;
  return statements!.replaceAll("svc_web", user).replace("'…'", "'pooled'");
}

const get = (path: string, to = first()) => tenant.admin("GET", path, { to: to.url });
const send = (to: ServiceProcess, path: string, body: unknown) => tenant.send(path, body, { to: to.url });
const EVENT = { customerId: "late", event: "login" };
const accepted = async (to: ServiceProcess) => (await send(to, "/v1/events", EVENT)).status;

async function customers(): Promise<string[]> {
  const answer = await get("/projects/app/customers?env=test&limit=100", second());
  return ((await answer.json()) as { data: { customerId: string }[] }).data.map((one) => one.customerId).toSorted();
}

it("concurrent events at several processes are stored and evaluated once each, in a few sessions of the server", async () => {
  const wanted = Array.from({ length: CUSTOMERS }, (_, i) => `customer-${i}`);
  const answers = await Promise.all(
    wanted.flatMap((customerId, i) => {
      const events = Array.from({ length: EVENTS_EACH }, (_, n) => ({
        customerId,
        event: "login",
        idempotencyKey: `${customerId}-${n}`,
      }));
      const to = i % 2 === 0 ? first() : second();
      if (i % 4 < 2) return [send(to, "/v1/events/batch", { events }), get("/projects/app", to)];
      return events.flatMap((event) => [send(to, "/v1/events", event), get("/projects", to)]);
    }),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202, 200]));
  const [stored] = await db.sql`
    select count(*)::int as events, count(distinct idempotency_key)::int as different from svc_inspect.events`;
  expect(stored).toEqual({ events: CUSTOMERS * EVENTS_EACH, different: CUSTOMERS * EVENTS_EACH });
  await expect.poll(customers, PATIENCE).toEqual(wanted.toSorted());

  const sessions = await db.sql`
    select usename as user, count(*)::int as sessions from pg_stat_activity
    where datname = current_database() and application_name in ('svc http', 'svc http admin') group by usename`;
  expect(sessions).toEqual([{ user, sessions: expect.any(Number) }]);
  expect(sessions[0]!["sessions"]).toBeLessThanOrEqual(SESSIONS);
});

it("metrics, sign-in pages, exports and erasures work", async () => {
  const scrape = await fetch(`${first().url}/metrics`, { headers: { Authorization: `Bearer ${METRICS_TOKEN}` } });
  expect(await scrape.text()).toMatch(/^svc_database_up 1$/m);

  await createUser(db.sql, "grace@example.com");
  expect(await whoIs(await signedIn(first(), "grace@example.com"))).toBe("grace@example.com");

  const of = "/projects/app/customers/customer-1";
  const document = await (await get(`${of}/export?env=test`)).json();
  expect((document as { events: unknown[] }).events).toHaveLength(EVENTS_EACH);
  expect((await get(`${of}/explanation?env=test`)).status).toBe(200);
  expect((await tenant.admin("DELETE", `${of}?env=test`)).status).toBe(200);
  expect((await get(`${of}?env=test`, second())).status).toBe(404);
});

it("requests are served again after sessions of the pooler were terminated", async () => {
  await db.sql`select pg_terminate_backend(pid) from pg_stat_activity where usename = ${user}`;
  await expect.poll(readyz, PATIENCE).toBe(200);
  await expect.poll(() => accepted(first()), PATIENCE).toBe(202);
});

it("a process whose pooler is led to a copy of the database is not ready", async () => {
  const copy = await createDatabase();
  const led = await startPgBouncer(db.url, { [user]: "pooled" });
  const served = await startServiceProcess(db.url, { SVC_POOLER_URL: led.urlOf(user) }, { role: "http" });
  const readiness = async () => (await fetch(`${served.url}/readyz`)).text();
  const lead = async (name: string) => {
    await led.leadTo(name);
    await db.sql`select pg_terminate_backend(pid, 10000) from pg_stat_activity where usename = ${user}`;
  };
  try {
    expect(await readiness()).toBe('{"status":"ok"}');
    await lead(copy.name);
    await expect
      .poll(readiness, PATIENCE)
      .toContain("The pooler leads to another database than the one of the workers.");
    await lead(db.name);
    await expect.poll(readiness, PATIENCE).toBe('{"status":"ok"}');
  } finally {
    await served.stop();
    await led.stop();
    await copy.drop();
  }
});

it("a process behind a pooler is ready where the host does not let it identify the database", async () => {
  await db.sql`revoke execute on function pg_catalog.pg_control_system() from public`;
  onTestFinished(async () => {
    await db.sql`grant execute on function pg_catalog.pg_control_system() to public`;
  });
  expect(await readyz()).toBe(200);
});

it("requests are refused while the pooler has no free session, and served again afterwards", async () => {
  const small = await startPgBouncer(db.url, { [user]: "pooled" }, { default_pool_size: 1, query_wait_timeout: 1 });
  const served = await startServiceProcess(db.url, { SVC_POOLER_URL: small.urlOf(user) }, { role: "http" });
  const lock = await db.sql.reserve();
  try {
    await lock`begin`;
    await lock`lock table svc.webhooks in access exclusive mode`;
    const hanging = get("/projects/app/webhooks?env=test", served);
    await expect.poll(() => waitingForLock(db.sql, "svc http%"), PATIENCE).toBe(1);
    const refused = await send(served, "/v1/events", EVENT);
    expect([refused.status, refused.headers.get("Retry-After")]).toEqual([503, expect.stringMatching(/^\d+$/)]);
    await lock`rollback`;
    expect((await hanging).status).toBe(200);
    await expect.poll(() => accepted(served), { ...PATIENCE, interval: 200 }).toBe(202);
  } finally {
    lock.release();
    await served.stop();
    await small.stop();
  }
});

it("a start reports in one line what is wrong with the pooler", async () => {
  const env = { SVC_POOLER_URL: pooler!.urlOf(new URL(db.url).username), SVC_PORT: "0", LOG_LEVEL: "error" };
  const child = execFile(process.execPath, [path.join(ROOT, "bin/svc-server.js"), "start", "--role", "http"], {
    env: { ...env, PATH: process.env["PATH"], DATABASE_URL: db.url, SVC_SECRET: "a secret of the tests, long enough" },
  });
  onTestFinished(() => void child.kill("SIGKILL")); // in case it starts unexpectedly
  const [stderr, [code]] = await Promise.all([text(child.stderr!), once(child, "close")]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^svc-server: the user \S+ of SVC_POOLER_URL may do more than requests need; .*\n$/);
});

/** Checks the pooler like a start. */
const check = (parts: Partial<Pick<URL, "port" | "pathname" | "password" | "search">> = {}) =>
  checkPooler(Object.assign(new URL(pooler!.urlOf(user)), parts).href, { url: db.url, useRoles: true }, runLog());

it("a pooler that cannot be reached, or refuses the connection, is reported with a fix", async () => {
  await expect(check({ port: "1" })).rejects.toThrow(
    new StartError("nothing listens at 127.0.0.1:1 (ECONNREFUSED); start the pooler, or correct SVC_POOLER_URL"),
  );
  for (const wrong of [{ pathname: "/nowhere" }, { password: "wrong" }]) {
    await expect(check(wrong)).rejects.toThrow(/^.*; .*correct SVC_POOLER_URL, .*$/);
  }
  const search = "?sslmode=verify-full&sslrootcert=/nowhere/authority.pem";
  await expect(check({ search })).rejects.toThrow(
    /^cannot read the file \/nowhere\/authority\.pem that SVC_POOLER_URL names \(ENOENT\); correct sslrootcert/,
  );
});

it("a pooler whose user cannot serve requests, and one in place of the database, are reported", async () => {
  await db.sql.unsafe(`revoke svc_http from ${user}`);
  await expect(check()).rejects.toThrow(
    new StartError(
      `the user ${user} of SVC_POOLER_URL may not serve requests; as the owner: grant svc_http to "${user}"`,
    ),
  );
  await db.sql.unsafe(`grant svc_http to ${user}`);
  expect((await runServer(pooler!.urlOf(new URL(db.url).username), ["migrate"])).stderr).toMatch(
    /^svc-server: a pooler answers at 127.0.0.1:\d+ \(.*\); name the database itself in DATABASE_URL, and the pooler in SVC_POOLER_URL$/m,
  );
});

it("one in place of the database that drops the sessions' startup settings is reported, too", async () => {
  const { username, password } = new URL(db.url);
  const users = { [username]: decodeURIComponent(password) };
  const dropping = await startPgBouncer(db.url, users, { ignore_startup_parameters: "options" });
  onTestFinished(() => dropping.stop());
  expect((await runServer(dropping.urlOf(username), ["migrate"])).stderr).toMatch(
    /^svc-server: new sessions do not have .*; name the database itself in DATABASE_URL, and the pooler in SVC_POOLER_URL$/m,
  );
});

it("database defaults with which a pooler's sessions would misread values are reported, with the settings to change", async () => {
  const lines: string[] = [];
  const logger = pino({}, { write: (line) => void lines.push((JSON.parse(line) as { msg: string }).msg) });
  const url = pooler!.urlOf(user);
  const look = async () => {
    await db.sql`select pg_terminate_backend(pid, 10000) from pg_stat_activity where usename = ${user}`;
    lines.length = 0;
    await vi.waitFor(() => checkPooler(url, { url: db.url, useRoles: true }, logger), PATIENCE);
    return lines;
  };
  expect(await look()).toEqual([]);
  await setUnusualDefaults(db);
  const [line] = await look();
  const [told, advice] = line!.split(": ");
  expect(told).toBe("the database has defaults under which the sessions of SVC_POOLER_URL do not work as intended");
  // PgBouncer resets some of the others to their values at its start.
  expect(advice!.split("; ")).toContain(`alter role "${user}" set bytea_output = 'hex'`);
  await db.sql.unsafe(advice!);
  expect(await look()).toEqual([]);
});

it("a pooler whose user has foreign keys and triggers switched off is refused, with the statement that corrects it", async () => {
  const direct = Object.assign(new URL(db.url), { username: user, password: "pooled" });
  const look = () => checkPooler(direct.href, { url: db.url, useRoles: true }, runLog());
  await db.sql.unsafe(`alter role ${user} set session_replication_role = replica`);
  const statement = `alter role "${user}" set session_replication_role = origin`;
  await expect(look()).rejects.toThrow(
    new StartError(
      "the database checks no foreign keys and runs no triggers in the sessions of SVC_POOLER_URL, " +
        `because session_replication_role is replica; as a superuser: ${statement}`,
    ),
  );
  await db.sql.unsafe(statement);
  await look();
});

it("a pooler that leads to another database with the same tables is refused", async () => {
  const other = await createDatabase();
  onTestFinished(() => other.drop());
  const elsewhere = Object.assign(new URL(other.url), { username: user, password: "pooled" });
  await expect(checkPooler(elsewhere.href, { url: db.url, useRoles: true }, runLog())).rejects.toThrow(
    /^SVC_POOLER_URL leads to another database than DATABASE_URL, .*; correct SVC_POOLER_URL, or the pooler's \[databases\]$/,
  );
});
