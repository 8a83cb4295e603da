import { randomBytes } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { call } from "../../../src/db/api/call.js";
import type { ChunkLimits, EvaluationInput } from "../../../src/db/api/evaluation.js";
import { useDatabase, rolledBack } from "../../support/database.js";
import { pagesOf } from "../../support/pages.js";
import { TestEnvironment, type TestOperation } from "../../tasks/support/environment.js";

const AT = "2026-03-01T10:00:00.000Z";

let environment: TestEnvironment;
const db = await useDatabase();
const { sql } = db;
beforeEach(async () => {
  environment = await TestEnvironment.create(sql);
});

/** The input of a chunk at `AT`, which is rolled back. */
const begun = (limits: ChunkLimits): Promise<EvaluationInput> =>
  rolledBack(sql, (tx) => call(tx, "begin_chunk", environment.environmentId, limits, 30, new Date(AT)));

function events(customer: string, count: number, note: () => string = () => ""): TestOperation[] {
  return Array.from({ length: count }, () => ({ customer, at: AT, event: "login", properties: { note: note() } }));
}

/** Moves operations into the future by the given seconds. */
async function putAhead(ahead: { seq: number; seconds: number }[]): Promise<void> {
  const instants = ahead.map(({ seconds }) => new Date(Date.parse(AT) + seconds * 1_000).toISOString());
  await sql`
    update svc.inbox as i set not_before = o.instant
    from unnest(${ahead.map(({ seq }) => seq)}::bigint[], ${instants}::text[]::timestamptz[]) as o (seq, instant)
    where i.environment_id = ${environment.environmentId} and i.seq = o.seq`;
}

const taken = ({ customers }: EvaluationInput) =>
  customers.map(({ customerId, operations, more }) => [customerId, operations.length, more]);

describe("svc_api.begin_chunk", () => {
  it("takes as many customers as allowed, even if many operations of one come first", async () => {
    await environment.ingest([...events("a", 10), ...events("b", 1), ...events("c", 1)]);
    expect(taken(await begun({ customers: 2, operations: 40 }))).toEqual([
      ["a", 10, false],
      ["b", 1, false],
    ]);
  });

  it.each([
    ["as they are", () => randomBytes(3_750).toString("base64")],
    ["compressed", () => "x".repeat(5_000)],
  ])(
    "reads no more bytes of a customer than its share, whatever the limit of operations: stored %s",
    async (_, note) => {
      await environment.ingest([...events("large", 10, note), ...events("small", 10)]);
      // Each has half of 1.6 kB for each of twenty operations.
      expect(taken(await begun({ customers: 2, operations: 20 }))).toEqual([
        ["large", 3, true],
        ["small", 10, false],
      ]);
    },
  );

  it("takes those whose operations came first, whatever their ids, whether they are new or not", async () => {
    await environment.ingest([...events("y", 1), ...events("b", 1)]);
    expect(taken(await begun({ customers: 1, operations: 40 }))).toEqual([["y", 1, false]]);
    await environment.evaluate({ at: AT });
    await environment.ingest([...events("y", 1), ...events("b", 1), ...events("c", 1), ...events("a", 1)]);
    expect(taken(await begun({ customers: 1, operations: 40 }))).toEqual([["y", 1, false]]);
    expect(taken(await begun({ customers: 3, operations: 40 })).map(([id]) => id)).toEqual(["b", "c", "y"]);
  });

  it("takes three customers of what happens now for each of what is late", async () => {
    const customers = ["v", "w", "x", "y", "z", "d", "a", "b", "c"];
    const seqs = await environment.ingest(customers.flatMap((customer) => events(customer, 1)));
    await sql`update svc.inbox set late = seq <= ${seqs[4]!} where environment_id = ${environment.environmentId}`;
    const ids = async (customers: number) => taken(await begun({ customers, operations: 40 })).map(([id]) => id);
    expect(await ids(3)).toEqual(["a", "b", "d"]);
    expect(await ids(4)).toEqual(["a", "b", "d", "v"]);
    expect(await ids(7)).toEqual(["a", "b", "c", "d", "v", "w", "x"]);
  });

  it("leaves up to a quarter of the places to due timers if operations always wait", async () => {
    await environment.ingest(events("a", 1));
    await sql`
      insert into svc.customers (environment_id, customer_id, created_at, next_due_at, held_until)
      select ${environment.environmentId}, 'due ' || n, ${AT}, ${AT}, case when n > 3 then ${AT}::timestamptz end
      from generate_series(1, 6) as n`;
    const ids = async (customers: number) => taken(await begun({ customers, operations: 40 })).map(([id]) => id);
    expect(await ids(3)).toEqual(["a", "due 1", "due 2"]);
    await environment.ingest(["b", "c", "d", "e", "f", "g", "h", "i"].flatMap((customer) => events(customer, 1)));
    expect(await ids(8)).toEqual(["a", "b", "c", "d", "e", "f", "due 1", "due 2"].toSorted());
    expect(await ids(3)).toEqual(["a", "b", "c"]);
  });

  it("reads at least one operation", async () => {
    await environment.ingest(events("large", 2, () => "x".repeat(50_000)));
    expect(taken(await begun({ customers: 1, operations: 2 }))).toEqual([["large", 1, true]]);
  });

  it("also reads future operations that are due, earliest first, and returns all in order of acceptance", async () => {
    const seqs = await environment.ingest(events("a", 8));
    // The last is due first; the second is beyond the time that is read ahead.
    await putAhead([
      { seq: seqs[1]!, seconds: 301 },
      { seq: seqs[3]!, seconds: 300 },
      { seq: seqs[7]!, seconds: -60 },
    ]);
    const [customer] = (await begun({ customers: 1, operations: 10 })).customers;
    const expected = [0, 2, 3, 4, 5, 6, 7].map((position) => seqs[position]);
    expect(customer!.operations.map(([seq]) => seq)).toEqual(expected);
    expect(customer).toMatchObject({ more: false, aheadFrom: null });
  });

  it("returns when the first future operation outside its share is due", async () => {
    const seqs = await environment.ingest([...events("a", 1), ...events("a", 9, () => "x".repeat(5_000))]);
    await putAhead(seqs.slice(1).map((seq, index) => ({ seq, seconds: 9 - index })));
    const [customer] = (await begun({ customers: 1, operations: 10 })).customers;
    expect(customer!.operations.map(([seq]) => seq)).toEqual([seqs[0], ...seqs.slice(7)]);
    expect(customer).toMatchObject({ more: false, aheadFrom: Date.parse(AT) + 4_000 });
  });
});

/** An environment without a project. */
const ENVIRONMENT = 70_000;
const NOW = "2026-03-01T12:00:00Z";

await sql`
  insert into svc.customers (environment_id, customer_id, created_at, next_due_at, held_until, set_aside_at)
  values
    (${ENVIRONMENT}, 'due', now(), ${NOW}, null, null),
    (${ENVIRONMENT}, 'not due', now(), '2026-03-01T12:00:00.001Z', null, null),
    (${ENVIRONMENT}, 'never due', now(), null, null, null),
    (${ENVIRONMENT}, 'due, set aside', now(), ${NOW}, null, now()),
    (${ENVIRONMENT}, 'due, held', now(), '2026-02-01Z', '2026-03-01T12:00:00.001Z', null),
    (${ENVIRONMENT}, 'due, held for a day', now(), '2026-02-01Z', ${NOW}, null),
    (${ENVIRONMENT}, 'not due, held for a day', now(), '2026-04-01Z', '2026-02-01Z', null),
    (${ENVIRONMENT}, 'due, waiting', now(), '2026-02-01Z', null, null),
    (${ENVIRONMENT}, 'due, ahead', now(), '2026-02-01Z', null, null),
    (${ENVIRONMENT + 1}, 'elsewhere', now(), '2026-02-01Z', null, null)`;
await sql`
  insert into svc.inbox (environment_id, customer_id, seq, not_before)
  values (${ENVIRONMENT}, 'due, waiting', 1, null), (${ENVIRONMENT}, 'due, ahead', 2, '2026-02-01Z')`;

async function due(settled: boolean): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from svc.due_customers(${ENVIRONMENT}, ${NOW}, ${settled}, 100) as id order by id collate "C"`;
  return rows.map(({ id }) => id);
}

it("fires due timers, but holds those of a backfill until the environment has settled, for at most a day", async () => {
  expect(await due(true)).toEqual(["due", "due, ahead", "due, held", "due, held for a day"]);
  expect(await due(false)).toEqual(["due", "due, ahead", "due, held for a day"]);
});

it.each([
  ["held", "interval '1 minute'", "interval '1 day'"],
  ["held long ago and not due", "interval '1 minute' * -1", "interval '1 day' * -1"],
])("does not read the customers that are %s, however many they are", async (_, sinceDue, untilFree) => {
  await rolledBack(sql, async (tx) => {
    await tx.unsafe(`
      insert into svc.customers (environment_id, customer_id, created_at, next_due_at, held_until)
      select ${ENVIRONMENT}, 'many ' || n, now(), '${NOW}'::timestamptz - ${sinceDue} * n, '${NOW}'::timestamptz + ${untilFree} * n
      from generate_series(1, 10000) as n`);
    await tx`analyze svc.customers`;
    const pages = () => pagesOf(tx, tx`select svc.due_customers(${ENVIRONMENT}, ${NOW}, false, 500)`);
    // The first call also reads the catalogs.
    await pages();
    expect(await pages()).toBeLessThan(100);
  });
});
