import { expect, it } from "vitest";
import { type ChunkRequest, readRecomputeChunk, type RecomputeCustomer } from "../../../src/db/api/recompute.js";
import { rolledBack, useDatabase } from "../../support/database.js";
import { pagesOf } from "../../support/pages.js";

const ENVIRONMENT = 7;
const CUSTOMERS = 60;
const EVENTS = 40;
/** The size of each stored event. */
const BYTES = 960;

const db = await useDatabase();
const { sql } = db;
await sql`
  insert into svc.customers (environment_id, customer_id, created_at, state)
  select ${ENVIRONMENT}, 'c' || 100 + n, '2026-01-01Z', '{}' from generate_series(1, ${CUSTOMERS}) as n`;
// Nothing in them repeats, so they are stored uncompressed.
await sql`
  insert into svc.events (environment_id, event_seq, customer_id, event, properties, occurred_at, accepted_at)
  select
    ${ENVIRONMENT}, c * 1000 + n, 'c' || 100 + c, case when n % 2 = 0 then 'paid' else 'other' end,
    jsonb_build_object('x', (select string_agg(md5(concat(c, '/', n, '/', k)), '') from generate_series(1, ${BYTES / 32}) as k)),
    '2026-01-02Z'::timestamptz + n * interval '1 minute', now()
  from generate_series(1, ${CUSTOMERS}) as c cross join generate_series(1, ${EVENTS}) as n`;
await sql`vacuum analyze svc.events, svc.customers`;

const JOB = {
  environmentId: ENVIRONMENT,
  customerId: null,
  pinnedAt: Date.parse("2026-02-01T00:00:00Z"),
  sampleShare: null,
} as Parameters<typeof readRecomputeChunk>[1];
const ALL: ChunkRequest = {
  afterCustomerId: null,
  propertyEvents: ["paid", "other"],
  customers: CUSTOMERS,
  each: 1_000,
  bytesEach: 1_000_000,
  bytes: 1_000_000_000,
};

async function read(request: Partial<ChunkRequest>, on: Parameters<typeof readRecomputeChunk>[0] = sql) {
  const texts = await readRecomputeChunk(on, JOB, { ...ALL, ...request });
  return texts.map((text) => JSON.parse(text) as RecomputeCustomer);
}

const NONE = { seqs: null, at: null, names: null, properties: null };

it("returns all events of a customer, in order, as lists, with the properties of the requested ones", async () => {
  const [customer] = await read({ customers: 1, propertyEvents: ["paid"] });
  const { seqs, at, names, properties } = customer!.events;
  const numbers = Array.from({ length: EVENTS }, (_, i) => i + 1);
  expect(customer).toMatchObject({ customerId: "c101", moreEvents: false, moreExecutions: false, executions: null });
  expect(seqs).toEqual(numbers.map((n) => 1_000 + n));
  expect(at).toEqual(numbers.map((n) => Date.parse("2026-01-02T00:00:00Z") + n * 60_000));
  expect(names).toEqual(numbers.map((n) => (n % 2 === 0 ? "paid" : "other")));
  expect(properties!.map((of) => of !== null)).toEqual(numbers.map((n) => n % 2 === 0));
});

it("returns none if they exceed a page, by number or by bytes, and says so", async () => {
  const eventsOf = async (request: Partial<ChunkRequest>) => {
    const [{ events, moreEvents }] = (await read({ ...request, customers: 1 })) as [RecomputeCustomer];
    return moreEvents ? events : events.seqs?.length;
  };
  expect(await eventsOf({ each: EVENTS })).toBe(EVENTS);
  expect(await eventsOf({ each: EVENTS - 1 })).toEqual(NONE);
  expect(await eventsOf({ bytesEach: EVENTS * (BYTES + 50) })).toBe(EVENTS);
  expect(await eventsOf({ bytesEach: EVENTS * BYTES - 50 })).toEqual(NONE);
  // Properties that are not requested do not count.
  expect(await eventsOf({ bytesEach: EVENTS * BYTES - 50, propertyEvents: ["paid"] })).toBe(EVENTS);
});

it("omits events that wait, orders those of one instant by acceptance, and includes customers without events", async () => {
  await rolledBack(sql, async (tx) => {
    await tx`insert into svc.customers (environment_id, customer_id, created_at) values (${ENVIRONMENT}, 'c100', '2026-01-01Z')`;
    await tx`
      insert into svc.inbox (environment_id, customer_id, seq)
      values (${ENVIRONMENT}, 'c101', 1004), (${ENVIRONMENT}, 'c101', 1007), (${ENVIRONMENT}, 'c103', 3001)`;
    await tx`
      update svc.events set occurred_at = '2026-01-02Z'
      where environment_id = ${ENVIRONMENT} and customer_id = 'c101' and event_seq % 10 = 3`;
    const [without, ...customers] = await read({ customers: 4 }, tx);
    expect(without).toMatchObject({ customerId: "c100", events: NONE, moreEvents: false });
    const missing = customers.map(({ events }, i) =>
      Array.from({ length: EVENTS }, (_, n) => (i + 1) * 1_000 + n + 1).filter((seq) => !events.seqs!.includes(seq)),
    );
    expect(missing).toEqual([[1_004, 1_007], [], [3_001]]);
    expect(customers[0]!.events.seqs!.slice(0, 5)).toEqual([1_003, 1_013, 1_023, 1_033, 1_001]);
  });
});

it("continues after a customer, with those that existed at the pinned instant, or returns the requested one", async () => {
  await rolledBack(sql, async (tx) => {
    await tx`
      update svc.customers set created_at = '2026-02-02Z'
      where environment_id = ${ENVIRONMENT} and customer_id in ('c104', 'c106')`;
    const ids = async (request: Partial<ChunkRequest>, job: object = {}) => {
      const texts = await readRecomputeChunk(tx, { ...JOB, ...job }, { ...ALL, customers: 3, ...request });
      return texts.map((text) => (JSON.parse(text) as RecomputeCustomer).customerId);
    };
    expect(await ids({ afterCustomerId: "c102" })).toEqual(["c103", "c105", "c107"]);
    expect(await ids({ afterCustomerId: "c160" })).toEqual([]);
    expect(await ids({}, { customerId: "c105" })).toEqual(["c105"]);
    expect(await ids({ afterCustomerId: "c105" }, { customerId: "c105" })).toEqual([]);
    expect(await ids({}, { customerId: "c106" })).toEqual([]);
  });
});

it("returns a page of the log of rules, of the current generation, and says if there is more", async () => {
  await rolledBack(sql, async (tx) => {
    await tx`update svc.customers set generation = 1 where environment_id = ${ENVIRONMENT} and customer_id = 'c101'`;
    await tx`
      insert into svc.rule_executions (
        environment_id, customer_id, generation, rule_id, result, triggered_by, conditions, action, executed_at, cause_type
      )
      select ${ENVIRONMENT}, 'c101', g, 'rule_' || n, 'pass', 'event:paid', '{}', '{}', '2026-01-02Z'::timestamptz + n * interval '1 s', 'event'
      from generate_series(1, 45) as n cross join generate_series(0, 1) as g`;
    const logOf = async (each: number) => {
      const [{ executions, moreExecutions }] = (await read({ each, customers: 1 }, tx)) as [RecomputeCustomer];
      return { rules: executions!.map(([rule]) => rule), moreExecutions };
    };
    const rules = Array.from({ length: 45 }, (_, n) => `rule_${n + 1}`);
    expect(await logOf(45)).toEqual({ rules, moreExecutions: false });
    expect(await logOf(44)).toMatchObject({ moreExecutions: true });
  });
});

it("returns at most eight customers whose events exceed a page, since their replays take long", async () => {
  expect(await read({ each: EVENTS - 1, bytes: 16 * 1024 * 1024 })).toHaveLength(8);
  expect(await read({ each: EVENTS, bytes: 16 * 1024 * 1024 })).toHaveLength(CUSTOMERS);
});

it("ends with the customer that reaches the byte limit of a chunk, and reads no further ones", async () => {
  expect(await read({ bytes: 1 })).toHaveLength(1);
  const three = await read({ bytes: 2.5 * EVENTS * BYTES });
  expect(three.map(({ customerId }) => customerId)).toEqual(["c101", "c102", "c103"]);

  const pagesFor = (customers: number) =>
    pagesOf(
      sql,
      sql`
        select from svc_api.read_recompute_chunk(
          ${ENVIRONMENT}, now(), null, null::float8, null, ${ALL.propertyEvents}::text[], ${customers}, ${ALL.each},
          ${ALL.bytesEach}::bigint, 1::bigint
        )`,
    );
  await pagesFor(CUSTOMERS); // catalogs are read once
  expect(await pagesFor(CUSTOMERS)).toBeLessThan(1.2 * (await pagesFor(1)));
});
