import { beforeAll, expect, it } from "vitest";
import type { ApiQuery, QuestionParams, Question } from "../../src/console/source.js";
import { environmentsToCount } from "../../src/db/api/evaluation.js";
import { compileProject } from "../../src/dsl-compiler/index.js";
import type { ApiError } from "../../src/http/errors.js";
import { TestClock } from "../../src/local/clock.js";
import { localAsk } from "../../src/local/console/answers.js";
import { LocalEngine, type RequestOperation } from "../../src/local/engine.js";
import { canonicalJson } from "../../src/model/snapshot/canonical.js";
import { countTrends } from "../../src/tasks/periodic-jobs.js";
import { EXAMPLES, readData } from "../examples/support/examples.js";
import { useSpec } from "../spec/support/fixture.js";

// The pages of `svc dev` and of the service read the same data: svc dev answers from memory, the service from SQL.

const example = EXAMPLES.find(({ name }) => name === "saas")!;
const fixture = useSpec();
let local: ApiQuery;
let customerIds: string[];

beforeAll(async () => {
  const compiled = await compileProject(example.directory);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics));
  const shift = Date.now() - Date.parse(example.end);
  const operations: object[] = (await readData(example))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { timestamp?: string })
    .map(({ timestamp, ...operation }) => ({
      ...operation,
      ...(timestamp !== undefined && { timestamp: new Date(Date.parse(timestamp) + shift).toISOString() }),
    }));
  const signedUp = (customerId: string, timestamp: string) => {
    return { customerId, event: "signed_up", properties: { source: "self_serve" }, timestamp };
  };
  const soon = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();
  operations.push(
    ...["0030-01-01T00:00:00Z", "0999-12-31T00:00:00Z"].map((at) => signedUp(`since ${at.slice(0, 4)}`, at)),
    signedUp("of a fast clock", soon(4)),
    signedUp("works-alone", soon(60)),
    signedUp("only ahead", soon(600)),
    { type: "identify", customerId: "works-alone", traits: { companyName: "5", addOns: ["sso", "audit_log"] } },
  );
  await fixture.deploy(compiled.snapshot);
  expect(await fixture.batch(operations)).toMatchObject({ status: 202 });
  const { sql } = fixture.service.db;
  await fixture.evaluate();
  do await countTrends(sql, new AbortController().signal);
  while ((await environmentsToCount(sql)).length > 0);

  const [batch] = await sql<[{ at: Date }]>`select accepted_at as at from svc.ingest_batches`;
  const clock = new TestClock(batch.at.getTime());
  const engine = new LocalEngine(compiled, { clock, environment: "test", configVersion: "v1", settleMs: 0 });
  engine.accept(operations as RequestOperation[], "batch");
  engine.advance();
  local = localAsk(engine, null);
  customerIds = engine.population.customerIds;
});

const dayAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);

/**
 * Members that differ: a model that is not deployed has no version, each side numbers its emissions and has its own current time, and
 * svc dev does not know when something was stored.
 */
const OWN = new Set(["configVersion", "activeVersion", "sequence", "since", "createdAt", "asOf"]);

/** @param unordered the service orders by writing, chunk by chunk and customer by customer, while svc dev orders by time */
function comparable(answer: unknown, unordered: boolean): unknown {
  return JSON.parse(
    JSON.stringify(answer, (key, value: unknown) => {
      if (OWN.has(key)) return undefined;
      if (key === "nextCursor") return value !== null;
      if (typeof value === "string") return value.replaceAll(/\b(evt|emi)_[0-9a-f]{16}\b/g, "$1");
      if (!unordered || !Array.isArray(value) || typeof value[0] !== "object") return value;
      return value.map((item) => canonicalJson(comparable(item, true))).toSorted();
    }),
  );
}

async function service(question: Question, of: QuestionParams): Promise<unknown> {
  const path = question.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(of[name]!));
  const query = new URLSearchParams(
    Object.entries(of as Record<string, string>).filter(([name]) => !question.includes(`:${name}`)),
  );
  const { status, body } = await fixture.admin("GET", `/projects/app/${path}?${query.toString()}`);
  return status === 200 ? body : { status };
}

async function expectSame(question: Question, of: QuestionParams = {}, unordered = false) {
  const answered = await local(question, of).catch((error: unknown) => ({ status: (error as ApiError).status }));
  expect([question, of, comparable(answered, unordered)]).toEqual([
    question,
    of,
    comparable(await service(question, of), unordered),
  ]);
}

it.each<[Question, QuestionParams]>([
  ["customers", {}],
  ["customers", { limit: "3" }],
  ["customers", { sort: "health" }],
  ["customers", { sort: "lastEvent", reverse: "true" }],
  ["customers", { sort: "health", reverse: "true" }],
  ["customers", { setAside: "true" }],
  ["customers", { search: "retail" }],
  ["customers", { lifecycle: "engaged" }],
  ["customers", { lifecycle: "nowhere" }],
  ["customers", { segment: "going_quiet" }],
  ["customers", { search: "QUIET" }],
  ...['{"plan":"pro"}', '{"seats":12}', '{"seats":"12"}', '{"addOns":"sso"}', '{"addOns":["sso"]}', '{"plan":["pro"]}']
    .concat(['{"companyName":5}', '{"companyName":5.0}', '{"toString":null}', '{"managed":true}', '{"addOns":[]}'])
    .concat([
      '{"seats":{"atLeast":10}}',
      '{"seats":{"atMost":12,"atLeast":12}}',
      '{"plan":{"atLeast":"f","atMost":"p"}}',
    ])
    .concat([
      '{"plan":"gold"}',
      '{"plan":["gold"]}',
      '{"addOns":["sso","none"]}',
      '{"addOns":[1]}',
      '{"plan":"gold","seats":1}',
      '{"pln":"pro"}',
      '{"addOns":"none"}',
    ])
    .concat([
      '{"seats":{"atLeast":"1"}}',
      '{"addOns":{"atLeast":1}}',
      '{"nothing":{"atMost":1}}',
      '{"seats":{}}',
      '{"renewsOn":{"atLeast":2026}}',
    ])
    .map((traits): [Question, QuestionParams] => ["customers", { traits }]),
  ["customers", { inactive: "7d" }],
  ["customers", { inactive: "soon" }],
  ["signals", {}],
  ["signals", { severity: "critical" }],
  ["signals", { since: "30d" }],
  ["signals", { signal: "usage_dropping" }],
  ["signals", { signal: "nope" }],
  ["transitions", { entered: "nope" }],
  ["transitions", { left: "nope" }],
  ["transitions", { from: "soon" }],
  ["transitions", { from: "2026-12-01", to: "2026-11-01" }],
  ["rule-executions", { rule: "nope" }],
  ["events", { type: "nope" }],
  ["events", { customer: "nobody" }],
  ["emissions", { customer: "nobody" }],
  ["emissions", { eventType: "nope" }],
  ["emissions", { since: "soon" }],
  ["trends", { what: "flows", from: "2999-01-01" }],
  ["customers", { segment: "nope" }],
  ["customers", { cursor: "nope" }],
  ["signals", { since: "2026-02-30" }],
  ["signals", { since: "0000-01-01" }],
  ["rule-executions", { customer: "works-alone" }],
  ["rule-executions", { customer: "works-alone", limit: "1" }],
  ["rule-executions/counts", { since: "400d" }],
  ["rule-executions/counts", {}],
  ["traits", { names: '["plan","seats","toString"]', customers: '["textbook","only ahead","nobody"]' }],
  ["customers/:customerId/history", { customerId: "late-import", kinds: "transition,rule", limit: "200" }],
  ["due-customers", { limit: "200" }],
  ["transitions/times", {}],
  ["journeys", {}],
  ["schema-violations", {}],
  ["events", { limit: "200" }],
  ["events", { type: "signed_up", since: "120d" }],
])("%s %o", expectSame);

it.each<[Question, QuestionParams]>([
  ["transitions", { limit: "200" }],
  ["transitions", { entered: "churned" }],
  ["transitions", { to: dayAgo(29), limit: "200" }],
  ["transitions", { to: dayAgo(30), limit: "200" }],
  ["transitions", { entered: "churned", left: "at_risk" }],
  ["transitions", { entered: "new", left: "", from: dayAgo(90), to: dayAgo(6) }],
  ["rule-executions", { limit: "200" }],
  ["rule-executions", { since: "400d", result: "pass", limit: "200" }],
  ["emissions", { source: "signal", limit: "200" }],
  ["emissions", { customer: "late-import", limit: "200" }],
  ...["lifecycle", "flows", "segments", "health", "signals"].flatMap((what) =>
    [
      {},
      { every: "week" },
      { every: "month", from: dayAgo(100) },
      { from: dayAgo(70), to: dayAgo(4) },
      { every: "month", to: "2026-01-31" },
      { from: "0999-01-01", to: "0999-01-05" },
      { every: "week", to: "0001-01-10" },
      { every: "week", from: "0001-01-01" },
      { from: "0000-12-31" },
      { from: "soon" },
      { every: "year" },
    ].map((span): [Question, QuestionParams] => ["trends", { what, ...span }]),
  ),
])("%s %o, in any order", (question, of) => expectSame(question, of, true));

it.each<Question>([
  "customers/:customerId",
  "customers/:customerId/explanation",
  "customers/:customerId/history",
  "customers/:customerId/health-scores",
  "customers/:customerId/backlog",
])("%s", async (question) => {
  for (const customerId of [...customerIds, "nobody"]) {
    await expectSame(question, { customerId, ...(question.endsWith("history") && { limit: "200" }) });
  }
});

it.each<[Question, QuestionParams]>([
  ["segments/:segment", {}],
  ["journeys/:journeyId/times", {}],
  ["journeys/:journeyId/times", { since: "60d" }],
  ["journeys/:journeyId/times", { since: dayAgo(60) }],
  ["journeys/:journeyId/runs", { completed: "toString" }],
  ["journeys/:journeyId/runs", {}],
  ["journeys/:journeyId/runs", { since: "90d", status: "active" }],
  ["journeys/:journeyId/runs", { status: "expired", step: "invite_team" }],
  ["journeys/:journeyId/runs", { completed: "create_project" }],
])("%s %o", async (question, of) => {
  const ids = question.startsWith("segments")
    ? { segment: ["going_quiet", "frustrated", "nope"] }
    : { journeyId: ["onboarding", "conversion", "nope"] };
  for (const [name, values] of Object.entries(ids)) {
    for (const value of values) await expectSame(question, { ...of, [name]: value });
  }
});
