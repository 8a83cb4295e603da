import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { call } from "../../src/db/api/call.js";
import { connect } from "../../src/db/connect.js";
import { startWorker } from "../../src/tasks/worker.js";
import { createDatabase, type TestDatabase } from "../support/database.js";
import { runLog } from "../support/run-log.js";

let db: TestDatabase;
beforeAll(async () => {
  db = await createDatabase();
  await db.sql`insert into iam.users (user_id, email) values ('usr_1', 'ada@example.com')`;
  await db.sql`insert into iam.organizations (organization_id, slug) values ('org_1', 'acme')`;
});
beforeEach(async () => {
  await db.sql`
    truncate iam.sessions, iam.device_authorizations, iam.invitations, iam.password_links, iam.access_tokens, iam.throttles,
      svc.recomputes, svc.recompute_customers`;
});
afterAll(() => db.drop());

const hash = (text: string) => Buffer.from(text);

/** Adds rows that differ in when they ended, in seconds from now, and answers which are there after a sweep. */
const KINDS = {
  "a session": {
    add: (name: string, ended: number) => db.sql`
      insert into iam.sessions (session_hash, user_id, expires_at)
      values (${hash(name)}, 'usr_1', now() + ${ended} * interval '1 second')`,
    left: () => db.sql<{ name: Buffer }[]>`select session_hash as name from iam.sessions order by 1`,
    keptSeconds: 0,
  },
  "a device authorization": {
    add: (name: string, ended: number) => db.sql`
      insert into iam.device_authorizations (device_code_hash, user_code, client_id, address, created_at, expires_at, interval_seconds)
      values (${hash(name)}, ${name}, 'svc-cli', '192.0.2.1', now(), now() + ${ended} * interval '1 second', 5)`,
    left: () => db.sql<{ name: Buffer }[]>`select device_code_hash as name from iam.device_authorizations order by 1`,
    keptSeconds: 3_600,
  },
  "an invitation": {
    add: (name: string, ended: number) => db.sql`
      insert into iam.invitations (organization_id, invitation_id, link_hash, email, role, created_by, expires_at)
      values ('org_1', ${name}, ${hash(name)}, ${`${name}@example.com`}, 'viewer', 'operator', now() + ${ended} * interval '1 second')`,
    left: () => db.sql<{ name: Buffer }[]>`select link_hash as name from iam.invitations order by 1`,
    keptSeconds: 30 * 86_400,
  },
  "a password link": {
    add: (name: string, ended: number) => db.sql`
      insert into iam.password_links (link_hash, user_id, created_by, expires_at)
      values (${hash(name)}, 'usr_1', 'operator', now() + ${ended} * interval '1 second')`,
    left: () => db.sql<{ name: Buffer }[]>`select link_hash as name from iam.password_links order by 1`,
    keptSeconds: 30 * 86_400,
  },
  "an access token that expired": {
    add: (name: string, ended: number) => db.sql`
      insert into iam.access_tokens (token_hash, token_id, kind, user_id, label, expires_at)
      values (${hash(name)}, ${name}, 'session', 'usr_1', 'test', now() + ${ended} * interval '1 second')`,
    left: () => db.sql<{ name: Buffer }[]>`select token_hash as name from iam.access_tokens order by 1`,
    keptSeconds: 90 * 86_400,
  },
  "a throttle that is full": {
    add: (name: string, ended: number) => db.sql`
      insert into iam.throttles (bucket, full_at) values (${hash(name)}, now() + ${ended} * interval '1 second')`,
    left: () => db.sql<{ name: Buffer }[]>`select bucket as name from iam.throttles order by 1`,
    keptSeconds: 0,
  },
} as const;

describe("sweeping deletes", () => {
  it.each(Object.keys(KINDS) as (keyof typeof KINDS)[])("%s, when its time is over and no sooner", async (kind) => {
    const { add, left, keptSeconds } = KINDS[kind];
    await add("over", -keptSeconds - 60);
    await add("kept", -keptSeconds + 60);
    expect(await call(db.sql, "sweep_iam")).toBe("1");
    expect((await left()).map(({ name }) => String(name))).toEqual(["kept"]);
    expect(await call(db.sql, "sweep_iam")).toBe("0");
  });

  it("nothing that somebody else is changing, and waits for nobody", async () => {
    await KINDS["a session"].add("over", -60);
    await db.sql.begin(async (tx) => {
      await tx`select from iam.sessions for update`;
      expect(await call(db.sql, "sweep_iam")).toBe("0");
    });
    expect(await call(db.sql, "sweep_iam")).toBe("1");
  });
});

describe("what recomputes found of customers", () => {
  const DAY = 86_400;
  /** Adds one that ended so many seconds ago, or goes on, with so many results. */
  const add = async (id: string, status: string, ended: number | null, results: number) => {
    await db.sql`
      insert into svc.recomputes (environment_id, recompute_id, kind, pinned_at, status, requested_by, finished_at)
      values (1, ${id}, 'recompute', now(), ${status}, 'a@b', now() - ${ended}::double precision * interval '1 second')`;
    await db.sql`
      insert into svc.recompute_customers (environment_id, recompute_id, customer_id, weight, difference)
      select 1, ${id}, 'c' || n, n, '{}' from generate_series(1, ${results}) as n`;
  };
  /** How many results there are of each recompute. */
  const left = async () => {
    const rows = await db.sql<{ id: string; results: number }[]>`
      select r.recompute_id as id, count(c.customer_id)::integer as results
      from svc.recomputes as r left join svc.recompute_customers as c using (environment_id, recompute_id)
      group by 1`;
    return Object.fromEntries(rows.map(({ id, results }) => [id, results]));
  };
  const sweep = () => call(db.sql, "sweep_recomputes", 5);

  it("is removed 30 days after their end and no sooner, a bounded number at once, and they stay", async () => {
    await add("completed", "completed", 30 * DAY + 120, 12);
    await add("dead", "dead_letter", 30 * DAY + 60, 1);
    await add("without", "completed", 30 * DAY + 60, 0);
    await add("young", "completed", 30 * DAY - 60, 2);
    await add("running", "running", null, 2);
    const swept: number[] = [];
    const counts: number[] = [];
    for (let rows = -1; rows !== 0; swept.push(rows)) {
      rows = await sweep();
      counts.push((await left())["completed"]!);
    }
    expect(counts).toEqual([7, 2, 0, 0, 0]);
    expect(swept).toEqual([5, 5, 5, 1, 0]);
    expect(await left()).toEqual({ completed: 0, dead: 0, without: 0, young: 2, running: 2 });
  });

  it("is removed again where one that was given up went on later", async () => {
    await add("dead", "dead_letter", 90 * DAY, 3);
    while ((await sweep()) > 0);
    await db.sql`update svc.recomputes set status = 'running', finished_at = null`;
    await db.sql`
      insert into svc.recompute_customers (environment_id, recompute_id, customer_id, weight, difference)
      values (1, 'dead', 'd', 1, '{}')`;
    expect(await sweep()).toBe(0);
    await db.sql`update svc.recomputes set status = 'completed', finished_at = now() - interval '31 days', swept_at = now() - interval '60 days'`;
    expect(await sweep()).toBe(2);
    expect(await left()).toEqual({ dead: 0 });
  });

  it("waits for no erasure, and leaves to the next time what one has in hand", async () => {
    await add("old", "completed", 31 * DAY, 3);
    await db.sql.begin(async (tx) => {
      await tx`select from svc.recompute_customers where customer_id = 'c2' for update`;
      expect(await sweep()).toBe(2);
      expect(await sweep()).toBe(0);
    });
    expect(await left()).toEqual({ old: 1 });
    expect(await sweep()).toBe(2);
    expect(await sweep()).toBe(0);
  });

  it("is found by index, however many recomputes were swept before", async () => {
    await db.sql`
      insert into svc.recomputes (environment_id, recompute_id, kind, pinned_at, status, requested_by, finished_at, swept_at)
      select 1, 'rec_' || n, 'recompute', now(), 'completed', 'a@b', now() - interval '40 days', now() - interval '10 days'
      from generate_series(1, 5000) as n`;
    await db.sql`vacuum analyze svc.recomputes`;
    await add("old", "completed", 31 * DAY, 1);
    type Explained = [{ Plan: { "Shared Hit Blocks": number; "Shared Read Blocks": number } }];
    const [row] = await db.sql<[{ "QUERY PLAN": Explained }]>`
      explain (analyze, buffers, format json) select svc_api.sweep_recomputes(5)`;
    const { Plan } = row["QUERY PLAN"][0];
    expect(Plan["Shared Hit Blocks"] + Plan["Shared Read Blocks"]).toBeLessThan(500);
    expect(await left()).toMatchObject({ old: 0 });
  });
});

it("a worker sweeps every ten minutes, as its role", async () => {
  await KINDS["a session"].add("over", -60);
  await KINDS["a session"].add("kept", 60);
  await db.sql`
    insert into svc.recomputes (environment_id, recompute_id, kind, pinned_at, status, requested_by, finished_at)
    values (1, 'rec_1', 'recompute', now(), 'completed', 'a@b', now() - interval '31 days')`;
  await db.sql`
    insert into svc.recompute_customers (environment_id, recompute_id, customer_id, weight, difference)
    select 1, 'rec_1', 'c' || n, n, '{}' from generate_series(1, 2500) as n`;
  const sql = connect(db.url, { max: 4, applicationName: "svc test worker", role: "svc_worker" });
  const worker = await startWorker({
    databaseUrl: db.url,
    useRoles: true,
    sql,
    settleSeconds: 30,
    attemptDays: 30,
    onRecompute: () => undefined,
    concurrency: 1,
    logger: runLog(),
    onStalled: () => undefined,
  });
  try {
    await vi.waitFor(
      async () =>
        expect(await db.sql`select identifier from graphile_worker._private_known_crontabs order by 1`).toEqual([
          { identifier: "sweep_iam" },
          { identifier: "sweep_recomputes" },
          { identifier: "sweep_retention" },
          { identifier: "sweep_webhooks" },
        ]),
      { timeout: 10_000 },
    );
    // Not to wait for the ten minutes.
    await db.sql`select graphile_worker.add_job('sweep_iam'), graphile_worker.add_job('sweep_recomputes')`;
    await vi.waitFor(
      async () => expect((await KINDS["a session"].left()).map(({ name }) => String(name))).toEqual(["kept"]),
      { timeout: 10_000 },
    );
    await vi.waitFor(async () => expect(await db.sql`select from svc.recompute_customers`).toHaveLength(0), {
      timeout: 10_000,
    });
  } finally {
    await worker.stop();
    await sql.end();
  }
});
