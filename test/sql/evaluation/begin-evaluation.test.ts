import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { beginEvaluation, type ChunkLimits, type EvaluationInput } from "../../../src/db/api/evaluation.js";
import { createDatabase, type TestDatabase } from "../../support/database.js";
import { TestEnvironment, type TestOperation } from "../../tasks/support/environment.js";

const AT = "2026-03-01T10:00:00.000Z";

let db: TestDatabase;
let environment: TestEnvironment;
beforeAll(async () => {
  db = await createDatabase();
});
beforeEach(async () => {
  environment = await TestEnvironment.create(db.sql);
});
afterAll(() => db.drop());

/** What a chunk at `AT` would evaluate; nobody does. */
async function begun(limits: ChunkLimits): Promise<EvaluationInput> {
  let input: EvaluationInput | undefined;
  const undone = new Error("undone");
  await db.sql
    .begin(async (tx) => {
      input = await beginEvaluation(tx, environment.environmentId, limits, 30, Date.parse(AT));
      throw undone;
    })
    .catch((error: unknown) => {
      if (error !== undone) throw error;
    });
  return input!;
}

function events(customer: string, count: number, note: () => string = () => ""): TestOperation[] {
  return Array.from({ length: count }, () => ({ customer, at: AT, event: "login", properties: { note: note() } }));
}

/** Has operations lie ahead, each by so many seconds. */
async function putAhead(ahead: { seq: number; seconds: number }[]): Promise<void> {
  await db.sql`
    update svc.inbox as i set not_before = ${AT}::text::timestamptz + make_interval(secs => o.seconds)
    from unnest(${ahead.map(({ seq }) => seq)}::bigint[], ${ahead.map(({ seconds }) => seconds)}::float8[]) as o (seq, seconds)
    where i.environment_id = ${environment.environmentId} and i.seq = o.seq`;
}

const taken = ({ customers }: EvaluationInput) =>
  customers.map(({ customerId, operations, more }) => [customerId, operations.length, more]);

describe("svc_api.begin_evaluation", () => {
  it("takes as many customers as it may, also where many operations of one come first", async () => {
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
    "reads of a customer no more bytes than its share, however many operations it may be: stored %s",
    async (_, note) => {
      await environment.ingest([...events("large", 10, note), ...events("small", 10)]);
      // Of 1.6 kB for each of twenty operations each has a half.
      expect(taken(await begun({ customers: 2, operations: 20 }))).toEqual([
        ["large", 3, true],
        ["small", 10, false],
      ]);
    },
  );

  it("reads one operation at least", async () => {
    await environment.ingest(events("large", 2, () => "x".repeat(50_000)));
    expect(taken(await begun({ customers: 1, operations: 2 }))).toEqual([["large", 1, true]]);
  });

  it("reads what lay ahead, too, those first that are due first, all in order of acceptance", async () => {
    const seqs = await environment.ingest(events("a", 8));
    // The last is due first; the second lies further ahead than is looked.
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

  it("tells when the first is due of those ahead that its share leaves out", async () => {
    const seqs = await environment.ingest([...events("a", 1), ...events("a", 9, () => "x".repeat(5_000))]);
    await putAhead(seqs.slice(1).map((seq, index) => ({ seq, seconds: 9 - index })));
    const [customer] = (await begun({ customers: 1, operations: 10 })).customers;
    expect(customer!.operations.map(([seq]) => seq)).toEqual([seqs[0], ...seqs.slice(7)]);
    expect(customer).toMatchObject({ more: false, aheadFrom: Date.parse(AT) + 4_000 });
  });
});
