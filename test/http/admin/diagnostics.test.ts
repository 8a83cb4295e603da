import { beforeAll, beforeEach, expect, it } from "vitest";
import { connect } from "../../../src/db/connect.js";
import { hashCredential } from "../../../src/http/request/credentials.js";
import { useSpec } from "../../spec/support/fixture.js";
import { environmentId, snapshot } from "../../support/service.js";
import { INSTANT, TEXT } from "./support/api.js";

interface Finding {
  code: string;
  severity: string;
  fix: string;
  count: number;
  details: Record<string, unknown>;
}

const SENTENCE = expect.stringMatching(/^[^a-z\s].*[.a-z>]$/) as string;

const fixture = useSpec();
let environment: number;

const diagnose = async () => (await fixture.read<{ data: Finding[] }>("diagnostics")).data;

/** The finding with this code, after a check that all findings are well-formed. */
async function find(code: string): Promise<Finding | undefined> {
  const findings = await diagnose();
  for (const finding of findings) {
    expect(finding).toMatchObject({ message: SENTENCE, fix: SENTENCE });
    // Fixes are commands.
    expect(finding.fix).not.toContain("/projects/");
  }
  return findings.find((finding) => finding.code === code);
}

const login = (customerId: string, more: object = {}) => {
  return { customerId, event: "login", properties: { seats: 1 }, ...more };
};
const sql = () => fixture.service.db.sql;
/** Sets columns of all customers, or of one, as SQL. */
const setCustomers = (change: string, customer = "%") =>
  sql().unsafe(`update svc.customers set ${change} where customer_id like '${customer}'`);

beforeAll(async () => {
  environment = await environmentId(sql(), "app", "test");
});
beforeEach(async () => {
  // A worker is alive.
  await sql()`insert into svc.workers (worker_id) values ('w') on conflict (worker_id) do update set seen_at = now()`;
});

it("a new project has no configuration and receives no events", async () => {
  const key = { id: expect.stringMatching(/^key_/) as string, name: "default", hint: TEXT, createdAt: INSTANT };
  const missing =
    "No configuration is deployed in test: any event and any trait is accepted, and nothing is derived from them.";
  expect(await diagnose()).toEqual([
    {
      ...{ code: "CONFIGURATION_MISSING", severity: "problem", count: 1, details: {} },
      message: missing,
      fix: "Deploy a model: svc deploy --env test",
    },
    {
      ...{ code: "KEYS_NEVER_USED", severity: "warning", count: 1, details: { keys: [key] } },
      message: "No API key of this environment was ever used: nothing was sent to it.",
      fix: "Send an event with a key of test: svc events send <event> --customer <id> --env test",
    },
  ]);
});

it("is empty when all is well", async () => {
  await fixture.deploy(snapshot({ strictSchema: false }));
  await fixture.batch([login("ann")]);
  await fixture.evaluate();
  expect(await diagnose()).toEqual([]);
});

it("reports that no worker is alive, and lists the worst first", async () => {
  await sql()`update svc.workers set seen_at = now() - interval '31 seconds'`;
  expect(await find("WORKER_MISSING")).toMatchObject({ severity: "problem", details: { lastSeenAt: INSTANT } });
  await sql()`delete from svc.workers`;
  await sql()`
    insert into svc.customers (environment_id, customer_id, created_at, config_version, set_aside_at, set_aside_error)
    values (${environment}, 'aside', now(), 7, now(), 'Error: no')`;
  expect((await diagnose()).map(({ severity, code }) => `${severity} ${code}`)).toEqual([
    "problem WORKER_MISSING",
    "problem CUSTOMERS_SET_ASIDE",
    "warning STATE_OUTDATED",
  ]);
  await sql()`delete from svc.customers where customer_id = 'aside'`;
});

it("reports customers that were set aside, counted up to ten thousand", async () => {
  await sql()`
    insert into svc.customers (environment_id, customer_id, created_at, config_version, set_aside_at, set_aside_error)
    select ${environment}, 'aside ' || to_char(n, 'FM00000'), now(), 1, '2026-03-01Z', 'Error: no' from generate_series(1, 10001) as n`;
  const finding = await find("CUSTOMERS_SET_ASIDE");
  const message = expect.stringContaining("More than 10,000 customers are set aside") as string;
  expect(finding).toMatchObject({ severity: "problem", message, count: 10_000 });
  const { customers } = finding!.details as { customers: object[] };
  expect(customers).toHaveLength(10);
  expect(customers[0]).toEqual({ customerId: "aside 00001", at: "2026-03-01T00:00:00.000Z", error: "Error: no" });
  await sql()`delete from svc.customers where customer_id like 'aside %'`;
});

it("reports events that are not in the schema, and schema violations, each once", async () => {
  await fixture.batch([
    login("ann", { event: "logn" }),
    login("ann", { properties: { seats: "one" } }),
    login("ann", { properties: { seats: "two" } }),
  ]);
  await fixture.evaluate();
  const lastEventId = expect.stringMatching(/^evt_/) as string;
  const event = { event: "logn", lastEventId, lastOccurredAt: INSTANT, lastAcceptedAt: INSTANT };
  const message = expect.stringMatching(
    /^Events of 1 name came in that the active version v1 does not declare/,
  ) as string;
  const undeclared = { severity: "warning", count: 1, details: { events: [event] }, message };
  expect(await find("EVENTS_UNDECLARED")).toMatchObject(undeclared);
  const kind = { event: "login", code: "INVALID_PROPERTY_TYPE", path: "properties.seats", operations: 2 };
  const violation = { ...kind, firstSeenAt: INSTANT, lastSeenAt: INSTANT, lastEventId, lastCustomerId: "ann" };
  const violated = { severity: "warning", count: 1, details: { operations: 2, violations: [violation] } };
  expect(await find("SCHEMA_VIOLATIONS")).toMatchObject(violated);
});

it("reports an undeclared event that goes on coming in, also if one that came long ago is dated in the future", async () => {
  const ahead = new Date(Date.now() + 400 * 86_400_000).toISOString();
  await fixture.batch([login("ann", { event: "lgin", timestamp: ahead })]);
  await sql()`update svc.events set accepted_at = now() - interval '31 days' where event = 'lgin'`;
  await fixture.batch([login("ann", { event: "lgin" })]);
  await fixture.evaluate();
  const { events } = (await find("EVENTS_UNDECLARED"))!.details as {
    events: { event: string; lastOccurredAt: string }[];
  };
  expect(events.map(({ event }) => event)).toEqual(["lgin", "logn"]);
  expect(Date.parse(events[0]!.lastOccurredAt)).toBeLessThanOrEqual(Date.now());
  await sql()`delete from svc.inbox where seq in (select event_seq from svc.events where event = 'lgin')`;
  await sql()`delete from svc.events where event = 'lgin'`;
});

it("reports declared events never received, states never reached, and states computed by an earlier version", async () => {
  const when = { kind: "count", of: { event: "order" }, operator: "gte", value: 1 } as const;
  const ends = ["active", "gone"].map((name) => ({ name, transitions: [] }));
  const states = [{ name: "new", transitions: ends.map(({ name }) => ({ to: name, when })) }, ...ends];
  const events = { ...snapshot().events, order: { properties: {} }, aa: { properties: {} } };
  await fixture.deploy(snapshot({ strictSchema: true, events, lifecycle: { initial: "new", states } }));
  const never = { severity: "warning", count: 2, details: { events: ["aa", "order"] } };
  expect(await find("EVENTS_NEVER_RECEIVED")).toMatchObject(never);
  const unreached = { severity: "info", count: 1, details: { states: ["gone"] } };
  expect(await find("STATES_NEVER_REACHED")).toMatchObject(unreached);
  const outdated = { activeVersion: "v2", versions: [{ configVersion: "v1", customers: 1 }] };
  expect(await find("STATE_OUTDATED")).toMatchObject({ severity: "warning", count: 1, details: outdated });
  // A strict schema refuses violations, so earlier ones are no ongoing problem.
  expect(await find("EVENTS_UNDECLARED")).toBeUndefined();
  expect(await find("SCHEMA_VIOLATIONS")).toBeUndefined();
  await fixture.batch([login("ann")]);
  await fixture.evaluate();
  expect(await find("STATE_OUTDATED")).toBeUndefined();
  // As if evaluated before the first deploy.
  await setCustomers("config_version = null", "ann");
  const versions = [{ configVersion: null, customers: 1 }];
  expect(await find("STATE_OUTDATED")).toMatchObject({ details: { versions } });
  // The same model in another version derives the same.
  await setCustomers("config_version = 2", "ann");
  await fixture.deploy(snapshot({ strictSchema: true }));
  await fixture.deploy(snapshot({ strictSchema: true, events, lifecycle: { initial: "new", states } }));
  expect(await find("STATE_OUTDATED")).toBeUndefined();
  await setCustomers("config_version = 3", "ann");
  expect(await find("STATE_OUTDATED")).toMatchObject({ count: 1 });
  await setCustomers("config_version = 4", "ann");
});

it("counts a state as reached in the present history, or if a customer is in it", async () => {
  await sql()`update svc.customers set generation = 1, lifecycle = case customer_id when 'ann' then 'active' end`;
  expect(await find("STATES_NEVER_REACHED")).toMatchObject({ details: { states: ["new", "gone"] } });
  await sql()`
    insert into svc.lifecycle_transitions (environment_id, customer_id, to_state, transitioned_at, cause_type, generation)
    values (${environment}, 'ann', 'new', now(), 'job', 1)`;
  expect(await find("STATES_NEVER_REACHED")).toMatchObject({ details: { states: ["gone"] } });
  await setCustomers("generation = 0");
});

it("reports how long the oldest operation has waited", async () => {
  await fixture.batch([login("bob"), login("bob")]);
  expect(await find("OPERATIONS_WAITING")).toBeUndefined();
  const age = (seconds: number) => sql()`
    update svc.ingest_batches set accepted_at = now() - make_interval(secs => ${seconds})
    where batch_seq = (select max(batch_seq) from svc.ingest_batches)`;
  await age(20);
  expect(await find("OPERATIONS_WAITING")).toMatchObject({
    severity: "warning",
    message: "2 operations wait to be evaluated, the oldest for 20 seconds.",
    count: 2,
    details: { oldestAcceptedAt: INSTANT, seconds: 20 },
  });
  await sql()`update svc.inbox set late = true`;
  await age(90);
  expect(await find("OPERATIONS_WAITING")).toMatchObject({ severity: "problem" });
  await fixture.evaluate();
});

it("reports overdue timers", async () => {
  await setCustomers("next_due_at = now() - interval '59 seconds', held_until = null", "bob");
  expect(await find("TIMERS_OVERDUE")).toBeUndefined();
  await setCustomers("next_due_at = now() - interval '61 seconds'", "bob");
  const overdue = { severity: "problem", count: 1, details: { oldestDueAt: INSTANT } };
  expect(await find("TIMERS_OVERDUE")).toMatchObject(overdue);
  await setCustomers("next_due_at = null", "bob");
});

it("reports due timers that wait while past events arrive", async () => {
  const held = "held_until = now() + interval '1 day'";
  await setCustomers(`next_due_at = now() - interval '9 seconds', ${held}`, "bob");
  expect(await find("TIMERS_HELD")).toBeUndefined();
  await setCustomers(`next_due_at = now() - interval '11 seconds', ${held}`, "bob");
  expect(await find("TIMERS_HELD")).toMatchObject({
    severity: "info",
    message:
      "1 customer has a timer that is due and waits, because past events arrive. States, segments and figures are not final.",
    count: 1,
    details: { oldestDueAt: INSTANT },
  });
  await setCustomers("next_due_at = null, held_until = null", "bob");
});

it("reports webhooks whose deliveries fail, and disabled ones", async () => {
  await sql()`
    insert into svc.webhooks (environment_id, webhook_id, url, event_types, sealed_secret, disabled_at, disabled_reason)
    values
      (${environment}, 'whk_fails', 'https://a.example', '{*}', '', null, null),
      (${environment}, 'whk_recovered', 'https://b.example', '{*}', '', null, null),
      (${environment}, 'whk_gone', 'https://c.example', '{*}', '', '2026-03-01Z', 'The endpoint answered 410 Gone.')`;
  await sql()`
    insert into svc.deliveries (environment_id, webhook_id, emission_seq, status, attempts, finished_at)
    values
      (${environment}, 'whk_fails', 1, 'delivered', 1, now()), (${environment}, 'whk_fails', 2, 'pending', 3, null),
      (${environment}, 'whk_fails', 3, 'pending', 0, null),
      (${environment}, 'whk_recovered', 1, 'pending', 1, null), (${environment}, 'whk_recovered', 2, 'delivered', 1, now()),
      (${environment}, 'whk_gone', 1, 'failed', 1, now())`;
  await sql()`
    insert into svc.delivery_attempts
    values (${environment}, 'whk_fails', 2, 2, '2026-03-01Z', 5, 500, null, 'no'), (${environment}, 'whk_fails', 2, 3, '2026-03-02Z', 5, null, 'timeout', null)`;
  const outcome = { at: "2026-03-02T00:00:00.000Z", statusCode: null, error: "timeout" };
  const counts = { delivered: 1, retrying: 1, failed: 0, lastFailure: { id: "emi_0000000000000002", ...outcome } };
  const failing = { webhookId: "whk_fails", url: "https://a.example/…", failingSince: null, ...counts };
  const message = "1 webhook does not accept deliveries. Figures are those of the latest hundred of each.";
  const found = { severity: "problem", count: 1, details: { webhooks: [failing] }, message };
  expect(await find("WEBHOOKS_FAILING")).toMatchObject(found);
  const fix = async () => (await find("WEBHOOKS_FAILING"))!.fix;
  expect(await fix()).toMatch(/^See what it answers/);
  await sql()`update svc.delivery_attempts set error = 'the stored webhook secret cannot be decrypted; SVC_SECRET must be …'`;
  expect(await fix()).toMatch(/^The service runs with another SVC_SECRET/);
  const why = { disabledAt: "2026-03-01T00:00:00.000Z", reason: "The endpoint answered 410 Gone." };
  const disabled = { webhookId: "whk_gone", url: "https://c.example/…", ...why };
  const gone = { severity: "warning", count: 1, details: { webhooks: [disabled] } };
  expect(await find("WEBHOOKS_DISABLED")).toMatchObject(gone);
  await sql()`update svc.webhooks set deleted_at = now()`;
  expect(await find("WEBHOOKS_FAILING")).toBeUndefined();
  expect(await find("WEBHOOKS_DISABLED")).toBeUndefined();
  await sql()`delete from svc.webhooks`;
  // A webhook whose every attempt fails, even if its latest deliveries are still untried.
  await sql()`
    insert into svc.webhooks (environment_id, webhook_id, url, event_types, sealed_secret, failing_since)
    values (${environment}, 'whk_fails', 'https://a.example', '{*}', '', '2026-03-01Z')`;
  await sql()`insert into svc.deliveries (environment_id, webhook_id, emission_seq) values (${environment}, 'whk_fails', 9)`;
  const untried = { failingSince: "2026-03-01T00:00:00.000Z", delivered: 0, retrying: 0, lastFailure: null };
  expect(await find("WEBHOOKS_FAILING")).toMatchObject({ details: { webhooks: [untried] } });
  await sql()`delete from svc.webhooks`;
});

it("reports recomputes that were given up, until a later one covered their customers", async () => {
  const job = async (id: string, status: string, customer: string | null, kind = "recompute", failures = 10) => {
    await sql()`
      insert into svc.recomputes (
        environment_id, recompute_id, kind, customer_id, pinned_at, status, error, customers_total, customers_done, failures,
        requested_by, finished_at, snapshot, hash
      )
      values (
        ${environment}, ${id}, ${kind}, ${customer}, now(), ${status}, 'No memory.', 3, 2, ${failures},
        'a@b', '2026-03-01Z',
        ${kind === "preview" ? "{}" : null}, ${kind === "preview" ? "hash" : null}
      )`;
  };
  const givenUp = async () => {
    const finding = await find("RECOMPUTES_GIVEN_UP");
    return (finding?.details["recomputes"] as { recomputeId: string }[] | undefined)?.map((row) => row.recomputeId);
  };
  await job("rec_dry", "dead_letter", null, "dry_run");
  await job("prv_dead", "dead_letter", null, "preview");
  await job("rec_cancelled", "dead_letter", null, "recompute", 0);
  expect(await givenUp()).toBeUndefined();

  await job("rec_all", "dead_letter", null);
  const done = { finishedAt: "2026-03-01T00:00:00.000Z", customersDone: 2, customersTotal: 3 };
  const recompute = { recomputeId: "rec_all", error: "No memory.", ...done };
  const message = expect.stringMatching(/^1 recompute was given up/) as string;
  const found = { severity: "problem", count: 1, details: { recomputes: [recompute] }, message };
  expect(await find("RECOMPUTES_GIVEN_UP")).toMatchObject(found);
  await job("rec_ann", "dead_letter", "ann");
  await job("rec_bob", "dead_letter", "bob");
  expect(await givenUp()).toEqual(["rec_bob", "rec_ann", "rec_all"]);
  await job("rec_ann_done", "completed", "ann");
  await job("rec_dry_done", "completed", null, "dry_run");
  expect(await givenUp()).toEqual(["rec_bob", "rec_all"]);
  await job("rec_all_done", "completed", null);
  expect(await givenUp()).toBeUndefined();
  await sql()`delete from svc.recomputes`;
});

it("reports rules that end in error, with the last error of each", async () => {
  await sql()`
    insert into svc.rule_executions (
      environment_id, customer_id, rule_id, result, triggered_by, conditions, action, error, executed_at, cause_type, config_version,
      generation
    )
    values
      (${environment}, 'ann', 'welcome', 'error', 'traits', '{}', '{}', 'the first', now() - interval '2 days', 'timer', 1, 0),
      (${environment}, 'bob', 'welcome', 'error', 'traits', '{}', '{}', 'superseded', now() - interval '1 hour', 'timer', 1, 0),
      (${environment}, 'bob', 'welcome', 'error', 'traits', '{}', '{}', 'the last', now() - interval '1 day', 'timer', 2, 1),
      (${environment}, 'bob', 'welcome', 'pass', 'traits', '{}', '{}', null, now(), 'timer', 2, 1),
      (${environment}, 'ann', 'old', 'error', 'traits', '{}', '{}', 'long ago', now() - interval '8 days', 'timer', 1, 0)`;
  await setCustomers("generation = 1", "bob");
  const last = { lastError: "the last", lastExecutedAt: INSTANT, configVersion: "v2" };
  const rules = [{ ruleId: "welcome", errors: 2, ...last }];
  const message = "2 rule executions ended in error in the last seven days.";
  expect(await find("RULES_FAILING")).toMatchObject({ severity: "problem", count: 2, details: { rules }, message });
  // Recomputed under a model without rules.
  await setCustomers("generation = 2");
  expect(await find("RULES_FAILING")).toBeUndefined();
  await setCustomers("generation = 0");
  await sql()`delete from svc.rule_executions`;
});

it("reports keys that were never used", async () => {
  await sql()`
    insert into svc.api_keys (key_hash, api_key_id, environment_id, name, hint, created_by, revoked_at)
    values
      ('\\x01', 'key_1', ${environment}, 'spare', 'svc_test_ab', 'a@b', null),
      ('\\x02', 'key_2', ${environment}, 'revoked', 'svc_test_cd', 'a@b', now() - interval '1 second')`;
  const keys = [{ id: "key_1", name: "spare", hint: "svc_test_ab", createdAt: INSTANT }];
  const message = "1 API key of this environment was never used.";
  const finding = { severity: "info", count: 1, details: { keys }, message };
  expect(await find("KEYS_NEVER_USED")).toMatchObject(finding);
  // Events came in with a key that has been revoked since.
  const [used] = await sql()`
    update svc.api_keys set revoked_at = now() where environment_id = ${environment} and name = 'default' returning key_hash`;
  expect(await find("KEYS_NEVER_USED")).toMatchObject(finding);
  await sql()`update svc.api_keys set revoked_at = null where key_hash = ${used!.key_hash as Buffer}`;
});

it("never scans a growing table", async () => {
  const { token, organizationId } = fixture.owner;
  // A new session, as an earlier transaction can still be in the statistics.
  const session = connect(fixture.service.db.url, { max: 1, applicationName: "svc test plans" });
  const read = await session.begin(async (tx) => {
    await tx`select svc_api.get_diagnostics(${hashCredential(token)}, ${organizationId}, 'app', 'test')`;
    return tx<{ name: string }[]>`
      select relname as name from pg_stat_xact_user_tables where schemaname = 'svc' and seq_scan > 0 order by 1`;
  });
  await session.end();
  const small = ["api_keys", "config_versions", "environments", "key_usage", "projects", "webhooks", "workers"];
  expect(read.map(({ name }) => name).filter((name) => !small.includes(name))).toEqual([]);
});

it("reports conditions that look back further than the plan keeps events", async () => {
  const login = { event: "login" };
  const count = { kind: "count", of: login, operator: "gte", value: 1 } as const;
  const conditions = [count, { ...count, within: "5w" }];
  const trend = { kind: "ratio", of: { kind: "count", of: login, within: "18d" }, operator: "gte", value: 1 } as const;
  const before = { kind: "count", of: login, within: "18d", previous: true } as const;
  const journey = { start: { ...count, within: "1d" }, steps: [{ id: "one", when: count }] };
  await fixture.deploy(
    snapshot({
      segments: [
        { id: "within", when: { ...count, within: "30d" } },
        { id: "before", when: { ...trend, per: before } },
        { id: "beyond", when: { kind: "not", condition: { kind: "any", conditions } } },
      ],
      journeys: [
        { ...journey, id: "brief", expiresAfter: "30d" },
        { ...journey, id: "long", expiresAfter: "721h" },
      ],
    }),
  );
  expect(await find("RETENTION_TOO_SHORT")).toBeUndefined();
  await sql()`update iam.plans set retention_days = 30`;
  const finding = await find("RETENTION_TOO_SHORT");
  const found = finding!.details["conditions"] as { part: string }[];
  const fix = expect.stringContaining("Use windows of at most 30d, or ask the operator") as string;
  expect(finding).toMatchObject({ severity: "warning", fix, details: { retentionDays: 30 }, count: found.length });
  expect(found.filter(({ part }) => !part.startsWith("lifecycle"))).toEqual([
    { part: "journey long, step one", kind: "count", event: "login", window: "721h" },
    { part: "segment before", kind: "count", event: "login", window: "18d" },
    { part: "segment beyond", kind: "count", event: "login", window: "5w" },
    { part: "segment beyond", kind: "count", event: "login", window: null },
  ]);
  await sql()`update iam.plans set retention_days = 36`;
  expect(await find("RETENTION_TOO_SHORT")).toMatchObject({ severity: "info" });
  await sql()`update iam.plans set retention_days = null`;
});

it("reports parts that customers are in although the active version no longer has them", async () => {
  await setCustomers("lifecycle = null");
  const lifecycle = { initial: "new", states: [{ name: "new", transitions: [] }] };
  await fixture.deploy(snapshot({ lifecycle }));
  await fixture.deploy(snapshot({ lifecycle: null }));
  expect(await find("REMOVED_PARTS_IN_USE")).toBeUndefined();
  await setCustomers("lifecycle = 'new'", "ann");
  const part = { code: "STATE_REMOVED", message: 'The lifecycle state "new" is removed, and 1 customer is in it.' };
  const message = expect.stringMatching(/^Customers are in 1 part that the active v\d+ no longer has: /) as string;
  const found = { severity: "warning", count: 1, message, details: { parts: [part] } };
  expect(await find("REMOVED_PARTS_IN_USE")).toMatchObject(found);
});
