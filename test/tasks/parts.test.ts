import { expect, it } from "vitest";
import {
  addTo,
  aggregate,
  count,
  counted,
  happened,
  healthOf,
  inactiveFor,
  inSegment,
  not,
  raise,
  rule,
  snapshotOf,
  trait,
} from "../engine/support/builders.js";
import { useDatabase } from "../support/database.js";
import { TestEnvironment, type TestOperation } from "./support/environment.js";

const MODEL = snapshotOf({
  states: {
    new: [["active", happened("login")]],
    active: [["flapping", inSegment("picked")]],
    flapping: [["active", happened("login")]],
  },
  journeys: {
    onboarding: {
      start: happened("created"),
      steps: [
        ["visit", happened("login")],
        ["pay", aggregate("sum", ["paid", "x"], "gte", 0.3)],
      ],
      expiresAfter: "7d",
      repeat: true,
    },
  },
  segments: { frequent: count("login", "gte", 3), picked: null },
  health: healthOf(
    {
      usage: [2, counted("login", 3, { within: "30d" })],
      plan: { kind: "map", trait: "plan", values: { free: 20, pro: 80 } },
    },
    { good: 50, poor: 0 },
  ),
  rules: {
    pick: rule("paid", addTo("picked"), { when: trait("plan", "eq", "pro"), cooldown: "1d" }),
    warn: rule({ kind: "segmentEntered", segment: "picked" }, raise("hot")),
  },
  signals: {
    hot: { severity: "critical", message: "Call them", for: "2d" },
    quiet: { when: inactiveFor("5d") },
  },
});

const at = (day: number, hour = 10) => new Date(Date.UTC(2026, 2, day, hour)).toISOString();
const OPERATIONS: TestOperation[] = [
  { at: at(1), event: "created" },
  { at: at(1, 11), event: "paid", properties: { x: 0.1 } },
  { at: at(1, 12), traits: { plan: "pro" } },
  { at: at(1, 13), event: "login" },
  { at: at(1, 14), event: "paid", properties: { x: 0.2 } },
  { at: at(1, 15), event: "paid", properties: { x: 1 } },
];

const db = await useDatabase();
let environment: TestEnvironment;

async function view(name: string, columns: string, order: string): Promise<Record<string, unknown>[]> {
  const rows = await db.sql.unsafe<Record<string, unknown>[]>(
    `select to_jsonb(t) as row from (
      select ${columns} from svc_inspect.${name} as v where project = '${environment.place.project}' order by ${order}
    ) as t`,
  );
  return rows.map(({ row }) => row as Record<string, unknown>);
}

it("the views show journeys by run, every run of a rule with its cause, each change of health, and the last raise of a signal", async () => {
  environment = await TestEnvironment.create(db.sql, MODEL);
  const seqs: number[] = [];
  for (const operation of OPERATIONS) seqs.push(...(await environment.take({ at: operation.at }, [operation])));
  const eventId = (position: number) => `evt_${seqs[position]!.toString(16).padStart(16, "0")}`;
  const columns =
    "journey, run, status, current_step, steps, svc.iso(started_at) as started, svc.iso(completed_at) as completed";
  expect(await view("journey_runs", columns, "run")).toEqual([
    {
      journey: "onboarding",
      run: 1,
      status: "complete",
      current_step: "pay",
      steps: {
        visit: { completedAt: at(1, 13), triggeredBy: eventId(3) },
        pay: { completedAt: at(1, 14), triggeredBy: eventId(4) },
      },
      started: at(1),
      completed: at(1, 14),
    },
  ]);

  const rows = await view("rule_executions", "rule, result, triggered_by, conditions, action, svc.iso(executed_at) as at, cause_id, config_version", "execution_seq"); // oxfmt-ignore
  const lines = rows.map(({ rule, result, triggered_by, at: executed, cause_id }) => [rule, result, triggered_by, executed, cause_id]); // oxfmt-ignore
  expect(lines).toEqual([
    ["pick", "fail", "event:paid", at(1, 11), eventId(1)],
    ["pick", "pass", "event:paid", at(1, 14), eventId(4)],
    ["warn", "pass", "segment.entered:picked", at(1, 14), eventId(4)],
    ["pick", "skip", "event:paid", at(1, 15), eventId(5)],
  ]);
  expect(rows[1]).toMatchObject({
    conditions: { kind: "trait", met: true },
    action: { type: "addToSegment", segment: "picked" },
    config_version: "v1",
  });
  expect(rows[2]).toMatchObject({ conditions: {} });

  const columnsOfSignals = "signal, severity, message, svc.iso(raised_at) as raised, svc.iso(cleared_at) as cleared";
  await environment.evaluate({ at: at(20) });
  const hot = { signal: "hot", severity: "critical", message: "Call them", raised: at(1, 14), cleared: at(3, 14) };
  const quiet = { signal: "quiet", severity: "warning", message: null, raised: at(6, 15), cleared: null };
  expect(await view("signals", columnsOfSignals, "signal")).toEqual([hot, quiet]);
  const score = "overall, components, band, svc.iso(scored_at) as at, cause_type, config_version";
  const shared = { band: "poor", config_version: "v1", cause_type: "event" };
  expect(await view("health_scores", score, "score_seq")).toEqual([
    { ...shared, overall: 0, components: { usage: 0, plan: 0 }, at: at(1) },
    { ...shared, overall: 26.67, components: { usage: 0, plan: 80 }, at: at(1, 12), cause_type: "identify" },
    { ...shared, overall: 48.89, components: { usage: 33.33, plan: 80 }, at: at(1, 13) },
  ]);

  const again = { severity: "info", message: "again" } as const;
  await environment.deploy({ ...MODEL, signals: MODEL.signals.map((signal) => ({ ...signal, ...again })) });
  await environment.take({ at: at(30) }, [{ at: at(21), event: "login" }]);
  expect(await view("signals", columnsOfSignals, "signal")).toEqual([hot, { ...quiet, ...again, raised: at(26) }]);

  await environment.take({ at: at(40) }, [{ at: at(30, 11), event: "created" }]);
  expect(await view("journey_runs", "run, status, svc.iso(expired_at) as expired", "run")).toEqual([
    { run: 1, status: "complete", expired: null },
    { run: 2, status: "expired", expired: at(37, 11) },
  ]);
});

it("a flapping transition is recorded once, with its last time", async () => {
  const model = snapshotOf({
    states: { one: [["two", happened("login")]], two: [["one", happened("login")]] },
    segments: { none: not(happened("login")) },
  });
  environment = await TestEnvironment.create(db.sql, model);
  for (const instant of [at(1), at(2)]) {
    await environment.take({ at: instant }, [{ at: instant, event: "login" }]);
  }
  const columns = "from_state, to_state, svc.iso(blocked_at) as at";
  expect(await view("blocked_transitions", columns, "blocked_at")).toEqual([
    { from_state: "two", to_state: "one", at: at(1) },
    { from_state: "one", to_state: "two", at: at(2) },
  ]);
  await environment.take({ at: at(3) }, [{ at: at(3), event: "other" }]);
  expect(await view("blocked_transitions", columns, "blocked_at")).toEqual([
    { from_state: "one", to_state: "two", at: at(2) },
    { from_state: "two", to_state: "one", at: at(3) },
  ]);
});
