import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { call } from "../../src/db/api/call.js";
import { useDatabase } from "../support/database.js";
import { pagesOf } from "../support/pages.js";
import { startTestWorker } from "./support/worker.js";

const db = await useDatabase();
beforeAll(async () => {
  await db.sql`insert into iam.users (user_id, email) values ('usr_1', 'ada@example.com')`;
  await db.sql`insert into iam.organizations (organization_id, slug) values ('org_1', 'acme')`;
});
beforeEach(async () => {
  await db.sql`
    truncate iam.sessions, iam.device_authorizations, iam.invitations, iam.password_links, iam.access_tokens, iam.throttles,
      svc.recomputes, svc.recompute_customers`;
});

const DAY = 86_400;

/** The kinds of swept rows: the table, the seconds that a row is kept after its end, and the insert of a row that ended then. */
const KINDS: Record<string, [table: string, id: string, keptSeconds: number, insert: string]> = {
  "a session": ["sessions", "session_hash", 0, "(session_hash, user_id, expires_at) select hash, 'usr_1', ended"],
  "a device authorization": ["device_authorizations", "device_code_hash", 3_600, `
    (device_code_hash, user_code, client_id, address, created_at, expires_at, interval_seconds)
    select hash, name, 'svc-cli', '192.0.2.1', now(), ended, 5`],
  "an invitation": ["invitations", "link_hash", 30 * DAY, `
    (organization_id, invitation_id, link_hash, email, role, created_by, expires_at)
    select 'org_1', name, hash, name || '@example.com', 'viewer', 'operator', ended`],
  "a password link": ["password_links", "link_hash", 30 * DAY, `
    (link_hash, user_id, created_by, expires_at) select hash, 'usr_1', 'operator', ended`],
  "an access token that expired": ["access_tokens", "token_hash", 90 * DAY, `
    (token_hash, token_id, kind, user_id, label, expires_at) select hash, name, 'session', 'usr_1', 'test', ended`],
  "a throttle that is full": ["throttles", "bucket", 0, "(bucket, full_at) select hash, ended"],
}; // oxfmt-ignore

/** Adds a row that ended `secondsAgo` seconds ago. */
const add = (kind: string, name: string, secondsAgo: number) => {
  const [table, , , insert] = KINDS[kind]!;
  return db.sql.unsafe(`
    insert into iam.${table} ${insert}
    from (select '${name}' as name, '${name}'::bytea as hash, now() - ${secondsAgo} * interval '1 second' as ended) as n`);
};
/** The names of the remaining rows. */
const left = async (kind: string) => {
  const [table, id] = KINDS[kind]!;
  const rows = await db.sql<{ name: Buffer }[]>`select ${db.sql(id)} as name from ${db.sql(`iam.${table}`)} order by 1`;
  return rows.map(({ name }) => String(name));
};

describe("sweeping deletes", () => {
  it.each(Object.entries(KINDS))("%s only when its time is over", async (kind, [, , keptSeconds]) => {
    await add(kind, "over", keptSeconds + 60);
    await add(kind, "kept", keptSeconds - 60);
    expect(await call(db.sql, "sweep_iam")).toBe("1");
    expect(await left(kind)).toEqual(["kept"]);
    expect(await call(db.sql, "sweep_iam")).toBe("0");
  });

  it("no row locked by another transaction, and does not wait", async () => {
    await add("a session", "over", 60);
    await db.sql.begin(async (tx) => {
      await tx`select from iam.sessions for update`;
      expect(await call(db.sql, "sweep_iam")).toBe("0");
    });
    expect(await call(db.sql, "sweep_iam")).toBe("1");
  });
});

/** Adds a recompute that ended `ended` seconds ago, or is running, with a number of results. */
const addRecompute = async (id: string, status: string, ended: number | null, results: number) => {
  await db.sql`
    insert into svc.recomputes (environment_id, recompute_id, kind, pinned_at, status, requested_by, finished_at)
    values (1, ${id}, 'recompute', now(), ${status}, 'a@b', now() - ${ended}::double precision * interval '1 second')`;
  await db.sql`
    insert into svc.recompute_customers (environment_id, recompute_id, customer_id, weight, difference)
    select 1, ${id}, 'c' || n, n, '{}' from generate_series(1, ${results}) as n`;
};

describe("the sweep of recompute results", () => {
  /** The number of remaining results of each recompute. */
  const resultsLeft = async () => {
    const rows = await db.sql<{ id: string; results: number }[]>`
      select r.recompute_id as id, count(c.customer_id)::integer as results
      from svc.recomputes as r left join svc.recompute_customers as c using (environment_id, recompute_id)
      group by 1`;
    return Object.fromEntries(rows.map(({ id, results }) => [id, results]));
  };
  const sweep = () => call(db.sql, "sweep_recomputes", 5);

  it("removes results only 30 days after the end, a limited number at a time, but keeps the recomputes", async () => {
    await addRecompute("completed", "completed", 30 * DAY + 120, 12);
    await addRecompute("dead", "dead_letter", 30 * DAY + 60, 1);
    await addRecompute("without", "completed", 30 * DAY + 60, 0);
    await addRecompute("young", "completed", 30 * DAY - 60, 2);
    await addRecompute("running", "running", null, 2);
    const swept: number[] = [];
    const counts: number[] = [];
    for (let rows = -1; rows !== 0; swept.push(rows)) {
      rows = await sweep();
      counts.push((await resultsLeft())["completed"]!);
    }
    expect(counts).toEqual([7, 2, 0, 0, 0]);
    expect(swept).toEqual([5, 5, 5, 1, 0]);
    expect(await resultsLeft()).toEqual({ completed: 0, dead: 0, without: 0, young: 2, running: 2 });
  });

  it("removes results again if a recompute that was given up continued later", async () => {
    await addRecompute("dead", "dead_letter", 90 * DAY, 3);
    while ((await sweep()) > 0);
    await db.sql`update svc.recomputes set status = 'running', finished_at = null`;
    await db.sql`
      insert into svc.recompute_customers (environment_id, recompute_id, customer_id, weight, difference)
      values (1, 'dead', 'd', 1, '{}')`;
    expect(await sweep()).toBe(0);
    await db.sql`update svc.recomputes set status = 'completed', finished_at = now() - interval '31 days', swept_at = now() - interval '60 days'`;
    expect(await sweep()).toBe(2);
    expect(await resultsLeft()).toEqual({ dead: 0 });
  });

  it("does not wait for an erasure, and leaves locked rows to the next time", async () => {
    await addRecompute("old", "completed", 31 * DAY, 3);
    await db.sql.begin(async (tx) => {
      await tx`select from svc.recompute_customers where environment_id = 1 and customer_id = 'c2' for update`;
      expect(await sweep()).toBe(2);
      expect(await sweep()).toBe(0);
    });
    expect(await resultsLeft()).toEqual({ old: 1 });
    expect(await sweep()).toBe(2);
    expect(await sweep()).toBe(0);
  });

  it("finds results by index, however many recomputes were swept before", async () => {
    await db.sql`
      insert into svc.recomputes (environment_id, recompute_id, kind, pinned_at, status, requested_by, finished_at, swept_at)
      select 1, 'rec_' || n, 'recompute', now(), 'completed', 'a@b', now() - interval '40 days', now() - interval '10 days'
      from generate_series(1, 5000) as n`;
    await db.sql`vacuum analyze svc.recomputes`;
    await addRecompute("old", "completed", 31 * DAY, 1);
    expect(await pagesOf(db.sql, db.sql`select svc_api.sweep_recomputes(5)`)).toBeLessThan(500);
    expect(await resultsLeft()).toMatchObject({ old: 0 });
  });
});

it("a worker counts trends every minute and sweeps every ten, as its role", async () => {
  await add("a session", "over", 60);
  await add("a session", "kept", -60);
  await addRecompute("rec_1", "completed", 31 * DAY, 2_500);
  await startTestWorker(db, { useRoles: true, settleSeconds: 30 });
  const repeated = ["count_trends", "sweep_iam", "sweep_recomputes", "sweep_retention", "sweep_webhooks"];
  await expect
    .poll(() => db.sql`select key from graphile_worker.jobs where key is not null order by 1`, { timeout: 10_000 })
    .toEqual(repeated.map((key) => ({ key })));
  // Instead of waiting ten minutes.
  await db.sql`update graphile_worker._private_jobs set run_at = now() where key in ('sweep_iam', 'sweep_recomputes')`;
  await expect.poll(() => left("a session"), { timeout: 10_000 }).toEqual(["kept"]);
  await expect.poll(() => db.sql`select from svc.recompute_customers`, { timeout: 10_000 }).toHaveLength(0);
});
