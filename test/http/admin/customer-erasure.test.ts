import type { Sql } from "postgres";
import { afterEach, beforeAll, expect, it } from "vitest";
import { connect } from "../../../src/db/connect.js";
import { call } from "../../../src/db/api/call.js";

import { useSpec } from "../../spec/support/fixture.js";
import { environmentId, snapshot } from "../../support/service.js";
import { claim } from "../../webhooks/support/fixtures.js";
import { startTestWorker } from "../../tasks/support/worker.js";
import { refused } from "./support/api.js";
import { waitingForLock } from "../../support/locks.js";

const fixture = useSpec();
let sql: Sql;
let environment: number;
const erase = (customer: string) => fixture.admin("DELETE", `/projects/app/customers/${encodeURIComponent(customer)}`);
const erased = (counts: object) => ({ status: 200, body: { erased: counts } });
const login = (customerId: string, more: object = {}) => {
  return { customerId, event: "login", properties: { seats: 1 }, ...more };
};
/** Evaluates customers after a login. */
const evaluated = async (...customers: string[]) => {
  await fixture.batch(customers.map((customer) => login(customer)));
  await fixture.evaluate();
};

beforeAll(async () => {
  sql = fixture.service.db.sql;
  environment = await environmentId(sql, "app", "test");
  await fixture.deploy(snapshot({ strictSchema: false }));
});
afterEach(() => sql`truncate svc.recomputes, svc.recompute_customers`);

/** Resolves once a call of a function waits for a lock. */
async function waits(name: string): Promise<void> {
  await expect.poll(() => waitingForLock(sql, `%svc_api.${name}%`)).toBe(1);
}

it("erases a customer, reports how much was erased, and records who did it without the customer's id", async () => {
  await fixture.batch([
    login("ann", { idempotencyKey: "k1" }),
    login("ann"),
    { type: "identify", customerId: "ann", traits: { plan: "pro" } },
  ]);
  await fixture.evaluate();
  const kinds =
    "pending blockedTransitions journeyRuns healthScores ruleExecutions signals deliveries deliveryAttempts recomputes recomputeResults quarantined";
  const none = Object.fromEntries(kinds.split(" ").map((kind) => [kind, 0]));
  const some = { events: 2, identifies: 1, idempotencyKeys: 1, transitions: 2, memberships: 1, emissions: 3 };
  const counts = { ...none, ...some };
  expect(await erase("ann")).toMatchObject(erased(counts));
  const entries = await sql`
    select actor, project, environment, target, details, request_id from iam.audit_log where action = 'customer.erased'`;
  const who = { actor: "owner@acme.example", request_id: "req" };
  expect([...entries]).toEqual([{ ...who, project: "app", environment: "test", target: null, details: counts }]);
  // An erased customer is unknown, like one that never existed.
  for (const customer of ["ann", "nobody"])
    expect(await erase(customer)).toMatchObject(refused(404, "CUSTOMER_NOT_FOUND"));
});

it("a key that is erased while a call checks it is stored again with its event", async () => {
  await fixture.single(login("ann", { idempotencyKey: "a" }));
  let sent: Promise<unknown> = Promise.resolve();
  await sql
    .begin(async (tx) => {
      // The call finds "a" taken, then waits for this transaction.
      await tx`insert into svc.idempotency_keys values (${environment}, 'b', 1, 1, now())`;
      sent = fixture.batch([login("ann", { idempotencyKey: "a" }), login("ann", { idempotencyKey: "b" })]);
      await waits("ingest");
      await erase("ann");
      throw new Error("rolled back");
    })
    .catch((error: unknown) => expect(error).toMatchObject({ message: "rolled back" }));
  expect(await sent).toMatchObject({ status: 202, body: { accepted: 2 } });
  const keys = await sql`
    select k.idempotency_key as key, e.customer_id as of
    from svc.idempotency_keys as k join svc.events as e using (environment_id, event_seq) order by 1`;
  expect(keys).toEqual(["a", "b"].map((key) => ({ key, of: "ann" })));
});

it("a delivery in progress is not recorded, and does not affect others", async () => {
  await sql`
    insert into svc.webhooks (environment_id, webhook_id, url, event_types, sealed_secret)
    values (${environment}, 'whk_1', 'https://receiver.example/hook', '{customer.active}', '')`;
  await evaluated("dora", "emil");
  const claimed = await claim(sql, "w", 10);
  const outcome = { latencyMs: 1, statusCode: 200, error: null, response: "dora was here", retryAfterSeconds: null };
  const attempts = claimed.map((delivery) => ({ ...delivery, attemptedAt: new Date().toISOString(), ...outcome }));
  expect(await erase("dora")).toMatchObject(erased({ deliveries: 1, emissions: 2 }));
  await call(sql, "record_attempts", attempts);
  const recorded = await sql`
    select m.customer_id, d.status, d.attempts, a.attempt
    from svc.deliveries as d
    left join svc.delivery_attempts as a using (environment_id, webhook_id, emission_seq)
    left join svc.emissions as m using (environment_id, emission_seq)
    where m.customer_id is distinct from 'ann'`;
  expect(recorded).toEqual([{ customer_id: "emil", status: "delivered", attempts: 1, attempt: 1 }]);
});

it("schema violations forget the customer's operations", async () => {
  const violations = () => sql`select path, operations, last_seq from svc.schema_violations order by path`;
  await fixture.batch([
    login("gil", { properties: { seats: 1, gil: 1 } }),
    login("hal", { properties: { seats: 1, both: 1 } }),
    login("gil", { properties: { seats: 1, both: 1 } }),
  ]);
  expect(await violations()).toMatchObject([{ path: "properties.both" }, { path: "properties.gil" }]);
  await erase("gil");
  expect(await violations()).toEqual([{ path: "properties.both", operations: "2", last_seq: null }]);
  const list = await fixture.admin("GET", "/projects/app/schema-violations");
  expect(list.body).toMatchObject({ data: [{ path: "properties.both", lastEventId: null, lastCustomerId: null }] });
});

/** Adds a recompute, of all customers unless `customer_id` is given, with a result for each of these customers. */
async function recompute(id: string, columns: object, customers: readonly string[] = []): Promise<void> {
  const row = { environment_id: environment, recompute_id: id, kind: "recompute", requested_by: "a@b", ...columns };
  await sql`insert into svc.recomputes ${sql({ pinned_at: new Date(), ...row })}`;
  await sql`
    insert into svc.recompute_customers (environment_id, recompute_id, customer_id, weight, difference)
    select ${environment}, ${id}, c, 1, json_build_object('customerId', c) from unnest(${customers}::text[]) as c`;
}
const COMPLETED = { status: "completed", finished_at: new Date() };
const DEAD = { status: "dead_letter", finished_at: new Date(), error: "no" };

/** Each recompute with its only or last customer. */
async function recomputes(): Promise<unknown> {
  const rows = await sql`
    select recompute_id, coalesce(customer_id, last_customer_id) as customer from svc.recomputes order by recompute_id`;
  return Object.fromEntries(rows.map((row) => [row["recompute_id"], row["customer"]]));
}

it("the customer's recompute that is being cancelled meanwhile is not found any more", async () => {
  await evaluated("own");
  await recompute("rec_own", { status: "queued", customer_id: "own" });
  let cancelled: Promise<unknown> = Promise.resolve();
  await sql.begin(async (tx) => {
    // Like the erasure.
    await tx`delete from svc.recomputes where recompute_id = 'rec_own'`;
    cancelled = fixture.admin("POST", "/projects/app/recomputes/rec_own/cancel");
    await waits("cancel_recompute");
  });
  const message = 'There is no recompute "rec_own" in this environment.';
  expect(await cancelled).toMatchObject(refused(404, "RECOMPUTE_NOT_FOUND", { message }));
});

it("recomputes forget the customer: its own are deleted, others continue after the preceding customer", async () => {
  await evaluated("person a", "person b", "person c");
  const two = ["person b", "person c"];
  await recompute("rec_own_completed", { ...COMPLETED, customer_id: "person b" }, ["person b"]);
  await recompute("rec_own_dry", { ...COMPLETED, kind: "dry_run", customer_id: "person b" });
  await recompute("rec_own_dead", { ...DEAD, customer_id: "person b" });
  await recompute("rec_own_queued", { status: "queued", customer_id: "person b" });
  await recompute("rec_other", { status: "queued", customer_id: "person c" });
  await recompute("rec_completed", COMPLETED, two);
  await recompute("rec_running", { status: "running", last_customer_id: "person b" }, two);
  await recompute("rec_dead", { ...DEAD, last_customer_id: "person b" }, two);
  await recompute("rec_further", { ...DEAD, last_customer_id: "person c" }, two);
  await recompute("rec_queued", { status: "queued" });
  expect(await erase("person b")).toMatchObject(erased({ recomputes: 4, recomputeResults: 5 }));
  expect(await recomputes()).toEqual({
    rec_completed: null,
    rec_dead: "person a",
    rec_further: "person c",
    rec_other: "person c",
    rec_queued: null,
    rec_running: "person a",
  });
  const results = await sql`select recompute_id, customer_id from svc.recompute_customers order by 1`;
  expect(results.map((row) => row["customer_id"] as string)).toEqual(Array(4).fill("person c"));

  // No row of any table contains the id.
  const tables = await sql<{ name: string }[]>`
    select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('iam', 'svc', 'graphile_worker')`;
  const holding = async (id: string) => {
    const found: string[] = [];
    for (const { name } of tables) {
      const rows = await sql.unsafe(`select from ${name} as t where t::text like '%' || $1 || '%'`, [id]);
      if (rows.length > 0) found.push(name);
    }
    return found;
  };
  expect(await holding("person c")).toContain("svc.recompute_customers");
  expect(await holding("person b")).toEqual([]);
});

it("a recompute that has done only the erased customer restarts, and one of an unknown customer is erased", async () => {
  await fixture.batch([login("!")]);
  await recompute("rec_dead", { ...DEAD, last_customer_id: "!" });
  expect(await erase("!")).toMatchObject({ status: 200 });
  expect(await recomputes()).toEqual({ rec_dead: null });
  await recompute("rec_queued", { status: "queued", customer_id: "nobody" });
  expect(await erase("nobody")).toMatchObject(erased({ events: 0, recomputes: 1 }));
  expect(await erase("nobody")).toMatchObject({ status: 404 });
  expect(await sql`select from svc.customers where customer_id = 'nobody'`).toHaveLength(0);
});

it.each([
  ["person b", "person a"],
  ["person a", "person b"],
])("concurrent erasures of %s and %s leave neither as the last customer done", async (a, b) => {
  await evaluated("person", "person a", "person b");
  await recompute("rec_dead", { ...DEAD, last_customer_id: "person b" });
  let second: Promise<unknown> = Promise.resolve();
  await sql.begin(async (tx) => {
    await tx`select svc.delete_customer(${environment}, ${a})`;
    second = erase(b);
    await waits("erase_customer");
  });
  expect(await second).toMatchObject({ status: 200 });
  expect(await recomputes()).toEqual({ rec_dead: "person" });
});

it("what a recompute writes about a customer during its erasure is erased, too", async () => {
  await evaluated("person a", "person b");
  await recompute("rec_running", { status: "running" });
  let erasure: Promise<unknown> = Promise.resolve();
  // Like a worker: lock the customer's row first, the recompute's last.
  await sql.begin(async (tx) => {
    await tx`select from svc.customers where environment_id = ${environment} and customer_id = 'person b' for update`;
    erasure = erase("person b");
    await waits("erase_customer");
    await tx`
      insert into svc.recompute_customers (environment_id, recompute_id, customer_id, weight, difference)
      values (${environment}, 'rec_running', 'person b', 1, '{}')`;
    await tx`update svc.recomputes set last_customer_id = 'person b', customers_done = 2`;
  });
  expect(await erasure).toMatchObject(erased({ recomputeResults: 1 }));
  expect(await recomputes()).toEqual({ rec_running: "person a" });
});

it("a customer that returns during its erasure starts with the returning event, even if a worker was evaluating an erased one", async () => {
  await fixture.batch([login("back")]);
  const alone = () => connect(fixture.service.db.url, { max: 1, applicationName: "svc test transaction" });
  const [erasure, evaluation] = [alone(), alone()];
  try {
    await erasure`begin`;
    await erasure`select svc.delete_customer(${environment}, 'back')`;
    await evaluation`begin`;
    const inserted = evaluation`select svc.insert_new_customers(${environment}, '{back}') as customer`.execute();
    await expect.poll(() => waitingForLock(sql, "%svc.insert_new_customers%")).toBe(1);
    await fixture.batch([login("back")]);
    await erasure`commit`;
    expect(await inserted).toEqual([{ customer: "back" }]);
    await evaluation`commit`;
  } finally {
    await Promise.all([erasure.end(), evaluation.end()]);
  }
  const began = await sql`
    select c.created_at = e.accepted_at as "withTheReturn"
    from svc.customers as c join svc.events as e using (environment_id, customer_id) where c.customer_id = 'back'`;
  expect(began).toEqual([{ withTheReturn: true }]);
});

it("during ingestion and evaluation, every event is either stored and evaluated or erased without a trace", async () => {
  // In an environment written only by the service, so that the invariants can be checked.
  await fixture.deploy(snapshot({ strictSchema: false }), "live");
  await startTestWorker(fixture.service.db, {
    concurrency: 3,
    onStalled: (error) => {
      throw error;
    },
  });
  const live = { Authorization: `Bearer ${fixture.keys.live}` };
  const customers = Array.from({ length: 8 }, (_, n) => `busy-${n}`);
  const outcomes = new Map<number, number>();
  let sending = true;
  const send = async (from: number): Promise<void> => {
    for (let n = 0; n < 25; n++) {
      const events = customers.map((customer) => login(customer, { idempotencyKey: `${from} ${n} ${customer}` }));
      expect(await fixture.batch(events, live)).toMatchObject({ status: 202 });
    }
  };
  const eraseAll = async (): Promise<void> => {
    while (sending) {
      for (const customer of customers) {
        const { status } = await fixture.admin("DELETE", `/projects/app/customers/${customer}?env=live`);
        outcomes.set(status, (outcomes.get(status) ?? 0) + 1);
      }
    }
  };
  const erasing = Promise.all([eraseAll(), eraseAll()]);
  await Promise.all([send(1), send(2), send(3)]);
  sending = false;
  await erasing;
  // The last events.
  await fixture.batch(
    customers.map((customer) => login(customer)),
    live,
  );
  const waiting = async () => (await sql`select from svc.inbox where customer_id like 'busy-%' limit 1`).length;
  await expect.poll(waiting, { timeout: 60_000 }).toBe(0);

  expect([...outcomes.keys()].every((status) => status === 200 || status === 404)).toBe(true);
  expect(outcomes.get(200)).toBeGreaterThan(5);
  const states = await sql`
    select c.customer_id as customer, c.set_aside_at as "setAside",
      (c.state -> 'memory' -> 2 ->> 0)::integer = e.kept as remembered, e.created
    from svc.customers as c
    cross join lateral (
      select count(*) as kept, bool_or(e.accepted_at = c.created_at) as created from svc.events as e
      where e.environment_id = c.environment_id and e.customer_id = c.customer_id
    ) as e
    where c.customer_id like 'busy-%' order by 1`;
  // Each state counts exactly the events that are stored, and its creation is that of a stored event.
  const consistent = { setAside: null, remembered: true, created: true };
  expect(states).toEqual(customers.map((customer) => ({ customer, ...consistent })));
  // No row refers to a customer without a state, and no key to an erased event.
  expect(await sql`select invariant, examples from svc_inspect.invariants() where environment = 'live'`).toEqual([]);
}, 120_000);
