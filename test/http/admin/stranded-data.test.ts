import { beforeEach, describe, expect, it } from "vitest";
import { emissionTypes } from "../../../src/cli/commands/webhooks/emission-types.js";
import { EMPTY_SNAPSHOT, type Field, type Snapshot } from "../../../src/model/snapshot/types.js";
import { snapshot, type Reply } from "../../support/service.js";
import { refused } from "./support/api.js";
import { named, useConfig } from "./support/config.js";

const { api, deploy, promote, rollback, activated } = useConfig();
let environment: number;

const signup = { kind: "count", of: { event: "login" }, operator: "gte", value: 1 } as const;
const full = {
  events: { login: { properties: { seats: { type: "number" } } }, left: { properties: {} } },
  traits: {
    plan: { type: "string", enum: ["free", "pro"] },
    tier: { type: "string", enum: ["silver", "gold"] },
    renewsOn: { type: "date" },
    tags: { type: "array", items: { type: "string", enum: ["a", "b"] } },
  },
  segments: [{ id: "paying" }, { id: "chosen" }],
  journeys: [{ id: "onboarding", start: signup, steps: [{ id: "first", when: signup }] }],
  signals: [{ id: "quiet", severity: "info" }],
} satisfies Partial<Snapshot>;

beforeEach(async () => {
  environment = await api.environmentId();
  expect(await deploy(full)).toMatchObject({ status: 201, body: { warnings: [] } });
});

const customers = (...rows: { lifecycle?: string; traits?: object }[]) => api.sql`
  insert into svc.customers (environment_id, customer_id, created_at, lifecycle, traits)
  select ${environment}, 'c' || r.n, now(), r.item ->> 'lifecycle', coalesce(r.item -> 'traits', '{}')
  from jsonb_array_elements(${JSON.stringify(rows)}::text::jsonb) with ordinality as r (item, n)`;
const members = (segment: string, amount: number, exited = false, of = environment) => api.sql`
  insert into svc.segment_memberships (environment_id, segment_id, customer_id, entered_at, exited_at)
  select ${of}, ${segment}, 'c' || n, now(), case when ${exited} then now() end from generate_series(1, ${amount}) as n`;
const runs = (status: "active" | "complete", customer: string) => api.sql`
  insert into svc.journey_runs (environment_id, customer_id, journey_id, run, status, current_step, steps, started_at, completed_at)
  values (${environment}, ${customer}, 'onboarding', 1, ${status}, 'first', '{}', now(), ${status === "complete" ? new Date() : null})`;
const signals = (customer: string, cleared: boolean) => api.sql`
  insert into svc.signals (environment_id, customer_id, signal_id, severity, raised_at, cleared_at)
  values (${environment}, ${customer}, 'quiet', 'info', now(), ${cleared ? new Date() : null})`;
const events = (event: string, properties: object, amount = 1) => api.sql`
  insert into svc.events (environment_id, event_seq, customer_id, event, properties, occurred_at, accepted_at)
  select ${environment}, nextval(svc.batch_seq(${environment})) * 1024, 'c', ${event}, ${JSON.stringify(properties)}::text::jsonb, now(), now()
  from generate_series(1, ${amount})`;

/** What a deploy of the model with these changes would answer. */
const check = (changes: Partial<Snapshot>) => api.post("/config-checks?env=test", { snapshot: snapshot(changes) });

const ONE_SEGMENT = { ...full, segments: [{ id: "chosen" }] };
const NO_SEGMENT = { ...full, segments: [] };
const trait = (name: string, field: Field): Partial<Snapshot> => ({
  ...full,
  traits: { ...full.traits, [name]: field },
});
/** `login` with seats of another type. */
const retyped = { login: { properties: { seats: { type: "string" as const } } } };

type Warning = [code: string, path: string, message: string];
const warningsOf = (warnings: Warning[]) => warnings.map(([code, path, message]) => ({ code, path, message }));
const ofTrait = (code: string, name: string, message: string): Warning => [`TRAIT_${code}`, `traits.${name}`, message];
const LEFT: Warning = ["SEGMENT_REMOVED", "segments[0]", 'The segment "paying" is removed, and 1 customer is in it.'];

/** The answer to an activation with these warnings. */
const activatedWith = (...warnings: Warning[]) => ({
  status: expect.toBeOneOf([200, 201]) as number,
  body: { activated: true, warnings: warningsOf(warnings) },
});
/** Expects a refusal with these warnings. */
async function strands(request: Promise<Reply>, ...warnings: Warning[]): Promise<void> {
  expect(await request).toMatchObject(refused(409, "CONFIG_WARNINGS", { warnings: warningsOf(warnings) }));
}

describe("a deploy that would strand data", () => {
  it("is refused with a warning for each, and changes nothing", async () => {
    await customers({ lifecycle: "active" }, { lifecycle: "active" });
    await members("paying", 1);
    const lifecycle = { initial: "new", states: [{ name: "new", transitions: [] }] };
    const reply = await deploy({ ...ONE_SEGMENT, lifecycle });
    const state = 'The lifecycle state "active" is removed, and 2 customers are in it.';
    const message = "This version would strand data: 2 warnings.";
    const warnings = warningsOf([["STATE_REMOVED", "lifecycle.states[1]", state], LEFT]);
    expect(reply).toMatchObject(refused(409, "CONFIG_WARNINGS", { message, warnings }));
    expect(await activated()).toEqual(["v1"]);
    expect(await api.get("/config-versions/v2")).toMatchObject({ status: 404 });
  });

  it("succeeds with force: true, needed only for warnings, and lists what it strands, once", async () => {
    const forced = { force: true };
    expect(await deploy({ ...full, signals: [] }, "test", forced)).toMatchObject(activatedWith());
    await members("paying", 1);
    await strands(deploy(ONE_SEGMENT, "test", { force: false }), LEFT);
    expect(await deploy(ONE_SEGMENT, "test", forced)).toMatchObject(activatedWith(LEFT));
    expect(await deploy(NO_SEGMENT)).toMatchObject(activatedWith());
  });

  it("is predicted by a check, which changes nothing", async () => {
    await members("paying", 1);
    expect(await check(ONE_SEGMENT)).toMatchObject({ status: 200, body: { warnings: warningsOf([LEFT]) } });
    expect(await check(full)).toMatchObject({ status: 200, body: { warnings: [] } });
    expect(await check({ ...full, segments: [{ id: "Bad Name" }] })).toMatchObject(refused(422, "CONFIG_INVALID"));
    expect(await activated()).toEqual(["v1"]);
    await strands(deploy(ONE_SEGMENT), LEFT);
  });

  it("considers the data of its environment only, and is not refused if nothing was active before", async () => {
    await members("paying", 1);
    await members("chosen", 1, false, await api.environmentId("live"));
    expect(await deploy(named("a"), "live")).toMatchObject(activatedWith());
    await api.sql`truncate svc.segment_memberships`;
    await members("paying", 1);
    await promote("v1");
    expect(await deploy(NO_SEGMENT, "live")).toMatchObject(activatedWith());
  });
});

it("a version that differs in its display only strands nothing, and its diff has only the display", async () => {
  await members("paying", 1);
  await customers({ traits: { plan: "pro" } });
  expect(await deploy({ ...full, display: { name: "plan", show: ["tier"] } })).toMatchObject(activatedWith());
  expect(await api.get("/config-diff")).toMatchObject({
    body: {
      changes: [
        { subject: "setting", id: "display", path: "display.name", message: "name: none → plan" },
        { subject: "setting", id: "display", path: "display.show", message: "show: none → tier" },
      ],
    },
  });
  expect(await deploy({ ...full, display: { show: ["tier"] } })).toMatchObject(activatedWith());
  expect(await deploy(full)).toMatchObject(activatedWith());
});

describe("promote and rollback", () => {
  it("are refused alike, and succeed with force", async () => {
    await promote("v1");
    await deploy(NO_SEGMENT);
    await members("chosen", 1, false, await api.environmentId("live"));
    const warning: Warning = ["SEGMENT_REMOVED", "segments[1]", LEFT[2].replace("paying", "chosen")];
    await strands(promote("v2"), warning);
    expect(await activated("live")).toEqual(["v1"]);
    expect(await promote("v2", { force: true })).toMatchObject(activatedWith(warning));
    // The rollback strands nothing.
    expect(await rollback("v1", "live")).toMatchObject(activatedWith());
    await strands(rollback("v2", "live"), warning);
    expect(await rollback("v2", "live", { force: true })).toMatchObject(activatedWith(warning));
    // It is active already, so nothing more is stranded.
    expect(await rollback("v2", "live")).toMatchObject({ status: 200, body: { activated: false, warnings: [] } });
  });
});

it("each part that is removed or narrowed has a warning with the number of affected customers or events", async () => {
  await Promise.all([
    customers(
      { lifecycle: "new", traits: { plan: "pro", tier: "gold", tags: ["a", "b"] } },
      { traits: { plan: "free", tier: "silver", tags: ["a"] } },
      {},
    ),
    ...[runs("active", "c1"), runs("complete", "c2")],
    ...[signals("c1", false), signals("c2", false), signals("c3", true)],
    members("paying", 3),
    ...[events("login", { seats: 3 }, 2), events("login", {})],
  ]);
  const traits: Record<string, Field> = {
    ...full.traits,
    plan: { type: "number" },
    tier: { type: "string", enum: ["silver", "bronze"] },
    tags: { type: "array", items: { type: "string", enum: ["a"] } },
  };
  const changed = { ...ONE_SEGMENT, lifecycle: null, journeys: [], signals: [], traits };
  await strands(
    deploy({ ...changed, events: { ...full.events, ...retyped } }),
    ["STATE_REMOVED", "lifecycle.states[0]", 'The lifecycle state "new" is removed, and 1 customer is in it.'],
    ["SEGMENT_REMOVED", "segments[0]", 'The segment "paying" is removed, and 3 customers are in it.'],
    ["JOURNEY_REMOVED", "journeys[0]", 'The journey "onboarding" is removed, and 1 customer is on it.'],
    ["SIGNAL_REMOVED", "signals[0]", 'The signal "quiet" is removed, and it is raised: 2 customers are concerned.'],
    ofTrait("TYPE_CHANGED", "plan", 'The trait "plan" changes its type, and the value of 2 customers does not fit it.'),
    ofTrait("VALUES_REMOVED", "tags", expect.stringContaining("1 customer") as string),
    ofTrait(
      "VALUES_REMOVED",
      "tier",
      'The trait "tier" allows fewer values, and the value of 1 customer is none of them.',
    ),
    [
      "PROPERTY_TYPE_CHANGED",
      "events.login.properties.seats",
      expect.stringMatching(/^The property "seats" .* in 2 events/) as string,
    ],
  );
  expect(await activated()).toEqual(["v1"]);
});

it("gives no warning where no data is concerned", async () => {
  // A former member, a completed run and a cleared signal; nobody is in a state or has tags.
  await Promise.all([members("paying", 2, true), runs("complete", "c1"), signals("c1", true)]);
  await events("login", { seats: "3" });
  await customers({ traits: { plan: "pro", renewsOn: "2026-03-01" } }, { traits: { tier: "2028-02-29" } });
  for (const [what, changes] of [
    ["parts without data", { segments: [], journeys: [], signals: [], lifecycle: null }],
    ["a trait that is gone, if the schema is not strict: it is kept and not read", { strictSchema: false, traits: {} }],
    ["events whose values fit", { events: { ...full.events, ...retyped } }],
    ["events of which none is stored", { events: { login: full.events.login } }],
    ["more values", trait("plan", { type: "string", enum: ["free", "pro", "team"] })],
    ["any text instead of some", trait("plan", { type: "string" })],
    ["values in another order", trait("plan", { type: "string", enum: ["pro", "free"] })],
    ["a text that was a date", trait("renewsOn", { type: "string" })],
    ["a date where texts are dates, the 29th of February too", trait("tier", { type: "date" })],
    ["a type that nobody has a value of", trait("tags", { type: "number" })],
  ] satisfies [string, Partial<Snapshot>][])
    expect(await check({ ...full, ...changes }), what).toMatchObject({ status: 200, body: { warnings: [] } });
});

describe("what a strict schema will refuse although it was accepted", () => {
  const login = (properties: Record<string, Field>) => ({ events: { ...full.events, login: { properties } } });
  const refuses = "the strict schema refuses such events from now on.";

  it("has a warning for a property that becomes required or is removed, if recent events lack or have it", async () => {
    await Promise.all([events("login", { seats: 1 }, 2), events("login", { seats: 1, device: "phone" })]);
    const seats = { type: "number" } as const;
    const device = { type: "string" } as const;
    await strands(
      deploy({ ...full, ...login({ device }) }),
      [
        "PROPERTY_REMOVED",
        "events.login.properties.seats",
        `The property "seats" of "login" is removed, and 3 events of the last 30 days have it; ${refuses}`,
      ],
      [
        "PROPERTY_REQUIRED",
        "events.login.properties.device",
        `The property "device" of "login" becomes required, and 2 events of the last 30 days lack it; ${refuses}`,
      ],
    );
    expect(await check({ ...full, ...login({ seats, device: { ...device, optional: true } }) })).toMatchObject({
      body: { warnings: [] },
    });
    expect(await check({ ...full, strictSchema: false, ...login({ device }) })).toMatchObject({
      body: { warnings: [] },
    });
    await api.sql`update svc.events set occurred_at = now() - interval '31 days' where environment_id = ${environment}`;
    expect(await check({ ...full, ...login({ device }) })).toMatchObject({ body: { warnings: [] } });
  });

  it("has a warning for an optional property that becomes required, and none for one that was required before", async () => {
    await events("login", {});
    const optional = { type: "number", optional: true } as const;
    await deploy({ ...full, ...login({ seats: optional }) }, "test", { force: true });
    await strands(deploy(full), [
      "PROPERTY_REQUIRED",
      "events.login.properties.seats",
      expect.stringContaining(" 1 event ") as string,
    ]);
    expect(await deploy(full, "test", { force: true })).toMatchObject({ status: 201 });
    expect(await deploy({ ...full, segments: [] })).toMatchObject(activatedWith());
  });

  it("has a warning for fewer values of a property, if stored ones are none of them", async () => {
    const kind = (...values: string[]): Field => ({ type: "string", enum: values });
    const tags = (...values: string[]): Field => ({ type: "array", items: { type: "string", enum: values } });
    await deploy({ ...full, ...login({ kind: kind("x", "y"), tags: tags("a", "b") }) });
    await Promise.all([
      events("login", { kind: "x", tags: ["a"] }),
      events("login", { kind: "y", tags: ["a", "b"] }, 2),
    ]);
    const fewer = (name: string): Warning => [
      "PROPERTY_VALUES_REMOVED",
      `events.login.properties.${name}`,
      `The property "${name}" of "login" allows fewer values, and its value is none of them in 2 events of the newest 10,000.`,
    ];
    await strands(deploy({ ...full, ...login({ kind: kind("x"), tags: tags("a") }) }), fewer("kind"), fewer("tags"));
    const more = login({ kind: kind("x", "y", "z"), tags: { type: "array", items: { type: "string" } } });
    expect(await check({ ...full, ...more })).toMatchObject({ body: { warnings: [] } });
  });

  it("has a warning if the schema becomes strict, and operations violate what it declares as before", async () => {
    const lax = { ...full, strictSchema: false };
    expect(await deploy(lax)).toMatchObject({ status: 201 });
    const violate = (event: string, operations: number, version = 2) => api.sql`
      insert into svc.schema_violations (environment_id, version, event, code, path, operations, first_seen_at, last_seen_at)
      values (${environment}, ${version}, ${event}, 'UNKNOWN_EVENT', 'event', ${operations}, now(), now())`;
    // v1 declares the same.
    await Promise.all([violate("unknown", 2), violate("left", 3), violate("", 5), violate("gone", 7, 1)]);
    const warning = (amount: number): Warning => [
      "VIOLATIONS_COUNTED",
      "strictSchema",
      `The schema becomes strict, and ${amount} operations of the last 30 days violated it; the strict schema refuses such operations from now on.`,
    ];
    await strands(deploy(full), warning(17));
    const declared = { ...full.events, unknown: { properties: {} } };
    await strands(deploy({ ...full, events: declared, traits: {} }), warning(10));
    expect(await check(lax)).toMatchObject({ body: { warnings: [] } });
    await api.sql`update svc.schema_violations set last_seen_at = now() - interval '31 days' where environment_id = ${environment}`;
    expect(await check(full)).toMatchObject({ body: { warnings: [] } });
  });

  it("says that quarantine keeps it, if the model does", async () => {
    await events("left", {});
    const stored =
      'The event "left" is removed, and 1 such event is stored; the strict schema quarantines it from now on.';
    const reply = await check({ ...full, onViolation: "quarantine", events: { login: full.events.login } });
    expect(reply).toMatchObject({ body: { warnings: [{ code: "EVENT_REMOVED", message: stored }] } });
  });

  it("has a warning for a trait that is removed, if customers have it", async () => {
    await customers({ traits: { plan: "pro" } }, { traits: { tier: "gold" } });
    const { plan: _, ...traits } = full.traits;
    const message = 'The trait "plan" is removed, and 1 customer has it; the strict schema refuses it from now on.';
    await strands(deploy({ ...full, traits }), ofTrait("REMOVED", "plan", message));
  });
});

describe("an event that is removed", () => {
  it("has a warning under a strict schema if some are stored", async () => {
    await events("left", {}, 2);
    const stored = "2 such events are stored; the strict schema refuses it from now on.";
    const warning: Warning = ["EVENT_REMOVED", "events.left", `The event "left" is removed, and ${stored}`];
    const without = { login: full.events.login };
    await strands(deploy({ ...full, events: without }), warning);
    expect(await deploy({ ...full, strictSchema: false, events: without })).toMatchObject(activatedWith());
  });

  it("has a warning under any schema if the active version derives something from it", async () => {
    const events = { signed_up: { properties: {} } };
    await api.sql`
      insert into svc.events (environment_id, event_seq, customer_id, event, properties, occurred_at, accepted_at)
      values (${environment}, 1024, 'c', 'login', '{}', now(), now())`;
    const start = { ...signup, of: { event: "signed_up" } };
    const lifecycle = { initial: "new", states: [{ name: "new", transitions: [] }] };
    const renamed = {
      ...full,
      lifecycle,
      strictSchema: false,
      events,
      journeys: [{ id: "onboarding", start, steps: [{ id: "first", when: start }] }],
    };
    const message =
      'The event "login", which the active version reads, is removed, and 1 such event is stored; nothing is derived from them any more.';
    await strands(deploy(renamed), ["EVENT_REMOVED", "events.login", message]);
  });

  it("is named by its path if its name is not an identifier", async () => {
    const odd = 'seat "added"';
    await deploy({ ...full, events: { ...full.events, [odd]: { properties: {} } } });
    await events(odd, {});
    await strands(deploy(full), ["EVENT_REMOVED", 'events["seat \\"added\\""]', expect.any(String) as string]);
  });
});

it("health bands and steps that are removed have a warning if customers are in them", async () => {
  const health = (band: string) =>
    ({
      components: [
        {
          id: "use",
          weight: 1,
          score: { kind: "scale", of: { kind: "count", of: { event: "login" } }, from: 0, to: 9 },
        },
      ],
      bands: [
        { id: band, from: 50 },
        { id: "low", from: 0 },
      ],
    }) satisfies Snapshot["health"];
  const journeys = (step: string) => [
    {
      id: "onboarding",
      start: signup,
      steps: [
        { id: "zeroth", when: signup },
        { id: step, when: signup },
      ],
    },
  ];
  await deploy({ ...full, health: health("high"), journeys: journeys("first") });
  await customers({}, {});
  await api.sql`update svc.customers set health = '{"overall": 60, "band": "high"}' where customer_id = 'c1'`;
  await runs("active", "c1");
  await runs("complete", "c2");
  await strands(
    deploy({ ...full, health: health("top"), journeys: journeys("start") }),
    ["BAND_REMOVED", "health.bands[0]", 'The health band "high" is removed, and 1 customer is in it.'],
    [
      "STEP_REMOVED",
      "journeys[0].steps[1]",
      'The step "first" of the journey "onboarding" is removed, and 1 customer is at it.',
    ],
  );
});

it("a segment or signal that loses its condition has a warning if customers have it, unless it ends by itself", async () => {
  const segments = [{ id: "paying" }, { id: "chosen", when: signup }];
  const quiet = { id: "quiet", severity: "info" } as const;
  await deploy({ ...full, segments, signals: [{ ...quiet, when: signup }] });
  await members("chosen", 2);
  await signals("c1", false);
  const segment =
    'The segment "chosen" loses its condition, and 2 customers are in it; only rules can remove them from now on.';
  const signal =
    'The signal "quiet" loses its condition, and it is raised: 1 customer is concerned; only rules can clear it from now on.';
  await strands(
    deploy(full),
    ["SEGMENT_CONDITION_REMOVED", "segments[1]", segment],
    ["SIGNAL_CONDITION_REMOVED", "signals[0]", signal],
  );
  expect(await deploy({ ...full, segments, signals: [{ ...quiet, for: "1d" }] })).toMatchObject(activatedWith());
});

describe("types that are no longer emitted", () => {
  const subscribed = (id: string, ...types: string[]) => api.sql`
    insert into svc.webhooks (environment_id, webhook_id, url, event_types, sealed_secret)
    values (${environment}, ${id}, 'https://example.com/', ${types}, '\\x00')`;
  const removed = (id: string, type: string): Warning => [
    ...(["WEBHOOK_TYPE_REMOVED", ""] as const),
    `The webhook ${id} is subscribed to "${type}", and nothing of this type is emitted any more.`,
  ];
  const lifecycle = { initial: "new", states: [{ name: "new", transitions: [] }] };

  it("have a warning for each webhook that is subscribed to them, and for patterns that match nothing else", async () => {
    await subscribed("whk_a", "customer.active", "customer.new", "journey.*", "misspelt.type");
    await subscribed("whk_b", "*", "customer.*");
    await subscribed("whk_disabled", "customer.active");
    await api.sql`update svc.webhooks set disabled_at = now(), disabled_reason = 'x' where webhook_id = 'whk_disabled'`;
    const without = { ...full, lifecycle, journeys: [] };
    await strands(deploy(without), removed("whk_a", "customer.active"), removed("whk_a", "journey.*"));
  });

  it("are those that the command line knows", async () => {
    const then = { kind: "emit", type: "own.type" } as const;
    const rules = [{ id: "one", on: { kind: "event", of: { event: "login" } }, then }] satisfies Snapshot["rules"];
    for (const one of [snapshot({ ...full, lifecycle, rules }), snapshot({}), EMPTY_SNAPSHOT]) {
      const [{ types }] = await api.sql<[{ types: string[] }]>`
        select svc.emission_types(${JSON.stringify(one)}::text::json) as types`;
      expect(new Set([...types, "webhook.test"])).toEqual(emissionTypes(one));
    }
  });
});
