import { afterEach, expect, it } from "vitest";
import { corrections, stateDocument } from "../../src/engine/index.js";
import type { Snapshot } from "../../src/model/snapshot/types.js";
import type { Difference } from "../../src/tasks/recompute/difference.js";
import {
  aggregate,
  count,
  distinct,
  emit,
  happened,
  healthOf,
  inactiveFor,
  rule,
  sequence,
  snapshotOf,
  summed,
} from "../engine/support/builders.js";
import { useDatabase } from "../support/database.js";
import { isCluster } from "../support/is-cluster.js";
import { TestEnvironment } from "./support/environment.js";
import { Gate } from "./support/gate.js";
import { everything } from "./support/kept.js";
import { added, executionLines, executionsOf, expectReplayed, replayedTo } from "./support/replayed.js";
import { differencesOf, jobOf, JobRunner, poison, queue, settle, type QueueOptions } from "./support/recompute.js";

const db = await useDatabase();
const runner = new JobRunner(db);

afterEach(() => runner.end());

/** More than two parts, the last of them incomplete. */
const EVENTS = 5_300;
const AT = "2026-07-01T00:00:00.000Z";

/** Windows that hold more than the engine remembers, and rules that run on every event. */
function model(changed: boolean): Snapshot {
  return snapshotOf({
    states: {
      new: [["active", count("login", "gte", 2, { within: "1d" })]],
      active: [["quiet", inactiveFor(changed ? "10h" : "12h")]],
      quiet: [["active", happened("login", { within: "1h" })]],
    },
    journeys: {
      pay: {
        start: happened("login", { within: "1h" }),
        steps: [["pay", aggregate("sum", ["paid", "x"], "gte", changed ? 2 : 3)]],
        expiresAfter: changed ? "4h" : "6h",
        repeat: true,
      },
    },
    segments: {
      rich: aggregate("sum", ["paid", "x"], "gte", changed ? 170 : 180, { within: "20d" }),
      varied: distinct(["paid", "x"], "gte", changed ? 30 : 35, { within: "15d" }),
      bought: sequence("login", "paid", changed ? "8h" : "12h"),
    },
    health: healthOf({ revenue: summed(["paid", "x"], changed ? 300 : 400, { within: "25d" }) }, { good: 40, poor: 0 }),
    rules: {
      each: rule("paid", emit("paid.noted"), { when: happened("login", { within: changed ? "3h" : "2h" }) }),
      every: rule("a", emit("a.noted")),
      // Their instants show whether everything that left a window was known.
      enter: rule({ kind: "segmentEntered", segment: "rich" }, emit("rich.entered")),
      leave: rule({ kind: "segmentExited", segment: "rich" }, emit("rich.left")),
    },
  });
}
const MODEL = model(false);
const CHANGED = model(true);

/**
 * A customer with `amount` events. Some share a millisecond, with a different order by acceptance than by microsecond, among others
 * where a part ends. Only its last operations were evaluated under the first model, which can happen to retained events.
 */
async function long(amount = EVENTS): Promise<TestEnvironment> {
  const environment = await TestEnvironment.create(db.sql, MODEL);
  const { environmentId } = environment;
  await db.sql`
    insert into svc.events (environment_id, event_seq, customer_id, event, properties, occurred_at, accepted_at)
    select
      ${environmentId}, -n, 'c1', (array['paid', 'login', 'a', 'paid', 'other'])[1 + n % 5], json_build_object('x', n * 37 % 100 / 1000.0 + n / 300 % 2),
      case
        -- By the microsecond in the order of n, by acceptance against it.
        when n % 1000 >= 990 then timestamptz '2026-01-01T00:00:00.001Z' + (n - n % 1000) * interval '37 minutes' + n % 1000 * interval '1 us'
        when n between 3000 and 5100 then timestamptz '2026-04-01T00:00:00.005Z' + n / 10 * interval '1 us'
        else timestamptz '2026-01-01T00:00:00Z' + n * interval '37 minutes'
      end,
      timestamptz '2026-06-01T00:00:00Z'
    from generate_series(1, ${amount}::integer) as n`;
  await environment.take({ at: AT }, [
    { at: "2026-06-20T00:00:00.000Z", event: "login" },
    { at: "2026-06-20T00:00:00.000Z", event: "paid", properties: { x: 0.5 } },
    { at: "2026-06-20T00:00:00.000Z", traits: { plan: "pro" } },
  ]);
  return environment;
}

async function run(environment: TestEnvironment, options: QueueOptions = {}): Promise<string> {
  const id = await runner.complete(environment, { at: AT, ...options });
  expect(await jobOf(db.sql, id)).toMatchObject({ status: "completed" });
  return id;
}

const replayed = (environment: TestEnvironment, snapshot: Snapshot) => replayedTo(environment, snapshot, AT);

const linesOf = (rules: Difference["rules"]) =>
  rules.map(({ ruleId, result, executedAt, triggeredBy }) => `${ruleId} ${result} ${executedAt} ${triggeredBy}`);

it(
  "a preview compares two replays, a dry run predicts and a run stores what the engine derives from the whole history",
  { timeout: 120_000 },
  async () => {
    const environment = await long();
    const untouched = await everything(environment);
    const [active, changed] = [await replayed(environment, MODEL), await replayed(environment, CHANGED)];
    const preview = await run(environment, { kind: "preview", snapshot: CHANGED });
    const [previewed] = await differencesOf(db.sql, preview);
    const documents = [active, changed].map(({ state }) =>
      stateDocument(state, { environment: "test", configVersion: null }),
    );
    expect(previewed).toMatchObject({
      lifecycle: { before: documents[0]!.lifecycle, after: documents[1]!.lifecycle },
      segments: { before: documents[0]!.segments, after: documents[1]!.segments },
      journeys: { before: documents[0]!.journeys, after: documents[1]!.journeys },
    });
    const more = added(executionLines(active.effects), executionLines(changed.effects));
    expect(more.length).toBeGreaterThan(10);
    expect(await jobOf(db.sql, preview)).toMatchObject({ rules_added: more.length });
    expect(linesOf(previewed!.rules)).toEqual(more.slice(0, 1_000));
    const same = await run(environment, { kind: "preview", snapshot: MODEL });
    expect(await differencesOf(db.sql, same), "the active model, though what is stored is another state").toEqual([]);
    expect(await everything(environment)).toEqual(untouched);

    for (const [snapshot, version] of [
      [CHANGED, "v2"],
      [MODEL, "v3"],
    ] as const) {
      await environment.deploy(snapshot);
      const expected = await replayed(environment, snapshot);
      const log = await executionsOf(environment, "c1");
      const kept = await everything(environment);
      const dry = await run(environment, { kind: "dry_run" });
      expect(await everything(environment), "a dry run writes nothing").toEqual(kept);
      const real = await run(environment);

      const [difference] = await differencesOf(db.sql, dry);
      const anonymous = (value: unknown) =>
        JSON.parse(JSON.stringify(value).replaceAll(/rec_[0-9a-f]+/g, "job")) as unknown;
      expect(anonymous(await differencesOf(db.sql, real))).toEqual(anonymous([difference]));
      const gained = added(log, executionLines(expected.effects));
      expect(gained.length).toBeGreaterThan(100);
      expect(await jobOf(db.sql, dry)).toMatchObject({ rules_added: gained.length });
      expect(await jobOf(db.sql, real)).toMatchObject({ rules_added: gained.length });
      expect(linesOf(difference!.rules)).toEqual(gained.slice(0, 1_000));
      expect(difference!.rulesOmitted ?? 0).toBe(Math.max(0, gained.length - 1_000));

      await expectReplayed(environment, "c1", expected);
      expect(await environment.document()).toEqual(
        JSON.parse(JSON.stringify(stateDocument(expected.state, { environment: "test", configVersion: version }))),
      );
      const emitted = corrections(expected.before, expected.state, { at: Date.parse(AT), jobId: "job" });
      expect(difference!.emissions.filter(({ eventType }) => eventType !== "journey.expired")).toEqual(
        emitted.flatMap((effect) =>
          effect.kind === "emission"
            ? [{ eventType: effect.type, source: effect.source, metadata: effect.metadata, timestamp: AT }]
            : [],
        ),
      );
    }
    const after = await everything(environment);
    const again = await run(environment);
    expect(await differencesOf(db.sql, again), "the next run changes nothing").toEqual([]);
    expect(await everything(environment)).toEqual(after);
  },
);

it("a log longer than the history is also compared", async () => {
  const environment = await long(40);
  const { environmentId } = environment;
  // Runs that the replay also finds, and others between them, to the microsecond.
  await db.sql`
    insert into svc.rule_executions (
      environment_id, customer_id, rule_id, result, triggered_by, conditions, action, executed_at, cause_type
    )
    select
      ${environmentId}, 'c1', 'each', 'pass', 'event:paid', 'null', 'null',
      timestamptz '2026-01-01T00:00:00Z' + n * interval '37 seconds' + n % 1000 * interval '1 us', 'timer'
    from generate_series(1, 4500) as n`;
  await environment.deploy(CHANGED);
  const expected = await replayed(environment, CHANGED);
  const gained = added(await executionsOf(environment, "c1"), executionLines(expected.effects));
  const id = await run(environment);
  expect(await jobOf(db.sql, id)).toMatchObject({ rules_added: gained.length });
  expect(await executionsOf(environment, "c1")).toEqual(executionLines(expected.effects));
});

/** Runs the job, and calls `something` when it has written the first rows of the log. */
async function whileLogsAreWritten(id: string, something: () => Promise<unknown>): Promise<void> {
  const when = "after insert on svc.rule_executions for each statement when (pg_trigger_depth() = 0)";
  const gate = await Gate.close(db, when);
  const running = runner.runNext(id);
  expect(await gate.reached(running)).toBe(true);
  await something();
  await gate.open();
  await running;
}

it.skipIf(isCluster)(
  "a customer evaluated while its long history is read is replayed again, without leftover rows",
  async () => {
    const environment = await long();
    const { environmentId } = environment;
    await environment.deploy(CHANGED);
    const id = await queue(db.sql, environment, { at: AT });
    const expected: Awaited<ReturnType<typeof replayed>>[] = [];
    const later = "2026-07-01T01:00:00.000Z";
    await whileLogsAreWritten(id, async () => {
      await environment.take({ at: later }, [{ at: later, event: "other" }]);
      expected.push(await replayed(environment, CHANGED));
    });
    expect(await jobOf(db.sql, id)).toMatchObject({ status: "completed", customers_done: 1 });
    await expectReplayed(environment, "c1", expected[0]!);
    const [rows] = await db.sql`
    select count(*)::integer as rows from svc.rule_executions where environment_id = ${environmentId} and generation = 1`;
    expect(rows).toEqual({ rows: executionLines(expected[0]!.effects).length });
    expect((await environment.document()).lastEventAt).toBe(later);
  },
);

it.skipIf(isCluster)("nothing remains of a customer erased while its long history is read", async () => {
  const environment = await long();
  const { environmentId } = environment;
  await environment.deploy(CHANGED);
  const id = await queue(db.sql, environment, { at: AT });
  await whileLogsAreWritten(id, () => db.sql`select svc.delete_customer(${environmentId}, 'c1')`);
  expect(await jobOf(db.sql, id)).toMatchObject({ status: "completed", customers_done: 1 });
  expect(await executionsOf(environment, "c1")).toEqual([]);
  expect(await db.sql`select from svc.lifecycle_transitions where environment_id = ${environmentId}`).toHaveLength(0);
});

it("if a customer with a long history fails, the error names it and no partial result remains", async () => {
  const environment = await long();
  await environment.take({ at: AT }, [{ customer: "c0", at: "2026-06-20T00:00:00.000Z", event: "login" }]);
  await environment.deploy(CHANGED);
  const before = await everything(environment);
  const callOff = await poison(db.sql, ["c1"]);
  const id = await queue(db.sql, environment, { at: AT });
  const job = await settle(db, id, { attemptsMax: 2 });
  await callOff();
  expect(job).toMatchObject({ status: "dead_letter", customers_done: 1 });
  expect(job.error).toContain('Customer "c1": this row is poisoned');
  const [rows] = await db.sql`
    select count(*)::integer as rows from svc.rule_executions
    where environment_id = ${environment.environmentId} and customer_id = 'c1' and generation > 0`;
  expect(rows).toEqual({ rows: 0 });
  const of = (rows: string[]) => rows.filter((row) => row.includes('"c1"'));
  expect(of((await everything(environment)).customers)).toEqual(of(before.customers));
});
