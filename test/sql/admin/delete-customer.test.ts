import { beforeEach, expect, it } from "vitest";
import { count, happened, snapshotOf } from "../../engine/support/builders.js";
import { call } from "../../../src/db/api/call.js";
import { connect } from "../../../src/db/connect.js";
import { useDatabase } from "../../support/database.js";
import { violations } from "../../support/invariants.js";
import { waitingForLock } from "../../support/locks.js";
import { TestEnvironment } from "../../tasks/support/environment.js";

const MODEL = snapshotOf({
  states: { new: [["activated", happened("login")]], activated: [] },
  segments: { frequent: count("login", "gte", 2) },
});
const AT = "2026-03-01T10:00:00.000Z";
const LATER = "2026-03-02T10:00:00.000Z";

let environment: TestEnvironment;

const db = await useDatabase();
const { sql } = db;
beforeEach(async () => {
  environment = await TestEnvironment.create(sql, MODEL);
});

const login = (customer: string, at = AT) => ({ customer, at, event: "login" });

/** Expects that no row of a customer is left. */
async function expectGone(customer: string): Promise<void> {
  expect(await environment.documentText(customer)).toBeNull();
  expect((await environment.pending()).map((waiting) => waiting.customer)).not.toContain(customer);
  // Among others, that every row belongs to a customer.
  expect(await violations(sql)).toEqual([]);
}

it("deletes the keys of the events, but no key that was used for another event since", async () => {
  await environment.ingest([login("ann"), login("ann"), login("bob")]);
  const id = environment.environmentId;
  // "a" was the key of ann's first event, "b" of her second and, after it had expired, of bob's.
  await sql`
    update svc.events as e set idempotency_key = n.key
    from (
      select event_seq, (array['a', 'b', 'b'])[row_number() over (order by event_seq)] as key
      from svc.events where environment_id = ${id}
    ) as n
    where e.environment_id = ${id} and e.event_seq = n.event_seq`;
  await sql`
    insert into svc.idempotency_keys
    select environment_id, idempotency_key, 1, max(event_seq), now() from svc.events where environment_id = ${id} group by 1, 2`;
  expect(await environment.erase("ann")).toMatchObject({ events: 2, idempotencyKeys: 1 });
  const keys = await sql`select idempotency_key from svc.idempotency_keys where environment_id = ${id}`;
  expect([...keys]).toEqual([{ idempotency_key: "b" }]);
});

it("waits for the worker that evaluates the customer, for the first time or again", async () => {
  for (const events of [1, 2]) {
    if (events === 2) await environment.take({ at: AT }, [login("ann")]);
    await environment.ingest([login("ann", LATER)]);
    let erasing: Promise<Record<string, number>> | undefined;
    await sql.begin(async (tx) => {
      const [{ input }] = await tx<[{ input: { customers: object[] } }]>`
        select svc_api.begin_chunk(${environment.environmentId}, 10, 10, '0', ${LATER}::text::timestamptz) as input`;
      expect(input.customers).toHaveLength(1);
      erasing = environment.erase("ann");
      await expect.poll(() => waitingForLock(sql, "%erase_customer%")).toBe(1);
    });
    expect(await erasing).toMatchObject({ events });
    await expectGone("ann");
  }
});

it("a worker that waited for the erasure before taking the customer's first operations leaves nothing behind", async () => {
  await environment.ingest([login("ann"), login("bob")]);
  let evaluated: Promise<void> | undefined;
  await sql.begin(async (tx) => {
    await call(tx, "erase_customer", environment.by, environment.place, "ann");
    evaluated = environment.evaluate({ at: AT });
    await expect.poll(() => waitingForLock(sql, "%begin_chunk%")).toBe(1);
  });
  await evaluated;
  await expectGone("ann");
  expect(await environment.document("bob")).toMatchObject({ lifecycle: "activated" });
});

it("neither the erasure nor the export scans a growing table", async () => {
  await environment.ingest([login("ann")]);
  await environment.evaluate({ at: AT });
  // A new session, since an earlier one's reads may still be counted.
  const session = connect(db.url, { max: 1, applicationName: "svc test plans" });
  const read = await session.begin(async (tx) => {
    await tx`select svc.open_customer_export(${environment.environmentId}, 'ann')`;
    const cursors = await tx<{ name: string }[]>`select name from pg_cursors where name like 'export%'`;
    expect(cursors).toHaveLength(14);
    for (const { name } of cursors) await tx.unsafe(`fetch all from "${name}"`);
    await tx`select svc.delete_customer(${environment.environmentId}, 'ann')`;
    return tx<{ name: string }[]>`
      select relname as name from pg_stat_xact_user_tables where schemaname = 'svc' and seq_scan > 0 order by 1`;
  });
  await session.end();
  const small = ["environments", "projects", "webhooks", "config_versions"];
  expect(read.map(({ name }) => name).filter((name) => !small.includes(name))).toEqual([]);
});
