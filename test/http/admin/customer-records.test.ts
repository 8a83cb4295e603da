import { afterAll, beforeAll, expect, it } from "vitest";
import { emit, happened, healthOf, lately, raise, rule, snapshotOf } from "../../engine/support/builders.js";
import { useSpec } from "../../spec/support/fixture.js";
import { environmentId } from "../../support/service.js";
import { recomputer, untilJob } from "../../tasks/support/recompute.js";
import { createWebhook, type TestWebhook } from "../../webhooks/support/fixtures.js";
import { pages, refused, type Page } from "./support/api.js";

// Records of a customer stay readable after a recompute replaced them, and emissions refer to them.

const fixture = useSpec();
const list = async <T>(path: string, query: string): Promise<T[]> =>
  (await pages((more) => fixture.read<Page<T>>(`${path}?${more}`), query, 1)).items;

const events = { login: { properties: {} }, paid: { properties: {} } };
const MODEL = snapshotOf({
  events,
  states: { new: [["active", happened("login")]], active: [["customer", happened("paid")]], customer: [] },
  health: healthOf({ use: lately("login", [1, 80]) }, { good: 60, poor: 0 }),
  signals: { hot: { severity: "info" } },
  rules: { greet: rule("login", emit("success.call")), warm: rule("paid", raise("hot")) },
});
/** Without the former states and executions, except those of `greet` by payments. */
const CHANGED = snapshotOf({
  events,
  states: { new: [["customer", happened("paid")]], customer: [] },
  health: healthOf({ use: lately("login", [1, 30]) }, { good: 60, poor: 0 }),
  rules: { greet: rule("paid", emit("success.call")) },
});

interface Told {
  id: string;
  eventType: string;
}
const timeline = async (): Promise<Told[]> => (await fixture.read<Page<Told>>("customers/ann/timeline?limit=200")).data;
interface Traced {
  eventType: string;
  source: string;
  ruleExecution: { ruleId: string; executedAt: string; result: string; superseded: boolean } | null;
}

const START = Date.now() - 3_600_000;
const at = (minute: number) => new Date(START + minute * 60_000).toISOString();
let stop: () => Promise<void>;
let webhook: TestWebhook;
beforeAll(async () => {
  const { db } = fixture.service;
  const worker = recomputer(db);
  stop = () => worker.stop();
  webhook = await createWebhook(db.sql, await environmentId(db.sql, "app", "test"), "https://hooks.example.com/");
  await fixture.deploy(MODEL);
  await fixture.batch([
    { customerId: "ann", event: "login", timestamp: at(1) },
    { customerId: "ann", event: "login", timestamp: at(2) },
    { customerId: "ann", event: "paid", timestamp: at(3) },
  ]);
  await fixture.evaluate();
  await fixture.deploy(CHANGED);
  const body = { customerId: "ann" };
  const { body: job } = await fixture.admin("POST", "/projects/app/recomputes?env=test", { body });
  worker.wake();
  await untilJob(db.sql, (job as { id: string }).id, ({ status }) => status === "completed");
});
afterAll(() => stop());

it("transitions and health scores that a recompute replaced are listed on request, marked as superseded", async () => {
  const of = async (path: string, query: string, members: string[]) =>
    (await list<Record<string, unknown>>(`customers/ann/${path}`, query)).map((item) =>
      members.map((name) => item[name]),
    );
  const transitions = (query: string) => of("transitions", query, ["from", "to", "superseded"]);
  const present = [
    ["new", "customer", false],
    [null, "new", false],
  ];
  expect(await transitions("")).toEqual(present);
  const before = [
    ["active", "customer", true],
    ["new", "active", true],
    [null, "new", true],
  ];
  expect(await transitions("superseded=true")).toEqual([...present, ...before]);
  const scores = (query: string) => of("health-scores", query, ["overall", "band", "superseded"]);
  const [now, then] = [
    [30, "poor", false],
    [80, "good", true],
  ];
  expect(await scores("")).toEqual([now]);
  expect(await scores("superseded=true")).toEqual([now, then]);
});

it.each(["", "customer=ann"])("rule executions are, too, newest first: %s", async (query) => {
  type Run = Record<"ruleId" | "triggeredBy" | "superseded", unknown>;
  const of = (found: Run[]) => found.map(({ ruleId, triggeredBy, superseded }) => [ruleId, triggeredBy, superseded]);
  expect(of(await list("rule-executions", query))).toEqual([["greet", "event:paid", undefined]]);
  const all = of(await list("rule-executions", `superseded=true&${query}`));
  // The two at the instant of the payment belong to different histories.
  expect(all.slice(0, 2).toSorted()).toEqual([
    ["greet", "event:paid", false],
    ["warm", "event:paid", true],
  ]);
  expect(all.slice(2)).toEqual([
    ["greet", "event:login", true],
    ["greet", "event:login", true],
  ]);
});

it("an emission of a rule and its delivery refer to its execution, superseded or not, and any other to none", async () => {
  const traced = await Promise.all((await timeline()).map(({ id }) => fixture.read<Traced>(`emissions/${id}`)));
  const ran = traced.flatMap(({ eventType, ruleExecution: run }) =>
    run === null ? [] : [[eventType, run.ruleId, run.executedAt, run.superseded]],
  );
  expect(ran).toEqual([
    ["success.call", "greet", at(1), true],
    ["success.call", "greet", at(2), true],
    ["signal.raised", "warm", at(3), true],
  ]);
  const others = traced.filter(({ ruleExecution }) => ruleExecution === null).map(({ source }) => source);
  expect(new Set(others)).toEqual(new Set(["lifecycle", "health", "signal"]));
  const [call] = (await timeline()).filter(({ eventType }) => eventType === "success.call");
  const delivery = await fixture.read<Traced>(`webhooks/${webhook.webhookId}/deliveries/${call!.id}`);
  expect(delivery.ruleExecution).toMatchObject({ ruleId: "greet", triggeredBy: "event:login", superseded: true });
});

it("the view shows when a recompute replaced which records", async () => {
  const { sql } = fixture.service.db;
  const kinds = await sql`
    select kind, count(*)::integer, bool_and(superseded_at <= now()) as replaced, count(record ->> 'emission')::integer as emitted
    from svc_inspect.superseded_records where customer_id = 'ann' group by kind order by kind`;
  expect(kinds).toEqual([
    { kind: "run", count: 3, replaced: true, emitted: 3 },
    { kind: "score", count: 1, replaced: true, emitted: 0 },
    { kind: "transition", count: 3, replaced: true, emitted: 0 },
  ]);
});

it.each(["transitions", "health-scores"])("records of an unknown customer are refused: %s", async (what) => {
  expect(await fixture.admin("GET", `/projects/app/customers/nobody/${what}`)).toMatchObject(
    refused(404, "CUSTOMER_NOT_FOUND"),
  );
});
