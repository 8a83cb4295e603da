import { beforeAll, beforeEach, expect, it } from "vitest";
import { call } from "../../src/db/api/call.js";
import type { EvaluationResult } from "../../src/db/api/evaluation.js";
import { connect } from "../../src/db/connect.js";
import { happened, inactiveFor, snapshotOf, trait } from "../engine/support/builders.js";
import { useDatabase } from "../support/database.js";
import { TestEnvironment, type LogRow } from "./support/environment.js";

const MODEL = snapshotOf({
  states: { new: [["activated", happened("login")]], activated: [["quiet", inactiveFor("21d")]], quiet: [] },
});
const AT = "2026-03-01T10:00:00.000Z";
const LATER = "2026-03-02T10:00:00.000Z";
const BY_TIMER = { causeType: "timer", causeId: null } as const;

const db = await useDatabase();
let environment: TestEnvironment;

beforeAll(async () => {
  // A constraint that only some customers' states violate.
  await db.sql`alter table svc.customers add constraint refuse check (customer_id !~ '^refused' or last_event_at is null)`;
});
beforeEach(async () => {
  environment = await TestEnvironment.create(db.sql, MODEL);
});

const PARTS =
  "customers states transitions blocked journeys memberships healthScores ruleExecutions signals emissions changes consumed deferred";
const NOTHING = Object.fromEntries(PARTS.split(" ").map((part) => [part, []])) as unknown as EvaluationResult;

const logins = (at: string, customers: string[]) => customers.map((customer) => ({ customer, at, event: "login" }));

/** Writes a result, as if the waiting operations had led to it. */
async function write(result: Partial<EvaluationResult>): Promise<void> {
  await db.sql.begin(async (tx) => {
    const limits = { customers: 1, operations: 1 };
    const input = await call(tx, "begin_chunk", environment.environmentId, limits, 0, new Date(AT));
    await call(tx, "apply_evaluation", environment.environmentId, input, { ...NOTHING, ...result });
  });
}

async function corrupt(customer: string, state: string): Promise<void> {
  await db.sql`
    update svc.customers set state = ${state}::text::json
    where environment_id = ${environment.environmentId} and customer_id = ${customer}`;
}

it("a customer whose state cannot be read is set aside alone, with its error and its operations", async () => {
  const states = ["{}", "[]", "1", '{"memory": {"model": "another", "streams": []}}', '"text"'];
  const [broken, others] = [states.map((_, i) => `c${i}`), ["a", "z"]];
  await environment.take({ at: AT }, logins(AT, [...broken, ...others]));
  for (const [i, state] of states.entries()) await corrupt(`c${i}`, state);
  await environment.take({ at: LATER }, logins(LATER, [...broken, ...others]));
  const error = expect.stringContaining("Error") as string;
  expect(await environment.setAside()).toEqual(broken.map((customer) => ({ customer, error })));
  expect(await environment.pending()).toEqual(broken.map((customer) => ({ customer, notBefore: "infinity" })));
  for (const other of others) expect(await environment.document(other)).toMatchObject({ lastEventAt: LATER });
  for (const customer of broken)
    expect(await environment.document(customer)).toMatchObject({ lastEventAt: AT, lifecycle: "activated" });
});

it("customers whose outcome the database refuses are found by bisection and set aside, and no others", async () => {
  const customers = Array.from({ length: 40 }, (_, i) => `c${i}`);
  customers[13] = "refused-1";
  customers[29] = "refused-2";
  await environment.take(
    { at: AT, limits: { customers: 500, operations: 30 } },
    customers.flatMap((customer) => [
      { customer, at: AT, event: "login" },
      { customer, at: AT, event: "other" },
    ]),
  );
  expect((await environment.setAside()).map(({ customer }) => customer)).toEqual(["refused-1", "refused-2"]);
  expect((await environment.setAside())[0]?.error).toContain('violates check constraint "refuse');
  const pending = (await environment.pending()).map(({ customer }) => customer);
  expect(pending).toEqual(["refused-1", "refused-1", "refused-2", "refused-2"]);
  for (const customer of customers) {
    const { lifecycle } = await environment.document(customer);
    expect(lifecycle, customer).toBe(customer.startsWith("refused") ? null : "activated");
  }
  const [{ emissions }] = await db.sql<[{ emissions: number }]>`
    select count(*)::integer as emissions from svc.emissions where environment_id = ${environment.environmentId}`;
  expect(emissions, "each once").toBe(38 * 2);
});

it("a customer whose timer cannot be written is set aside, and the timers of others fire", async () => {
  await environment.ingest(["c1", "refused", "c3"].map((customer) => ({ customer, at: AT, traits: {} })));
  await environment.take({ at: AT }, logins(AT, ["c1", "c3"]));
  // Due like the others, but broken.
  await db.sql`
    update svc.customers set next_due_at = (select max(next_due_at) from svc.customers where environment_id = ${environment.environmentId})
    where environment_id = ${environment.environmentId} and customer_id = 'refused'`;
  await corrupt("refused", "{}");
  await environment.evaluate({ at: "2026-04-01T00:00:00.000Z" });
  expect((await environment.setAside()).map(({ customer }) => customer)).toEqual(["refused"]);
  for (const other of ["c1", "c3"]) expect(await environment.document(other)).toMatchObject({ lifecycle: "quiet" });
});

it("operations of a customer set aside wait with it, and those of others behind them are evaluated by the same run", async () => {
  await environment.take({ at: AT }, logins(AT, ["c1"]));
  await corrupt("c1", "{}");
  await environment.take({ at: AT }, logins(AT, ["c1"]));
  await environment.ingest(logins(LATER, ["c1", "c1", "c1", "c1", "c1", "c2"]));
  // The limit is below the number of operations of the customer set aside.
  await environment.evaluate({ at: LATER, limits: { customers: 10, operations: 3 } });
  expect(await environment.document("c2")).toMatchObject({ lifecycle: "activated" });
  expect(await environment.pending()).toEqual(Array(6).fill({ customer: "c1", notBefore: "infinity" }));
});

it("timers of a customer wait for its operations, even if a chunk ends before them", async () => {
  await environment.take({ at: AT }, logins(AT, ["b", "a"]));
  const limits = { customers: 10, operations: 2 };
  await environment.take(
    { at: "2026-03-30T10:00:00.000Z", limits },
    logins("2026-03-15T10:00:00.000Z", "b a a a a a".split(" ")),
  );
  expect(await environment.document("b")).toMatchObject({
    lifecycle: "activated",
    nextDueAt: "2026-04-05T10:00:00.000Z",
  });
});

it("a customer's result is written completely, in several transactions", async () => {
  const segments = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`s${i}`, trait("plan", "eq", "pro")]));
  environment = await TestEnvironment.create(db.sql, snapshotOf({ segments }));
  const changes = Array.from({ length: 500 }, (_, i) => [
    { at: AT, traits: { plan: i % 2 === 0 ? "pro" : "free" } },
    { at: AT, event: "login", occurred: new Date(Date.parse(AT) - 500_000 + i * 1_000).toISOString() },
  ]);
  await environment.ingest(changes.flat());
  // A fifth of a whole chunk's operations have a fifth of its bytes, so that the bytes end a transaction where the machine is fast.
  await environment.evaluate({ at: AT, limits: { customers: 10, operations: 1_000 } });
  expect(await environment.setAside()).toEqual([]);
  expect(await environment.emissions()).toHaveLength(30_000);
  const batches = await db.sql<{ emissions: number }[]>`
    select b.emissions from svc.emission_batches as b where environment_id = ${environment.environmentId}`;
  expect(batches.length).toBeGreaterThan(1);
});

it("one transaction can write more emissions than an outbox row holds", async () => {
  await environment.ingest(logins(AT, ["c"]));
  const emission = { customerId: "c", type: "t", source: "rule", metadata: {}, at: 0, ...BY_TIMER } as const;
  await write({ emissions: Array.from({ length: 70_000 }, () => emission) });
  const batches = await db.sql<{ emissions: number }[]>`
    select b.emissions from svc.emission_batches as b
    where environment_id = ${environment.environmentId}
      and b.emissions = (
        select count(*) from svc.emissions as e
        where e.environment_id = b.environment_id and e.emission_seq / 65536 = b.evaluation_seq
      )
    order by b.evaluation_seq`;
  expect(batches.map(({ emissions }) => emissions)).toEqual([65_536, 70_000 - 65_536]);
});

it("a failed run of a rule is stored with its error, and not accepted without one", async () => {
  await environment.ingest(logins(AT, ["c"]));
  const run = { customerId: "c", rule: "r", triggeredBy: "traits", conditions: {}, action: {}, at: 0, ...BY_TIMER };
  const failed = (error: string | null) =>
    write({ ruleExecutions: [{ ...run, generation: 0, result: "error", error }] });
  await failed("no such thing");
  const [{ text }] = (await environment.log("c")) as [LogRow];
  expect(JSON.parse(text)).toMatchObject({ rule: "r", result: "error", error: "no such thing" });
  await expect(failed(null)).rejects.toThrow(/violates check constraint "rule_executions_error_said/);
});

it("the rest of an evaluation whose connection died changes nothing, whichever connection the driver sends it on", async () => {
  await environment.ingest(logins(AT, ["c"]));
  const pool = connect(db.url, { max: 1, applicationName: "svc test one" });
  const limits = { customers: 10, operations: 10 };
  const [resumed, resume] = gate();
  const [dead, died] = gate();
  let seqs: number[] = [];
  let refused: unknown;
  const aborted = pool.begin(async (tx) => {
    const input = await call(tx, "begin_chunk", environment.environmentId, limits, 0, new Date(AT));
    seqs = (await db.sql<{ seq: string }[]>`select seq from svc.inbox`).map(({ seq }) => Number(seq));
    const [{ pid }] = await tx<[{ pid: number }]>`select pg_backend_pid() as pid`;
    await db.sql`select pg_terminate_backend(${pid}::integer)`;
    await dead;
    // Another transaction now has the pool's connection.
    const consumed = [{ customerId: "c", seqs }];
    const written = call(tx, "apply_evaluation", environment.environmentId, input, { ...NOTHING, consumed });
    await written.catch((error: unknown) => {
      refused = error;
      throw error;
    });
  });
  await expect(aborted).rejects.toMatchObject({ code: "CONNECTION_CLOSED" });
  const other = pool.begin(async (tx) => {
    await tx`select 1`;
    died();
    await resumed;
    return "went on";
  });
  await expect.poll(() => refused).toMatchObject({ code: "SV010", message: "TRANSACTION_LOST" });
  resume();
  // It fails if the stray statement reached it; its work is then repeated.
  await other.catch(() => undefined);
  await pool.end({ timeout: 1 });
  expect(await environment.pending()).toEqual([{ customer: "c", notBefore: null }]);
  await environment.evaluate({ at: AT });
  expect(await environment.document("c")).toMatchObject({ lifecycle: "activated" });
});

function gate(): [promise: Promise<void>, open: () => void] {
  let open = () => {};
  const promise = new Promise<void>((resolve) => (open = resolve));
  return [promise, open];
}
