import type { AdminCredentials, Page } from "../../src/db/api/access.js";
import type { Notice, Sql } from "postgres";
import { afterAll, beforeAll, describe, expect, it as test } from "vitest";
import { call } from "../../src/db/api/call.js";
import { connect } from "../../src/db/connect.js";
import { newCredential } from "../../src/http/request/credentials.js";
import { parseDuration } from "../../src/model/snapshot/duration.js";
import { canonicalJson, hashSnapshot } from "../../src/model/snapshot/canonical.js";
import { EMPTY_SNAPSHOT, type Snapshot } from "../../src/model/snapshot/types.js";
import { useDatabase, rolledBack } from "../support/database.js";
import { isCluster } from "../support/is-cluster.js";
import { populate } from "../support/population.js";
import { environmentId } from "../support/service.js";

// Plans of a single server; nodes of a cluster make their own.
const it = test.skipIf(isCluster);

const CUSTOMERS = 20_000;
const EVENTS = 100_000;

/** Tables that grow with customers and events, which nothing may scan sequentially. */
const LARGE = (
  "customers deliveries delivery_attempts delivery_bodies emissions events health_scores idempotency_keys inbox ingest_batches " +
  "journey_runs lifecycle_transitions recompute_customers recomputes retired_keys rule_executions segment_memberships signals superseded_logs trait_updates"
).split(" ");

interface PlanNode {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Name"?: string;
  "Shared Hit Blocks": number;
  "Shared Read Blocks": number;
  Plans?: PlanNode[];
}

const AT = { project: "app", environment: "test" } as const;
const notices: Notice[] = [];

const db = await useDatabase();
const token = newCredential("token");
const bootstrapped = await call(db.sql, "bootstrap", "acme", "ann@acme.example", token.hash);
const { organizationId } = JSON.parse(bootstrapped) as { organizationId: string };
const by: AdminCredentials = { tokenHash: token.hash, organizationId, requestId: "req" };
const keys = { test: newCredential("test"), live: newCredential("live") };
await call(db.sql, "create_project", by, { name: "App", slug: "app" }, keys);
const versionOf = (snapshot: Snapshot) => {
  const [text, hash] = [canonicalJson(snapshot), hashSnapshot(snapshot)];
  return { snapshot: text, hash, provenance: null, expected: null, force: false };
};
const id = await environmentId(db.sql, "app", "test");
await populate(db.sql, id, { customers: CUSTOMERS, events: EVENTS });
const sql = connect(db.url, { max: 1, applicationName: "svc test plans", onNotice: (notice) => notices.push(notice) });
await sql.unsafe(`
  load 'auto_explain';
  set auto_explain.log_analyze = on;
  set auto_explain.log_timing = off;
  set auto_explain.log_buffers = on;
  set auto_explain.log_format = json;
  set auto_explain.log_nested_statements = on;
  set auto_explain.log_level = notice;
  set client_min_messages = notice`);
afterAll(() => sql.end());

/** All plans of a call, with that of the call itself last. */
async function plansOf(call: () => Promise<unknown>): Promise<PlanNode[]> {
  notices.length = 0;
  await sql`set auto_explain.log_min_duration = 0`;
  await call();
  // Only when requested: writing a plan takes longer than executing it.
  await sql`set auto_explain.log_min_duration = -1`;
  return notices
    .map(({ message }) => /plan:\n(.*)$/s.exec(message ?? "")?.[1])
    .filter((plan) => plan !== undefined)
    .map((plan) => (JSON.parse(plan) as { Plan: PlanNode }).Plan);
}

function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

/** The large tables that a call scans sequentially, and the number of 8 KiB pages it reads in total. */
async function cost(call: () => Promise<unknown>): Promise<{ scanned: unknown[]; buffers: number }> {
  await call(); // a connection reads the catalog once
  const plans = await plansOf(call);
  const plan = plans.at(-1)!;
  return {
    scanned: plans
      .flatMap(nodesOf)
      .filter((node) => node["Node Type"] === "Seq Scan" && LARGE.includes(node["Relation Name"] ?? ""))
      .map((node) => node["Relation Name"]),
    buffers: plan["Shared Hit Blocks"] + plan["Shared Read Blocks"],
  };
}

/** Expects that a call scans no large table sequentially, and reads at most `buffersMax` pages. */
async function expectCheap(call: () => Promise<unknown>, buffersMax: number): Promise<void> {
  let { scanned, buffers } = await cost(call);
  // If other tests create so many tables that invalidations overflow, a connection reads the catalog again: some 2,000 pages.
  for (let n = 0; n < 2 && buffers > buffersMax; n++) ({ scanned, buffers } = await cost(call));
  expect(scanned).toEqual([]);
  expect(buffers).toBeLessThanOrEqual(buffersMax);
}

const BUSY = "customer-000000";
const ONE = "customer-000123";
const TEN = "customer-000010";
const [{ busyEvent }] = await db.sql<[{ busyEvent: string }]>`
  select svc.event_id(event_seq) as "busyEvent" from svc.events where customer_id = ${BUSY} order by occurred_at limit 1`;

const day = 86_400;
const week = new Date(Date.now() - 7 * day * 1000);
const PAGE = { limit: 50 };
type Filters<Name extends string> = Partial<Record<Name, string>>;
type EventFilters = Filters<"customerId" | "event" | "status"> & { since?: Date };
type RuleFilters = Filters<"customerId" | "ruleId" | "result"> & {
  since?: Date;
  detail?: boolean;
  superseded?: boolean;
};
type CustomerFilters = Filters<"lifecycle" | "segment" | "health" | "signal" | "search" | "traits" | "sort"> & {
  inactiveSeconds?: number;
  setAside?: boolean;
  reverse?: boolean;
};
const events = ({ since, ...filters }: EventFilters, page: Page = PAGE) =>
  call(sql, "list_events", by, AT, filters, since, page);
const rules = ({ since, detail = true, superseded = false, ...filters }: RuleFilters, page: Page = PAGE) =>
  call(sql, "search_rule_executions", by, AT, filters, since, detail, superseded, page);
const customers = (
  { traits, inactiveSeconds, setAside, sort, reverse = false, ...filters }: CustomerFilters,
  page: Page = PAGE,
) => call(sql, "search_customers", by, AT, filters, traits, inactiveSeconds, setAside, sort, reverse, page);
const runs = (filters: Filters<"status" | "step" | "completed">) =>
  call(sql, "search_journey_runs", by, AT, "onboarding", filters, undefined, PAGE);

/** The cursor after a number of pages. */
async function cursorAfter(pages: number, list: (page: Page) => Promise<string>): Promise<string | undefined> {
  let cursor: string | undefined;
  for (let n = 0; n < pages; n++)
    ({ nextCursor: cursor } = JSON.parse(await list({ ...PAGE, cursor })) as { nextCursor: string });
  return cursor;
}

/** The cost of a page of 50 rows found by index: a few pages of each table and index per row. */
const FEW = 2_000;
/** The same if up to 2,000 rows are examined to find them. */
const BOUNDED = 14_000;

describe("lists read by index, and little more than they show:", () => {
  it.each<[string, () => Promise<string>, number]>([
    ["events", () => events({}), FEW],
    ["events since", () => events({ since: week }), FEW],
    ["events of a name", () => events({ event: "login" }), FEW],
    ["events of a rare name", () => events({ event: "account_closed" }), FEW],
    ["events of no name", () => events({ event: "nothing" }), 200],
    ["events of a customer", () => events({ customerId: ONE }), FEW],
    ["events of a busy customer", () => events({ customerId: BUSY }), FEW],
    ["the first event of a busy customer", () => call(sql, "get_event", by, AT, busyEvent), BOUNDED],
    ["events of a name of a busy customer", () => events({ customerId: BUSY, event: "account_closed" }), BOUNDED],
    ["processed events", () => events({ status: "processed" }), 4_000],
    ["pending events", () => events({ status: "pending" }), 6_000],
    ["pending events of a name", () => events({ status: "pending", event: "login", since: week }), 6_000],
    ["pending events of a customer", () => events({ status: "pending", customerId: BUSY }), FEW],
    ["rule executions", () => rules({}), FEW],
    ["rule executions since", () => rules({ since: week }), FEW],
    ["rule executions of a rule", () => rules({ ruleId: "rule_3" }), FEW],
    ["rule executions of a rare rule", () => rules({ ruleId: "seldom" }), FEW],
    ["rule executions of a result", () => rules({ result: "fail" }), FEW],
    ["rule executions of a rare result", () => rules({ result: "error" }), FEW],
    ["a result of a rule", () => rules({ ruleId: "rule_4", result: "error", since: week }), FEW],
    ["rule executions of a customer", () => rules({ customerId: TEN }), FEW],
    ["rule executions, superseded ones too", () => rules({ superseded: true }), FEW],
    ["all rule executions of a customer", () => rules({ customerId: TEN, superseded: true }), FEW],
    ["emissions", () => call(sql, "search_emissions", by, AT, {}, null, PAGE), FEW],
    ["emissions since", () => call(sql, "search_emissions", by, AT, {}, week, PAGE), FEW],
    ["emissions of no type", () => call(sql, "search_emissions", by, AT, { eventType: "x" }, null, PAGE), FEW],
    ["raised signals", () => call(sql, "search_signals", by, AT, {}, null, PAGE), FEW],
    ["signals raised since", () => call(sql, "search_signals", by, AT, {}, new Date(), PAGE), 200],
    ["raised signals of a severity", () => call(sql, "search_signals", by, AT, { severity: "info" }, null, PAGE), FEW],
    ["transitions", () => call(sql, "search_transitions", by, AT, {}, PAGE), BOUNDED],
    ["transitions to a state", () => call(sql, "search_transitions", by, AT, { entered: "quiet" }, PAGE), BOUNDED],
    ["times in states", () => call(sql, "get_transition_times", by, AT), BOUNDED],
    ["transitions from no state", () => call(sql, "search_transitions", by, AT, { left: "quiet" }, PAGE), BOUNDED],
    ["runs of a journey", () => runs({}), BOUNDED],
    ["active runs at an unknown step", () => runs({ status: "active", step: "x" }), BOUNDED],
    ["runs that have completed an unknown step", () => runs({ completed: "x" }), BOUNDED],
    ["times of some", () => call(sql, "get_journey_times", by, AT, "onboarding", undefined, 0.01), 1_000],
    ["a customer's transitions", () => call(sql, "list_transitions", by, AT, TEN, true, PAGE), 200],
    ["a customer's scores", () => call(sql, "list_health_scores", by, AT, TEN, true, PAGE), 200],
    ["a result of a rule of a customer", () => rules({ customerId: TEN, ruleId: "rule_4", result: "fail" }), FEW],
    ["customers", () => customers({}), FEW],
    ["customers in a state", () => customers({ lifecycle: "active" }), FEW],
    ["customers in a rare state", () => customers({ lifecycle: "trial" }), FEW],
    ["customers in a segment", () => customers({ segment: "paying" }), 4_000],
    ["customers set aside", () => customers({ setAside: true }), FEW],
    ["customers in a state and a segment", () => customers({ lifecycle: "active", segment: "paying" }), 4_000],
    ["customers in a state and a small segment", () => customers({ lifecycle: "active", segment: "chosen" }), FEW],
    ["customers in a state and a segment apart", () => customers({ lifecycle: "new", segment: "paying" }), BOUNDED],
    ["inactive customers", () => customers({ inactiveSeconds: day }), FEW],
    ["inactive customers in a state", () => customers({ inactiveSeconds: day, lifecycle: "active" }), 4_000],
    ["inactive customers in a rare state", () => customers({ inactiveSeconds: day, lifecycle: "trial" }), FEW],
    ["inactive customers in a segment", () => customers({ inactiveSeconds: day, segment: "paying" }), 4_000],
    ["inactive customers in a small segment", () => customers({ inactiveSeconds: day, segment: "chosen" }), FEW],
    ["inactive ones of both", () => customers({ inactiveSeconds: day, lifecycle: "new", segment: "paying" }), BOUNDED],
    ["inactive customers set aside", () => customers({ inactiveSeconds: day, setAside: true }), FEW],
    ["customers with a signal", () => customers({ signal: "quiet" }), 4_000],
    ["customers of a band", () => customers({ health: "healthy" }), FEW],
    ["customers of no band", () => customers({ health: "none" }), BOUNDED],
    ["customers by a text that none has", () => customers({ search: "nobody" }), BOUNDED],
    ["customers by a trait that none has", () => customers({ traits: '{"plan": "none"}' }), BOUNDED],
    ["customers last seen", () => customers({ sort: "lastEvent", reverse: true }), FEW],
    ["customers of the lowest health", () => customers({ sort: "health" }), FEW],
    ["the healthiest in a state", () => customers({ sort: "health", reverse: true, lifecycle: "active" }), 4_000],
    ["members of a small segment", () => call(sql, "get_segment", by, AT, "chosen", PAGE), FEW],
    ["a customer", () => call(sql, "get_customer", by, AT, ONE), 100],
    ["a customer's timeline", () => call(sql, "list_emissions", by, AT, ONE, false, PAGE), 200],
    ["a customer's timeline, reversed", () => call(sql, "list_emissions", by, AT, ONE, true, PAGE), 200],
    ["a customer's backlog", () => call(sql, "customer_backlog", by, AT, ONE), 100],
    ["a customer's journey", () => call(sql, "get_journey", by, AT, ONE, "onboarding"), 100],
  ])("%s", async (_, call, buffersMax) => {
    await expectCheap(call, buffersMax);
  });

  it("later pages cost no more than the first", async () => {
    for (const list of [
      (page: Page) => events({}, page),
      (page: Page) => events({ event: "login" }, page),
      (page: Page) => rules({}, page),
      (page: Page) => rules({ ruleId: "rule_3" }, page),
      (page: Page) => customers({}, page),
      (page: Page) => customers({ inactiveSeconds: day }, page),
      (page: Page) => call(sql, "search_signals", by, AT, {}, null, page),
    ]) {
      const cursor = await cursorAfter(20, list);
      await expectCheap(() => list({ ...PAGE, cursor }), FEW);
    }
  });

  it("customers in the order of their health fill each page, however many others are in between", async () => {
    for (const filter of [{ lifecycle: "active" }, { health: "healthy" }])
      for (const reverse of [false, true]) {
        const { data } = JSON.parse(await customers({ ...filter, sort: "health", reverse })) as { data: unknown[] };
        expect(data).toHaveLength(PAGE.limit);
      }
  });

  it("a page of the stream reads only what it sends", async () => {
    await expectCheap(() => call(sql, "stream_events", by, AT, {}, "50000", 200), 4_000);
    await expectCheap(() => call(sql, "stream_events", by, AT, { event: "account_closed" }, "0", 200), FEW);
  });

  it("statistics of a large segment read only the index of all customers, and not the customers", async () => {
    // A transaction with an older snapshot than the rows can keep a vacuum from making the index sufficient.
    await expect
      .poll(async () => {
        await db.sql`vacuum svc.customers`;
        const [row] = await db.sql<[{ done: boolean }]>`
          select relallvisible = relpages as done from pg_class where oid = 'svc.customers'::regclass`;
        return row.done;
      })
      .toBe(true);
    const [{ pages }] = await db.sql<[{ pages: number }]>`
      select relpages as pages from pg_class where oid = 'svc.customers'::regclass`;
    await expectCheap(() => call(sql, "get_segment", by, AT, "everyone", PAGE), pages - 1);
  });
});

/** The parts of the model that the population was derived under. */
const happened = { kind: "count", of: { event: "login" }, operator: "gte", value: 1 } as const;
const seconds = { properties: { seconds: { type: "number" as const, optional: true as const } } };
const active: Snapshot = {
  ...EMPTY_SNAPSHOT,
  strictSchema: true,
  events: { account_closed: seconds, feature_used: seconds, invoice_paid: seconds, login: seconds },
  lifecycle: { initial: "new", states: ["new", "trial", "active", "quiet"].map((name) => ({ name, transitions: [] })) },
  segments: ["everyone", "paying", "chosen", "few"].map((id) => ({ id })),
  journeys: [{ id: "onboarding", start: happened, steps: [{ id: "invite", when: happened }] }],
  signals: [{ id: "quiet", severity: "warning" }],
};
interface Reads {
  table: string;
  sequential: number;
  fetched: number;
}

describe("warnings about removed parts", () => {
  beforeAll(async () => void (await call(db.sql, "deploy_config", by, AT, { ...versionOf(active), force: true })));

  /** The warnings about a snapshot, and the numbers of data rows read for them. */
  async function warnings(snapshot: Snapshot) {
    return rolledBack(db.sql, async (tx) => {
      const reads = () => tx<Reads[]>`
        select relname as table, seq_tup_read::integer as sequential, idx_tup_fetch::integer as fetched
        from pg_stat_xact_user_tables
        where schemaname = 'svc' and relname = any('{customers, events, journey_runs, segment_memberships, signals}')`;
      const before = await reads();
      const [row] = await tx<[{ found: { code: string; message: string }[] }]>`
        select svc.stranded_data(${id}, ${canonicalJson(snapshot)}::text::json) as found`;
      const read = (await reads()).map(({ table, sequential, fetched }) => {
        const was = before.find((one) => one.table === table);
        return { table, sequential: sequential - (was?.sequential ?? 0), fetched: fetched - (was?.fetched ?? 0) };
      });
      return { found: row.found.map(({ code, message }) => `${code}: ${message}`), read };
    });
  }

  it("read by index, and at most ten thousand rows of each", async () => {
    const bare: Snapshot = { ...active, lifecycle: null, segments: [], journeys: [], signals: [] };
    const { found, read } = await warnings(bare);
    expect(found).toEqual([
      'STATE_REMOVED: The lifecycle state "new" is removed, and 2,000 customers are in it.',
      'STATE_REMOVED: The lifecycle state "trial" is removed, and 20 customers are in it.',
      'STATE_REMOVED: The lifecycle state "active" is removed, and more than 10,000 customers are in it.',
      'STATE_REMOVED: The lifecycle state "quiet" is removed, and 6,000 customers are in it.',
      'SEGMENT_REMOVED: The segment "everyone" is removed, and more than 10,000 customers are in it.',
      'SEGMENT_REMOVED: The segment "paying" is removed, and 6,667 customers are in it.',
      'SEGMENT_REMOVED: The segment "chosen" is removed, and 34 customers are in it.',
      'SEGMENT_REMOVED: The segment "few" is removed, and 1 customer is in it.',
      'JOURNEY_REMOVED: The journey "onboarding" is removed, and more than 10,000 customers are on it.',
      'SIGNAL_REMOVED: The signal "quiet" is removed, and it is raised: 6,667 customers are concerned.',
    ]);
    for (const { table, sequential } of read) expect(`${table} ${sequential}`).toBe(`${table} 0`);
  });

  it("read no more than the newest ten thousand of each event", async () => {
    const events: Snapshot["events"] = {
      login: { properties: { seconds: { type: "string", optional: true } } },
      invoice_paid: seconds,
      account_closed: seconds,
    };
    const { found, read } = await warnings({ ...active, events });
    expect(found).toEqual([
      'EVENT_REMOVED: The event "feature_used" is removed, and more than 10,000 such events are stored; the strict schema refuses it from now on.',
      'PROPERTY_TYPE_CHANGED: The property "seconds" of "login" changes its type, and its value does not fit in 10,000 events of the newest 10,000.',
    ]);
    const { sequential, fetched } = read.find(({ table }) => table === "events")!;
    expect(sequential).toBe(0);
    expect(fetched).toBeLessThanOrEqual(20_001);
  });

  it("read no data where nothing is removed or declared differently", async () => {
    const { found, read } = await warnings({ ...active, rules: [] });
    expect(found).toEqual([]);
    for (const { table, sequential, fetched } of read) expect(`${table} ${sequential} ${fetched}`).toBe(`${table} 0 0`);
  });
});

describe("after a recompute rewrote much of the history,", () => {
  /** Superseded executions, newer than everything else, of customers for which a recompute ran no rule. */
  const SUPERSEDED = 5_000;
  const pagesOf = async (list: (page: Page) => Promise<string>) => {
    const pages: { rows: number; buffers: number; scanned: unknown[] }[] = [];
    for (let cursor: string | undefined; pages.at(-1)?.rows !== 50;) {
      const { scanned, buffers } = await cost(() => list({ ...PAGE, cursor }));
      const { data, nextCursor } = JSON.parse(await list({ ...PAGE, cursor })) as {
        data: unknown[];
        nextCursor: string;
      };
      pages.push({ rows: data.length, buffers, scanned });
      cursor = nextCursor;
    }
    return pages;
  };

  beforeAll(async () => {
    await db.sql`
      insert into svc.customers (environment_id, customer_id, created_at, state, generation)
      select environment_id, 'recomputed-' || n, now(), json_build_object('counts', array(select k from generate_series(1, 100) as k)), 1
      from svc.environments, generate_series(1, 1000) as n where name = 'test'`;
    await db.sql`
      insert into svc.rule_executions (
        environment_id, customer_id, rule_id, result, triggered_by, conditions, action, error, executed_at, cause_type, generation
      )
      select
        environment_id, 'recomputed-' || 1 + n % 1000, 'rule_3', r.result, 'event:login', '{}', '{}', case r.result when 'error' then 'no' end,
        now() + n * interval '1 millisecond', 'event', 0
      from svc.environments, generate_series(1, ${SUPERSEDED}::integer) as n
      cross join lateral (select (array['pass', 'fail', 'error'])[1 + n % 3] as result) as r
      where name = 'test'`;
    await db.sql`
      insert into svc.lifecycle_transitions (environment_id, customer_id, to_state, transitioned_at, cause_type)
      select environment_id, 'recomputed-' || 1 + n % 1000, 'left', now(), 'event'
      from svc.environments, generate_series(1, 20000) as n where name = 'test'`;
    await db.sql`vacuum (analyze) svc.customers, svc.rule_executions, svc.lifecycle_transitions`;
  });

  it.each<[string, (page: Page) => Promise<string>, number]>([
    ["all", (page) => rules({}, page), 3],
    ["of a rule", (page) => rules({ ruleId: "rule_3" }, page), 3],
    ["of a result", (page) => rules({ result: "pass" }, page), 1],
  ])("a page of the log of rules examines at most 2,000 executions: %s", async (_, list, pagesMax) => {
    const pages = await pagesOf(list);
    expect(pages).toHaveLength(pagesMax);
    for (const { scanned, buffers } of pages) {
      expect(scanned).toEqual([]);
      expect(buffers).toBeLessThanOrEqual(BOUNDED);
    }
  });

  it("the log of rules of a customer reads only the current generation", async () => {
    await expectCheap(() => rules({ customerId: "recomputed-1" }), 100);
  });

  it("the funnel reads the log of transitions and an index of customers, not the customers", async () => {
    const { scanned } = await cost(() => sql`select svc.lifecycle_counts(${id}, '{}')`);
    expect(scanned).not.toContain("customers");
  });

  it("metrics and the tick scan no growing table", async () => {
    for (const call of [
      () => sql`select svc_api.metrics()`,
      () => sql`select svc_api.request_due_evaluations(interval '1 minute')`,
    ]) {
      const { scanned } = await cost(call);
      expect(scanned.filter((table) => table !== "recomputes")).toEqual([]);
    }
  });

  it("diagnostics of states and rules examine at most 10,000 entries of a log", async () => {
    const snapshot = {
      strictSchema: false,
      lifecycle: { states: [{ name: "left" }, { name: "active" }, { name: "nowhere" }] },
    };
    await db.sql`
      insert into svc.config_versions (project_id, version, snapshot, hash, author)
      select project_id, 2, ${JSON.stringify(snapshot)}::text::json, 'hash', 'ann' from svc.projects`;
    const [row] = await db.sql<[{ project: number }]>`select project_id as project from svc.projects`;
    const states = () => sql<[{ states: string[] }]>`
      select svc.check_states(${id}, 'test', ${row.project}, 2) -> 'details' -> 'states' as states`;
    for (const call of [states, () => sql`select svc.check_rules(${id}, 'test')`]) {
      expect((await cost(call)).buffers).toBeLessThanOrEqual(36_000);
    }
    expect((await states())[0].states).toEqual(["left", "nowhere"]);
  });
});

describe("queries of the deliveries to a webhook read by index:", () => {
  const EMISSIONS = 30_000;
  const none = { statuses: ["failed", "missing"] as const };
  const deliveries = (filters: Filters<"status" | "eventType" | "customerId">) =>
    call(sql, "list_deliveries", by, AT, "whk_many", filters, PAGE);

  beforeAll(async () => {
    await db.sql`
      insert into svc.webhooks (environment_id, webhook_id, url, event_types, include, sealed_secret, created_at)
      select ${id}, id, 'https://example.com', '{nothing}', '{name,facts}', '', now() - interval '1 day'
      from unnest(array['whk_many', 'whk_few']) as id`;
    // Written in batches of 100, one each second.
    await db.sql`
      insert into svc.emissions (
        environment_id, emission_seq, customer_id, event_type, source, metadata, emitted_at, cause_type, created_at
      )
      select
        ${id}, ((900000::bigint + n / 100) << 16) + n % 100, 'customer-' || lpad((n % 1000)::text, 6, '0'),
        case when n % 10000 = 0 then 'rare' else 'segment.entered' end, 'segment', '{}', now(), 'timer',
        now() - interval '1 hour' + n / 100 * interval '1 second'
      from generate_series(0, ${EMISSIONS - 1}::integer) as n`;
    await db.sql`
      insert into svc.emission_batches (environment_id, evaluation_seq, emissions, created_at)
      select ${id}, 900000 + n, 100, now() - interval '1 hour' + n * interval '1 second' from generate_series(0, 299) as n`;
    await db.sql`
      insert into svc.deliveries (environment_id, webhook_id, emission_seq, status, attempts, next_attempt_at, finished_at)
      select
        ${id}, 'whk_many', m.emission_seq, s.status, 1, now() + random() * interval '1 hour',
        case when s.status <> 'pending' then now() end
      from (select emission_seq, row_number() over (order by emission_seq) as n from svc.emissions where emission_seq >= 900000::bigint << 16) as m
      cross join lateral (
        select case when m.n % 1000 = 0 then 'failed' when m.n > 20000 then 'pending' else 'delivered' end as status
      ) as s`;
    await db.sql`
      insert into svc.delivery_attempts (environment_id, webhook_id, emission_seq, attempt, attempted_at, latency_ms, status_code)
      select environment_id, webhook_id, emission_seq, 1, now(), 5, 500 from svc.deliveries where webhook_id = 'whk_many'`;
  }, 60_000);

  it.each<[string, () => Promise<string>, number]>([
    ["all of them", () => deliveries({}), FEW],
    ["those that failed", () => deliveries({ status: "failed" }), FEW],
    ["those that wait", () => deliveries({ status: "pending" }), BOUNDED],
    ["those of a customer", () => deliveries({ customerId: ONE }), FEW],
    ["those of a rare type", () => deliveries({ eventType: "rare" }), 20_000],
    ["those of a rare type and status", () => deliveries({ eventType: "rare", status: "delivered" }), 20_000],
    ["a webhook", () => call(sql, "get_webhook", by, AT, "whk_many"), 12_000],
    ["a webhook without any", () => call(sql, "get_webhook", by, AT, "whk_few"), 200],
    ["an emission", () => call(sql, "get_emission", by, AT, "emi_0000000dbbaa0000"), 200],
    ["one of them", () => call(sql, "get_delivery", by, AT, "whk_many", "emi_0000000dbbaa0000"), 200],
    ["the bodies of a batch of them", () => bodies("whk_many"), 6_000],
    ["a minute of them", () => resend("whk_many", "59m", "58m"), 30_000],
    ["a minute of missing ones", () => resend("whk_few", "59m", "58m"), 30_000],
    // The planner looks for the newest emission beyond rolled-back ones as long as another transaction might see them.
    ["a span without any", () => resend("whk_many", "10d", "9d"), 5_000],
    ["ten thousand of them", () => resend("whk_few", "2h", "1m"), 50_000],
  ])("%s", async (_, call, buffersMax) => {
    await expectCheap(call, buffersMax);
  });

  /** Writes the bodies of the first batch, like its trigger. */
  async function bodies(webhook: string): Promise<string> {
    const first = (900000n << 16n).toString();
    await sql`select svc.write_delivery_bodies(${id}, array[${webhook}], array[${first}::bigint], array[${first}::bigint + 65535])`;
    return "";
  }

  function resend(webhook: string, since: string, until: string): Promise<string> {
    const ago = (duration: string) => new Date(Date.now() - parseDuration(duration));
    return call(sql, "resend_deliveries", by, AT, webhook, { ...none, since: ago(since), until: ago(until) });
  }
});

describe("queries of recomputes read by index:", () => {
  const differences = (byId: boolean, page: Page = PAGE) =>
    call(sql, "list_recompute_customers", by, AT, "rec_5", byId, page);
  const jobs = (status?: string) => call(sql, "list_recomputes", by, AT, status, PAGE);
  const samples = (page: Page = PAGE) => call(sql, "list_backtest_samples", by, AT, "bkt_1", page);

  beforeAll(async () => {
    // Mostly previews, as if each push made one.
    await db.sql`
      insert into svc.recomputes (environment_id, recompute_id, kind, snapshot, hash, pinned_at, requested_by, status, finished_at)
      select
        ${id}, 'rec_' || n, case when n % 100 = 5 then 'recompute' else 'preview' end,
        case when n % 100 <> 5 then json_build_object('pad', repeat(md5(n::text), 200)) end,
        case when n % 100 <> 5 then 'hash' end, now(), 'a@b', 'completed', now()
      from generate_series(1, 5000) as n`;
    await db.sql`
      insert into svc.recompute_customers (environment_id, recompute_id, customer_id, weight, difference)
      select ${id}, 'rec_' || (5 + 100 * (n % 3)), 'customer-' || n, n % 7, json_build_object('n', n, 'pad', repeat(md5(n::text), 20))
      from generate_series(1, 30000) as n`;
    await db.sql`
      insert into svc.recomputes (environment_id, recompute_id, kind, version, hash, question, pinned_at, requested_by)
      values (${id}, 'bkt_1', 'backtest', 1, 'hash', '{}', now(), 'a@b')`;
    await db.sql`
      insert into svc.recompute_customers (environment_id, recompute_id, customer_id, weight, difference)
      select ${id}, 'bkt_1', 'customer-' || n, 0, json_build_object('n', n, 'pad', repeat(md5(n::text), 20))
      from generate_series(1, 10000) as n`;
    await db.sql`vacuum (analyze)`;
  }, 60_000);

  it.each<[string, () => Promise<string>, number]>([
    ["all of them", () => jobs(), BOUNDED],
    ["those of a status", () => jobs("dead_letter"), BOUNDED],
    ["one of them", () => call(sql, "get_recompute", by, AT, "rec_5"), 100],
    ["the backtests among them", () => call(sql, "list_backtests", by, AT, PAGE), 100],
    ["a backtest's samples", () => samples(), FEW],
    ["the customers that change most", () => differences(false), FEW],
    ["the customers by their ids", () => differences(true), FEW],
    ["common problems", () => call(sql, "get_diagnostics", by, AT), 30_000],
  ])("%s", async (_, call, buffersMax) => {
    await expectCheap(call, buffersMax);
  });

  it.each<[string, (page: Page) => Promise<string>]>([
    ["the customers that change most", (page) => differences(false, page)],
    ["the customers by their ids", (page) => differences(true, page)],
    ["samples", samples],
  ])("a later page costs no more than the first: %s", async (_, list) => {
    const cursor = await cursorAfter(50, list);
    await expectCheap(() => list({ ...PAGE, cursor }), FEW);
  });
});

it("an erasure finds by index what recomputes store about the customer", async () => {
  // One in ten is for a single customer.
  await db.sql`
      insert into svc.recomputes (environment_id, recompute_id, kind, customer_id, pinned_at, status, requested_by, finished_at)
      select
        ${id}, 'rec_e' || n, 'recompute', case when n % 10 = 0 then 'customer-' || lpad(n::text, 6, '0') end, now(), 'completed', 'a@b', now()
      from generate_series(1, 10000) as n`;
  await db.sql`
      insert into svc.recomputes (environment_id, recompute_id, kind, pinned_at, status, requested_by, last_customer_id)
      values (${id}, 'rec_e_running', 'recompute', now(), 'running', 'a@b', 'customer-000130')`;
  await db.sql`
      insert into svc.recompute_customers (environment_id, recompute_id, customer_id, weight, difference)
      select ${id}, 'rec_e' || k, 'customer-' || lpad(n::text, 6, '0'), n, '{}' from generate_series(1, 4000) as n, generate_series(1, 5) as k`;
  await db.sql`vacuum (analyze)`;
  await expectCheap(() => rolledBack(sql, (tx) => tx`select svc.delete_customer(${id}, 'customer-000130')`), FEW);
});

it("a deployment finds by index that its environment has no customers, even with PostgreSQL's generic plan for all environments", async () => {
  const live = { project: "app", environment: "live" } as const;
  const version = versionOf(EMPTY_SNAPSHOT);
  const deploy = () => rolledBack(sql, (tx) => call(tx as unknown as Sql, "deploy_config", by, live, version));
  // PostgreSQL makes it after five custom plans.
  for (let n = 0; n < 6; n++) expect(JSON.parse(await deploy())).toMatchObject({ hasCustomers: false });
  await expectCheap(deploy, FEW);
});

it("a session is checked by one query, which only looks up keys", async () => {
  // Enough rows to make an index worthwhile.
  await db.sql`
      insert into iam.users (user_id, email) select 'usr_' || n, 'u' || n || '@many.example' from generate_series(1, 5000) as n`;
  await db.sql`
      insert into iam.organizations (organization_id, slug) select 'org_' || n, 'many-' || n from generate_series(1, 5000) as n`;
  await db.sql`
      insert into iam.memberships (organization_id, user_id, role)
      select 'org_' || n, 'usr_' || n, 'viewer' from generate_series(1, 5000) as n`;
  await db.sql`
      insert into iam.access_tokens (token_hash, token_id, kind, user_id, organization_id, label, expires_at)
      select sha256(n::text::bytea), 'tok_' || n, 'headless', 'usr_' || n, 'org_' || n, 'many', now() + interval '1 day'
      from generate_series(1, 5000) as n`;
  await db.sql`
      insert into iam.sessions (session_hash, user_id, expires_at)
      select sha256(('session ' || n)::bytea), 'usr_' || n, now() + interval '1 day' from generate_series(1, 5000) as n`;
  await db.sql`vacuum (analyze) iam.users, iam.organizations, iam.memberships, iam.access_tokens, iam.sessions`;
  const call = () =>
    sql`select (iam.authorize(${by.tokenHash}, ${by.organizationId}, 'list_events', 'test')).role as role`;
  await call();
  const plans = await plansOf(call);
  const ofTables = plans.filter((plan) => nodesOf(plan).some((node) => node["Relation Name"] !== undefined));
  expect(ofTables).toHaveLength(1);
  const scans = nodesOf(ofTables[0]!).filter((node) => node["Relation Name"] !== undefined);
  // The table of plans has one row.
  expect(scans.filter((node) => !node["Node Type"].startsWith("Index") && node["Relation Name"] !== "plans")).toEqual(
    [],
  );
  expect(
    scans
      .map((node) => node["Relation Name"])
      .toSorted()
      .join(" "),
  ).toBe("access_tokens memberships organizations plans sessions users");
});

describe("retention finds rows by index, and reads only what it removes:", () => {
  /** Every index that the calls search. */
  const indexes = async (call: () => Promise<unknown>) => {
    const nodes = (await plansOf(call)).flatMap(nodesOf);
    return new Set(nodes.flatMap((node) => node["Index Name"] ?? []));
  };

  beforeAll(async () => {
    await db.sql`update iam.plans set retention_days = 300`;
    await db.sql`
      insert into svc.superseded_logs (environment_id, customer_id, generation, superseded_at)
      select environment_id, customer_id, generation, now() - interval '8 days' from svc.customers where generation > 0`;
    await db.sql`
      insert into svc.retired_keys (environment_id, retired_at, event_seq, customer_id, idempotency_key)
      select ${id}, now() - interval '91 days', n, 'customer-000001', 'k' || n from generate_series(1, 20000) as n`;
    await db.sql`insert into svc.retention (environment_id) values (${id})`;
  });

  it("operations", async () => {
    const sweep = () => sql`select svc_api.sweep_operations(${id}, null, 1000)`;
    await expectCheap(sweep, 15_000);
    // Even if a table was empty when analyzed, such as trait updates here.
    const used = [...(await indexes(sweep))].filter((name) => /^(events|inbox|ingest|trait)/.test(name));
    expect(used.toSorted()).toEqual(["events_pkey", "inbox_pkey", "ingest_batches_pkey", "trait_updates_pkey"]);
  });

  it("nothing, if nothing is old enough", async () => {
    await db.sql`update iam.plans set retention_days = 400`;
    await expectCheap(() => sql`select svc_api.sweep_operations(${id}, null, 1000)`, 100);
  });

  it("keys and superseded logs", async () => {
    await expectCheap(() => sql`select svc_api.sweep_keys(${id}, 1000)`, 15_000);
    await expectCheap(() => sql`select svc_api.sweep_logs(${id}, 1000)`, 15_000);
  });

  it("the environments to sweep", async () => {
    const { scanned } = await cost(() => sql`select svc_api.environments_to_sweep()`);
    expect(scanned).toEqual([]);
  });
});
