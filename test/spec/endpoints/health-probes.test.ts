import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { readConfig } from "../../../src/server/config.js";
import { openHttp, type OpenHttp } from "../../../src/server/http-role.js";
import { useDatabase } from "../../support/database.js";
import { DOCS_URL, startService } from "../../support/service.js";
import { expectRefused } from "../support/answers.js";
import { unready } from "../support/refusals.js";
import { readReply, withoutDatabase } from "../support/outage.js";
import { isCluster } from "../../support/is-cluster.js";
import { runLog } from "../../support/run-log.js";
import { startWorker } from "../../support/worker-role.js";

// Section "Health probes (no authentication)".

const logger = runLog();
const SECRET = "a secret of the tests of the specification";
const OK = { status: 200, body: { status: "ok" } };
const IDLE = "No worker has sent a heartbeat for 30 seconds.";

const db = await useDatabase();
let http: OpenHttp;

beforeAll(async () => {
  const { config } = readConfig({ SVC_PORT: "0", SVC_DOCS_URL: DOCS_URL });
  http = await openHttp(config, logger);
  http.serve({ databaseUrl: db.url, useRoles: true, secret: SECRET });
});
afterAll(() => http.stop());

/** Serves with another address of the database until the test has finished; returns the service's. */
async function openElsewhere(login: { username?: string; password: string }): Promise<string> {
  const other = await openHttp(readConfig({ SVC_PORT: "0", SVC_DOCS_URL: DOCS_URL }).config, logger);
  onTestFinished(() => other.stop());
  other.serve({ databaseUrl: Object.assign(new URL(db.url), login).href, useRoles: true, secret: SECRET });
  return other.address;
}

const get = (path: string, address = http.address) =>
  readReply(`${address}${path}`, { headers: { "X-Request-ID": "req" } });
const answer = async (path: string) => {
  const { status, body } = await get(path);
  return { status, body };
};

/** Sends a request while a worker runs. */
async function whileWorking<T>(ask: () => Promise<T>): Promise<T> {
  const worker = await startWorker(db.url, logger, SECRET);
  try {
    await vi.waitFor(async () => expect(await db.sql`select from svc.workers`).toHaveLength(1), { timeout: 20_000 });
    return await ask();
  } finally {
    // Its absence is noticed immediately because it signs off.
    await worker.stop();
  }
}

it('| `GET /livez` | process is alive |: Successful probes return `{ "status": "ok" }`, whatever database and workers do.', async () => {
  expect(await answer("/livez")).toEqual(OK);
  expect(await withoutDatabase(db, () => answer("/livez"))).toEqual(OK);
});

it("| `GET /startupz` | startup completed; returns 503 otherwise |, | 503 | (probe) | `/startupz` before startup completed |", async () => {
  let started = false;
  const service = await startService({ probes: { started: () => started, unready: () => Promise.resolve([]) } });
  onTestFinished(() => service.stop());
  // It is not ready for traffic either.
  for (const path of ["/startupz", "/readyz", "/health"]) {
    const before = await service.request("GET", path);
    expectRefused(before, 503, unready("startup", "Startup has not completed."));
    expect(before.headers.get("Retry-After")).toBe("1");
  }
  expect(await service.request("GET", "/livez")).toMatchObject(OK);
  started = true;
  expect(await service.request("GET", "/startupz")).toMatchObject(OK);
  // The service composed as in its process.
  expect(await answer("/startupz")).toEqual(OK);
});

describe("| `GET /readyz` | ready for traffic, including database and worker checks |, | `GET /health` | compatibility alias of readiness |", () => {
  /** Both endpoints are requested, and must answer the same. */
  const ready = async (address = http.address) => {
    const [readyz, health] = await Promise.all([get("/readyz", address), get("/health", address)]);
    expect({ status: health.status, body: health.body }).toEqual({ status: readyz.status, body: readyz.body });
    return readyz;
  };

  it("200 with a database and a worker", async () => {
    expect(await whileWorking(ready)).toMatchObject(OK);
  });

  it("503 without a worker, as docs/operations/monitoring.md shows it", async () => {
    const reply = await ready();
    expectRefused(reply, 503, unready("worker", IDLE));
    const guide = readFileSync(new URL("../../../docs/operations/monitoring.md", import.meta.url), "utf8");
    const [, shown] = /^```json\n(.*?)^```$/ms.exec(guide)!;
    const { error } = JSON.parse(shown!.replace("https://svc.example.com/docs", DOCS_URL)) as { error: object };
    expect(reply.body).toEqual({ error: { ...error, requestId: "req" } });
  });

  it("200 without a worker if the request leaves that check out, because accepting events does not need one", async () => {
    expect(await answer("/readyz?exclude=worker")).toEqual(OK);
    expectRefused(await get("/readyz?exclude=database&exclude=other"), 503, unready("worker", IDLE));
  });

  it.skipIf(isCluster)("503 if the database refuses the service's credentials, as for other requests", async () => {
    const outside = await openElsewhere({ password: "of-before" });
    expectRefused(await ready(outside), 503, unready("database", "The database does not let the service in."));
    const headers = { Authorization: "Bearer svc_test_any", "Content-Type": "application/json" };
    const body = JSON.stringify({ customerId: "c", event: "e" });
    const reply = await readReply(`${outside}/v1/events`, { method: "POST", headers, body });
    expect([reply.status, reply.headers.get("Retry-After")]).toEqual([503, "1"]);
  });

  it("503 if all connections of the service's user are in use", async () => {
    const user = `${db.name}_few`;
    await db.sql.unsafe(`create role ${user} login password 'few' connection limit 0`);
    onTestFinished(() => db.sql.unsafe(`drop role ${user}`).then(() => undefined));
    const outside = await openElsewhere({ username: user, password: "few" });
    expectRefused(await ready(outside), 503, unready("database", "The database has no connections left."));
  });

  it("503 without a database", async () => {
    const reply = await withoutDatabase(db, ready);
    expectRefused(reply, 503, unready("database", "The database does not answer."));
    expect(reply.headers.get("Retry-After")).toBe("1");
  });

  it("503 if the database lacks a migration of the program, with all failed checks", async () => {
    // The last migration, because each other one is referenced by its successor.
    const [last] = await db.sql<{ filename: string }[]>`
      update graphile_migrate.migrations set hash = hash || ' of another'
      where filename = (select max(filename) from graphile_migrate.migrations)
      returning filename`;
    try {
      const lacking = `The database lacks the migration ${last?.filename} of this program.`;
      const checks = [
        { name: "migrations", message: lacking },
        { name: "worker", message: IDLE },
      ];
      expectRefused(await ready(), 503, { ...unready("", `${lacking} ${IDLE}`), checks });
    } finally {
      await db.sql`update graphile_migrate.migrations set hash = replace(hash, ' of another', '')`;
    }
  });

  it("503 if the database is read-only", async () => {
    await whileWorking(async () => {
      await db.sql.unsafe(`alter database ${db.name} set default_transaction_read_only = on`);
      const restarted = await openHttp(readConfig({ SVC_PORT: "0", SVC_DOCS_URL: DOCS_URL }).config, logger);
      try {
        restarted.serve({ databaseUrl: db.url, useRoles: true, secret: SECRET });
        const message = "The database is read-only: default_transaction_read_only is on.";
        expectRefused(await ready(restarted.address), 503, unready("database", message));
      } finally {
        await restarted.stop();
        await db.sql.unsafe(`alter database ${db.name} reset default_transaction_read_only`);
      }
    });
  });

  it("503 if the database lacks the readiness function, as after the restore of an old one", async () => {
    await db.sql`alter function svc_api.failed_checks(text[], text[]) rename to hidden`;
    try {
      const message = "The database lacks objects that this program's migrations create.";
      expectRefused(await ready(), 503, unready("migrations", message));
    } finally {
      await db.sql`alter function svc_api.hidden(text[], text[]) rename to failed_checks`;
    }
  });

  it("503 if the service may not use its functions any more, with what to do", async () => {
    await db.sql`revoke execute on function svc_api.failed_checks(text[], text[]) from svc_http`;
    try {
      const message = "The service may not use its functions in the database; `svc-server migrate` repairs the grants.";
      expectRefused(await ready(), 503, unready("migrations", message));
    } finally {
      await db.sql`grant execute on function svc_api.failed_checks(text[], text[]) to svc_http`;
    }
  });

  it("200 with a database that is newer than the program", async () => {
    await db.sql`
      insert into graphile_migrate.migrations (hash, previous_hash, filename)
      select 'sha1:newer', max(hash), '999999.sql' from graphile_migrate.migrations`;
    try {
      expect(await whileWorking(ready)).toMatchObject(OK);
    } finally {
      await db.sql`delete from graphile_migrate.migrations where filename = '999999.sql'`;
    }
  });
});

it("no authentication: credentials of any kind make no difference", async () => {
  for (const authorization of ["Bearer svc_test_unknown", "Basic x", "nonsense"]) {
    expect(await readReply(`${http.address}/livez`, { headers: { authorization } })).toMatchObject(OK);
  }
});
