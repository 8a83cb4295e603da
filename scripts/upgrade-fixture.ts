// Makes the upgrade fixture of the present release: a database that the service itself filled, dumped by pg_dump of the oldest supported
// PostgreSQL, and beside it what its users know. Named by the last migration; test/db/upgrade/ loads it, so that every later version is tested
// with it. Made once at each release (migrations/README.md) and never again.
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import type { Sql } from "postgres";
import { connect } from "../src/db/connect.js";
import { PROJECT_ROOT, readCommitted } from "../src/db/migrate/files.js";
import { simulatedInput } from "../src/demo/input.js";
import { sendAll } from "../src/demo/send.js";
import type { Known } from "../test/db/upgrade/fixture.js";
import { DEBIAN_PROGRAMS, startDebianServer } from "../test/support/debian-server.js";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FIXTURES = path.join(ROOT, "test/db/upgrade/fixtures");
const SECRET = "the secret of the fixtures, kept with them";
const HISTORY = { seed: 9, customers: 60, days: 75 };
const SET_ASIDE = "fixture-set-aside";
const WAIT_MS_MAX = 180_000;

const run = promisify(execFile);

const name = (await readCommitted(PROJECT_ROOT)).at(-1)!.filename.replace(".sql", "");
const dump = path.join(FIXTURES, `${name}.sql.gz`);
if (existsSync(dump)) throw new Error(`${dump} already exists; a fixture is never made again`);
await run(process.execPath, [path.join(ROOT, "scripts/build.js")]);

const server = await startDebianServer();
if (typeof server === "string") throw new Error(`the fixture is made on PostgreSQL 15: ${server}`);
const admin = connect(server.url, { max: 1, applicationName: "fixture" });
const url = Object.assign(new URL(server.url), { pathname: "/released" }).href;
const receiver = await startReceiver();
try {
  await admin`create database released encoding 'UTF8' template template0`;
  const known = await fill(url);
  const options = ["--format=plain", "--inserts", "--rows-per-insert=200", "--no-owner", `--dbname=${url}`];
  const { stdout } = await run(`${DEBIAN_PROGRAMS}/pg_dump`, options, { maxBuffer: 1024 ** 3 });
  await writeFile(dump, gzipSync(stdout, { level: 9 }));
  await writeFile(path.join(FIXTURES, `${name}.json`), `${JSON.stringify(known, null, 2)}\n`);
  console.log(`wrote ${path.relative(ROOT, dump)}`);
} finally {
  receiver.close();
  await admin.end();
  await server.stop();
}

/** Fills the database as its use would, only through the service's own interfaces, except for the failure that sets a customer aside. */
async function fill(databaseUrl: string): Promise<Known> {
  const service = await startService(databaseUrl);
  const sql = connect(databaseUrl, { max: 1, applicationName: "fixture" });
  const folder = await mkdtemp(path.join(os.tmpdir(), "svc-fixture-"));
  try {
    await cp(path.join(ROOT, "examples/saas"), folder, { recursive: true });
    const operate = async (...args: string[]): Promise<string> =>
      (await run(process.execPath, [path.join(ROOT, "bin/svc-server.js"), ...args], { env: service.env })).stdout;
    const access = JSON.parse(
      await operate("bootstrap", "--organization", "acme", "--email", "ada@example.com", "--json"),
    ) as { organizationId: string; accessToken: string };
    const as = { SVC_API_URL: service.url, SVC_ACCESS_TOKEN: access.accessToken };
    const svc = async (...args: string[]): Promise<unknown> => {
      const env = { ...service.env, ...as, SVC_ORGANIZATION: access.organizationId };
      const command = [path.join(ROOT, "bin/svc.js"), ...args, "--directory", folder, "--json"];
      const child = run(process.execPath, command, { env, maxBuffer: 1024 ** 3 });
      child.child.stdin?.end("live\n");
      return JSON.parse((await child.catch(refused)).stdout) as unknown;
    };

    const ci = JSON.parse(
      await operate("tokens", "create", "--organization", "acme", "--label", "CI", "--role", "developer", "--json"),
    ) as { accessToken: string };
    await operate("users", "link", "--email", "ada@example.com");
    const { keys } = (await svc("projects", "create", "--name", "Acme", "--slug", "saas", "--yes")) as {
      keys: { test: string; live: string };
    };
    const second = (await svc("keys", "create", "--name", "second", "--yes")) as KeyMade;
    const revoked = (await svc("keys", "create", "--name", "gone", "--yes")) as KeyMade;
    await svc("keys", "revoke", revoked.key.id, "--yes");
    await svc("deploy", "--yes");
    const webhook = (await svc("webhooks", "create", "--url", `${receiver.url}/good`, "--yes")) as WebhookMade;
    const failing = (await svc(
      "webhooks",
      "create",
      "--url",
      `${receiver.url}/failing`,
      "--event-type",
      "signal.*",
      "--yes",
    )) as WebhookMade;
    const gone = (await svc("webhooks", "create", "--url", `${receiver.url}/gone`, "--yes")) as WebhookMade;

    const base = Math.floor(Date.now() / 86_400_000) * 86_400_000;
    await sendAll(simulatedInput({ ...HISTORY, base }).read(), { url: service.url, apiKey: keys.test });
    const answered = await sendAnswered(service.url, keys.test);
    await setAside(sql, service.url, keys.test);
    await until("the history is evaluated", async () => {
      const [row] = await sql<[{ done: boolean }]>`
        select not exists (select from svc.inbox where not_before < 'infinity')
          and not exists (select from svc.customers where next_due_at < now() and set_aside_at is null)
          and not exists (select from svc.deliveries where status = 'pending' and attempts = 0 and webhook_id <> ${gone.id})
          as done`;
      return row.done;
    });

    await svc("recompute", "--all", "--yes");
    const config = path.join(folder, "model/segments.ts");
    const more = `\n/** Every account that ever signed up. */\nexport const known = segment("known", { when: signedUp.happened() });\n`;
    const text = (await readFile(config, "utf8")).replace("reportExported,\n", "reportExported,\n  signedUp,\n");
    await writeFile(config, text + more);
    await svc("deploy", "--yes");
    await svc("recompute", "--all", "--dry-run", "--yes");
    await svc("config", "promote", "--version", "v2", "--yes");
    await post(`${service.url}/v1/events`, keys.live, {
      customerId: "globex",
      event: "signed_up",
      properties: { source: "sales" },
    });
    await until(
      "the live event is evaluated",
      async () => (await sql`select from svc.inbox where not_before < 'infinity'`).length === 0,
    );
    return {
      secret: SECRET,
      ...access,
      ciToken: ci.accessToken,
      keys: { ...keys, second: second.secret, revoked: revoked.secret },
      webhook: { id: webhook.id, secret: webhook.secret },
      failingWebhook: failing.id,
      answered,
      setAside: SET_ASIDE,
    };
  } finally {
    await sql.end();
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

interface KeyMade {
  key: { id: string };
  secret: string;
}

interface WebhookMade {
  id: string;
  secret: string;
}

/** With --json, a command reports its error on standard output. */
function refused(error: unknown): never {
  throw new Error((error as { stdout: string }).stdout, { cause: error });
}

async function sendAnswered(url: string, key: string): Promise<Known["answered"]> {
  const request = {
    customerId: "globex",
    event: "login",
    properties: { method: "sso" },
    idempotencyKey: "fixture-login-1",
  };
  const { eventId } = (await post(`${url}/v1/events`, key, request)) as { eventId: string };
  return { request, eventId };
}

/** Makes the evaluation of one customer fail by an unreadable state, and restores the state; what remains is what any failure leaves. */
async function setAside(sql: Sql, url: string, key: string): Promise<void> {
  const event = { customerId: SET_ASIDE, event: "signed_up", properties: { source: "self_serve" } };
  await post(`${url}/v1/events`, key, event);
  const stored = () =>
    sql<{ state: string; set_aside: boolean }[]>`
    select state::text, set_aside_at is not null as set_aside from svc.customers where customer_id = ${SET_ASIDE}`;
  await until("the customer is evaluated", async () => (await stored()).length > 0);
  const { state } = (await stored())[0]!;
  await sql`update svc.customers set state = '{}' where customer_id = ${SET_ASIDE}`;
  await post(`${url}/v1/events`, key, event);
  await until("the customer is set aside", async () => (await stored())[0]!.set_aside);
  await sql`update svc.customers set state = ${state}::text::json where customer_id = ${SET_ASIDE}`;
}

async function post(url: string, key: string, body: object): Promise<unknown> {
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return response.json();
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + WAIT_MS_MAX;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`timed out waiting until ${what}`);
    await delay(250);
  }
}

/** Answers 204 at /good, 410 at /gone, and 500 at /failing. */
async function startReceiver(): Promise<{ url: string; close(): void }> {
  const server: Server = createServer((request, response) => {
    request.resume().on("end", () => {
      const status = request.url === "/good" ? 204 : request.url === "/gone" ? 410 : 500;
      response.writeHead(status).end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => void server.close() };
}

async function startService(
  databaseUrl: string,
): Promise<{ url: string; env: NodeJS.ProcessEnv; stop(): Promise<void> }> {
  const env = {
    PATH: process.env["PATH"],
    DATABASE_URL: databaseUrl,
    SVC_SECRET: SECRET,
    SVC_PORT: "0",
    SVC_PUBLIC_URL: "http://127.0.0.1:4400",
    SVC_SETTLE_SECONDS: "1",
    SVC_WEBHOOK_ALLOW_PRIVATE: "1",
    LOG_LEVEL: "warn",
  };
  const program = path.join(ROOT, "bin/svc-server.js");
  const child: ChildProcess = spawn(process.execPath, [program, "start"], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout! }).on("line", (line) => {
      const found = /listening on (\S+)/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once("exit", () => reject(new Error("the service ended before it listened")));
  });
  return {
    url,
    env,
    stop: async () => {
      child.kill("SIGTERM");
      await exited;
    },
  };
}
