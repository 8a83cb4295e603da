import { beforeAll, describe, expect, it } from "vitest";
import type { Snapshot } from "../../../src/model/snapshot/types.js";
import { snapshot } from "../../support/service.js";
import { INSTANT, invalid, refused, TEXT, useApi, type Page } from "./support/api.js";

const api = useApi();
const { get, read, readAll, text } = api;
let environment: number;

beforeAll(async () => {
  const when = { kind: "trait", trait: "plan", operator: "eq", value: "pro" } as const;
  const usage = { id: "usage", weight: 1, score: { kind: "map", trait: "plan", values: { pro: 100 } } } as const;
  const traits: Snapshot["traits"] = { plan: { type: "string", enum: ["free", "pro"], optional: true } };
  const health = { components: [usage], bands: [{ id: "healthy", from: 0 }] };
  const signals = [{ id: "quiet", severity: "info", when }] as const;
  await api.post("/config-versions", { snapshot: snapshot({ traits, health, signals: [...signals] }) });
  const { sql } = api;
  const id = (environment = await api.environmentId());
  await sql`
    insert into svc.customers (
      environment_id, customer_id, created_at, traits, lifecycle, lifecycle_entered_at, last_event_at, evaluated_through,
      next_due_at, config_version
    )
    values
      (${id}, 'b', '2026-01-01Z', '{"z": 12345678901234567890, "plan": "pro", "a": [1]}', 'active', '2026-01-02 03:04:05.678Z',
        '2026-01-03Z', '2026-01-04Z', '2026-02-01Z', 1),
      (${id}, 'B/ä?', '2026-01-01Z', '{}', 'new', '2026-01-01Z', now(), now(), null, 1),
      (${id}, 'c', now(), '{}', null, null, null, null, null, null)`;
  await sql`
    insert into svc.segment_memberships (environment_id, segment_id, customer_id, entered_at, exited_at)
    values
      (${id}, 'paying', 'b', '2026-01-02Z', null), (${id}, 'chosen', 'b', '2026-01-03Z', null),
      (${id}, 'gone', 'b', '2026-01-01Z', '2026-01-02Z'), (${id}, 'paying', 'B/ä?', '2026-01-01Z', null)`;
  await sql`
    update svc.customers set health = '{"overall":66.5,"components":{"z":100,"a":33.33},"band":"at_risk"}'
    where environment_id = ${id} and customer_id = 'b'`;
  await sql`
    insert into svc.journey_runs (
      environment_id, customer_id, journey_id, run, status, current_step, steps, started_at, completed_at, expired_at
    )
    values
      (${id}, 'b', 'trial', 1, 'expired', 'buy', '{}', '2026-01-01Z', null, '2026-01-02Z'),
      (${id}, 'b', 'trial', 2, 'complete', 'buy',
        '{"look":{"completedAt":"2026-01-03T00:00:00.000Z","triggeredBy":"timer"},"buy":{"completedAt":"2026-01-03T00:00:00.000Z","triggeredBy":"evt_1"}}',
        '2026-01-02Z', '2026-01-03Z', null),
      (${id}, 'b', 'onboarding', 1, 'active', 'invite', '{}', '2026-01-01Z', null, null)`;
  await sql`
    insert into svc.signals (environment_id, customer_id, signal_id, severity, message, raised_at, cleared_at)
    values
      (${id}, 'b', 'quiet', 'warning', 'Gone_quiet', '2026-01-03Z', null), (${id}, 'b', 'hot', 'info', null, '2026-01-04Z', null),
      (${id}, 'b', 'over', 'critical', null, '2026-01-01Z', '2026-01-02Z')`;
  await sql`
    insert into svc.emissions (
      environment_id, emission_seq, customer_id, event_type, source, metadata, emitted_at, cause_type, cause_id, config_version
    )
    values
      (${id}, 65536, 'b', 'customer.created', 'lifecycle', '{"new_lifecycle": "new"}', '2026-01-01Z', 'identify', null, null),
      (${id}, 131072, 'b', 'customer.active', 'lifecycle', '{}', '2026-01-02Z', 'event', 'evt_0000000000000400', 1),
      (${id}, 131073, 'b', 'segment.entered', 'segment', '{"segment": "paying"}', '2026-01-02Z', 'timer', null, 1)`;
});

describe("GET /projects/:project/customers/:customerId", () => {
  it("returns the state document, with its members in order and exact numbers", async () => {
    expect((await text("/customers/b?env=test")).replaceAll(/\s/g, "")).toBe(
      '{"customerId":"b","environment":"test","createdAt":"2026-01-01T00:00:00.000Z","lastEventAt":"2026-01-03T00:00:00.000Z",' +
        '"evaluatedThrough":"2026-01-04T00:00:00.000Z","configVersion":"v1",' +
        '"traits":{"a":[1],"plan":"pro","z":12345678901234567890},"lifecycle":"active",' +
        '"lifecycleEnteredAt":"2026-01-02T03:04:05.678Z","segments":["chosen","paying"],' +
        '"health":{"overall":66.5,"components":{"z":100,"a":33.33},"band":"at_risk"},"journeys":[' +
        '{"journeyId":"onboarding","status":"active","currentStep":"invite","stepsData":{},' +
        '"startedAt":"2026-01-01T00:00:00.000Z","completedAt":null,"expiredAt":null},' +
        '{"journeyId":"trial","status":"complete","currentStep":"buy","stepsData":{' +
        '"look":{"completedAt":"2026-01-03T00:00:00.000Z","triggeredBy":"timer"},' +
        '"buy":{"completedAt":"2026-01-03T00:00:00.000Z","triggeredBy":"evt_1"}},' +
        '"startedAt":"2026-01-02T00:00:00.000Z","completedAt":"2026-01-03T00:00:00.000Z","expiredAt":null}],' +
        '"signals":[{"signalId":"hot","severity":"info","message":null,"raisedAt":"2026-01-04T00:00:00.000Z"},' +
        '{"signalId":"quiet","severity":"warning","message":"Gone_quiet","raisedAt":"2026-01-03T00:00:00.000Z"}],' +
        '"nextDueAt":"2026-02-01T00:00:00.000Z"}',
    );
  });

  it("answers for a customer that was never evaluated, and for an id of any characters", async () => {
    const state = { customerId: "c", configVersion: null, lifecycle: null, lastEventAt: null, segments: [] };
    expect(await read("/customers/c")).toMatchObject(state);
    expect(await read(`/customers/${encodeURIComponent("B/ä?")}`)).toMatchObject({ customerId: "B/ä?" });
  });

  it("answers CUSTOMER_NOT_FOUND for an unknown customer, and gives the reason for an impossible id", async () => {
    for (const path of ["x", "b?env=live", "x/timeline", "b/timeline?env=live"])
      expect(await get(`/customers/${path}`)).toMatchObject(refused(404, "CUSTOMER_NOT_FOUND"));
    const reason = "The character U+0000 cannot be stored in text.";
    expect(await get("/customers/%00")).toMatchObject(refused(400, "VALIDATION_ERROR", { reason }));
  });
});

it("GET /projects/:project/customers/:customerId/timeline lists emissions oldest first, or reversed, in pages", async () => {
  const { items, sizes } = await readAll("/customers/b/timeline", 2);
  expect(sizes).toEqual([2, 1]);
  expect((await readAll("/customers/b/timeline?reverse=true", 2)).items).toEqual(items.toReversed());
  const named = (eventType: string, timestamp: string) => ({ eventType, timestamp, type: eventType, at: timestamp });
  const created = { id: "emi_0000000000010000", ...named("customer.created", "2026-01-01T00:00:00.000Z") };
  const active = { id: "emi_0000000000020000", ...named("customer.active", "2026-01-02T00:00:00.000Z") };
  const source = "lifecycle";
  const [identify, event] = [
    { type: "identify", id: null },
    { type: "event", id: "evt_0000000000000400" },
  ];
  expect(items).toEqual([
    { ...created, source, metadata: { new_lifecycle: "new" }, cause: identify, configVersion: null },
    { ...active, source, metadata: {}, cause: event, configVersion: "v1" },
    expect.objectContaining({ type: "segment.entered", cause: { type: "timer", id: null } }),
  ]);
});

describe("GET /projects/:project/customers", () => {
  type Customer = { customerId: string };
  const named = (found: Customer[]) => found.map(({ customerId }) => customerId);
  const ids = async (query: string) => named((await read<Page<Customer>>(`/customers?${query}`)).data);
  /** The customers of all pages, by default of one customer each. */
  const pages = async (query: string, limit = 1) =>
    named((await readAll<Customer>(`/customers?${query}`, limit)).items);

  it("lists customers by id with their state", async () => {
    const at = "2026-01-01T00:00:00.000Z";
    const times = { lifecycleEnteredAt: at, lastEventAt: INSTANT, createdAt: at };
    const state = { lifecycle: "new", segments: ["paying"], health: null, journeys: [], setAside: null };
    const seen = { signals: [], healthWeekAgo: null };
    const data = [{ customerId: "B/ä?", ...state, ...seen, ...times }];
    expect(await read("/customers?limit=1")).toEqual({ data, nextCursor: TEXT });
  });

  it("filters by lifecycle, segment and inactivity, alone and together", async () => {
    expect(await ids("")).toEqual(["B/ä?", "b", "c"]);
    expect(await ids("lifecycle=active")).toEqual(["b"]);
    expect(await ids("segment=paying")).toEqual(["B/ä?", "b"]);
    expect(await ids("lifecycle=new&segment=paying&inactive=1d")).toEqual([]);
    expect(await ids("lifecycle=active&segment=paying&inactive=1d")).toEqual(["b"]);
    expect(await ids("env=live")).toEqual([]);
  });

  it("lists inactive customers with the longest inactive first, in pages", async () => {
    const { sql } = api;
    const id = await api.environmentId("live");
    // d never had an event; a and c were last seen at the same instant.
    await sql`
      insert into svc.customers (environment_id, customer_id, created_at, lifecycle, last_event_at, set_aside_at)
      values
        (${id}, 'a', '2026-01-01Z', 'new', '2026-02-03 00:00:00.000001Z', null),
        (${id}, 'b', '2026-01-01Z', 'new', '2026-02-01Z', now()),
        (${id}, 'c', '2026-01-01Z', 'active', '2026-02-03 00:00:00.000001Z', now()),
        (${id}, 'd', '2026-02-02Z', 'new', null, null),
        (${id}, 'e', '2026-01-01Z', 'new', now(), null)`;
    await sql`
      insert into svc.segment_memberships (environment_id, segment_id, customer_id, entered_at)
      select ${id}, 'payers', k, now() from unnest('{a,c,d}'::text[]) as k`;
    expect(await ids("env=live&inactive=1d")).toEqual(["b", "d", "a", "c"]);
    expect(await ids("env=live&inactive=1d&lifecycle=new")).toEqual(["b", "d", "a"]);
    expect(await ids("env=live&inactive=1d&segment=payers")).toEqual(["d", "a", "c"]);
    expect(await ids("env=live&inactive=1d&segment=payers&lifecycle=new")).toEqual(["d", "a"]);
    expect(await ids("env=live&inactive=1d&setAside=true")).toEqual(["b", "c"]);
    expect(await pages("env=live&inactive=1d")).toEqual(["b", "d", "a", "c"]);
    expect(await pages("env=live&inactive=1d&segment=payers")).toEqual(["d", "a", "c"]);
  });

  it("filters by health, signal, traits and a text that the id or a trait contains", async () => {
    const both = ["B/ä?", "b"];
    for (const [name, value, expected] of [
      ["health", "at_risk", ["b"]],
      ["signal", "quiet", ["b"]],
      ["traits", '{"plan": "pro", "z": 12345678901234567890}', ["b"]],
      ["traits", '{"plan": "pro", "z": 12345678901234567891}', []],
      ["traits", '{"a": [1]}', ["b"]],
      ...[
        '{"a": 2}',
        '{"a": "1"}',
        '{"a": [[1]]}',
        '{"plan": ["pro"]}',
        '{"plan": ["free", 1]}',
        '{"plan": "free"}',
        '{"z": "pro"}',
      ].map((traits) => ["traits", traits, []] as const),
      ["search", "b", both],
      ["search", "Ä", ["B/ä?"]],
      ["search", "PR", ["b"]],
      ["search", "%", []],
      // The name of a trait is not searched.
      ["search", "plan", []],
    ] as const)
      expect(await ids(`${name}=${encodeURIComponent(value)}`), value).toEqual(expected);
    expect(await ids("signal=quiet&segment=chosen&lifecycle=active&health=at_risk")).toEqual(["b"]);
  });

  it("sorts by id, last event or health, each in pages, those without a score last", async () => {
    for (const [sort, sorted] of [
      ["customerId", ["B/ä?", "b", "c"]],
      ["customerId&reverse=true", ["c", "b", "B/ä?"]],
      ["lastEvent", ["b", "B/ä?", "c"]],
      ["lastEvent&reverse=true", ["c", "B/ä?", "b"]],
      ["health", ["b", "B/ä?", "c"]],
      ["health&reverse=true", ["b", "c", "B/ä?"]],
    ] as const) {
      expect(await pages(`sort=${sort}`), sort).toEqual(sorted);
      expect(await pages(`sort=${sort}&segment=paying`), sort).toEqual(sorted.filter((id) => id !== "c"));
    }
    expect(await pages("sort=customerId&inactive=1d")).toEqual(["b"]);
    const { nextCursor } = await read<Page<Customer>>("/customers?limit=1");
    expect(await get(`/customers?sort=health&cursor=${nextCursor}`)).toMatchObject(invalid("cursor"));
  });

  it("lists each customer once with any filter, and returns a cursor if the scan ended before a page was full", async () => {
    const { sql } = api;
    const id = await api.environmentId("live");
    // Large sets that hardly intersect: every filter matches more rows than a page scans.
    await sql`
      insert into svc.customers (environment_id, customer_id, created_at, lifecycle, last_event_at)
      select ${id}, 'many-' || lpad(n::text, 5, '0'), '2026-01-01Z', case when n % 2 = 0 then 'even' else 'odd' end, '2025-06-01Z'::timestamptz + n * interval '1 s'
      from generate_series(1, 4200) as n`;
    await sql`
      insert into svc.segment_memberships (environment_id, segment_id, customer_id, entered_at)
      select ${id}, 'odd_ones', 'many-' || lpad(n::text, 5, '0'), now() from generate_series(1, 4200) as n where n % 2 = 1 or n = 4100`;
    for (const order of ["", "&inactive=1d", "&sort=health", "&search=many"]) {
      const query = `lifecycle=even&segment=odd_ones${order}`;
      expect(await read(`/customers?env=live&${query}`), query).toEqual({ data: [], nextCursor: TEXT });
      expect(await pages(`env=live&${query}`)).toEqual(["many-04100"]);
    }
    expect(await pages("env=live&lifecycle=even", 200)).toHaveLength(2100);
    await sql`update svc.environments set active_version = 1 where environment_id = ${id}`;
    for (const [query, value] of [
      ['traits={"plan": "gold"}', "gold"],
      ['traits={"pln": 1}', "pln"],
      ["health=nope", "nope"],
    ] as const)
      expect(await get(`/customers?env=live&${query}`), query).toMatchObject(
        refused(400, "VALIDATION_ERROR", { value }),
      );
    expect(await read('/customers?env=live&traits={"plan": "pro"}')).toEqual({ data: [], nextCursor: TEXT });
    await sql`update svc.environments set active_version = null where environment_id = ${id}`;
    expect(await pages("env=live&segment=odd_ones&inactive=1d", 200)).toHaveLength(2101);
  });

  it("refuses an unknown state, segment or trait without customers, and suggests the nearest name", async () => {
    for (const [query, field, value, fix] of [
      ["segment=payin", "segment", "payin", 'Did you mean "paying"?'],
      ["segment=gone&lifecycle=activ", "lifecycle", "activ", 'Did you mean "active"?'],
      ["segment=gone", "segment", "gone", 'Use one of "paying", "chosen".'],
      ["health=heathy", "health", "heathy", 'Did you mean "healthy"?'],
      ["signal=quit", "signal", "quit", 'Did you mean "quiet"?'],
      ['traits={"pln": "pro"}', "traits", "pln", 'Did you mean "plan"?'],
      ['traits={"none": null}', "traits", "none", 'Use one of "plan".'],
      ['traits={"plan": "prp"}', "traits", "prp", 'Did you mean "pro"?'],
      ['traits={"plan": ["pro", "prp"]}', "traits", "prp", 'Did you mean "pro"?'],
      ['traits={"z": 1, "plan": "gold"}', "traits", "gold", 'Use one of "free", "pro".'],
    ] as const)
      expect(await get(`/customers?${query}`)).toMatchObject(refused(400, "VALIDATION_ERROR", { field, value, fix }));
    const nobody = { data: [], nextCursor: null };
    expect(await read("/customers?env=live&segment=gone"), "before the first version").toEqual(nobody);
  });

  it("finds a number or a boolean also as equal text, and in a list", async () => {
    const id = await api.environmentId("live");
    await api.sql`
      insert into svc.customers (environment_id, customer_id, created_at, traits)
      values
        (${id}, 'as text', now(), '{"company": "123", "is": "true", "of": ["crm", "7"]}'),
        (${id}, 'as value', now(), '{"company": 123, "is": true, "of": [7]}')`;
    for (const [traits, expected] of [
      ['{"company": 123}', ["as text", "as value"]],
      ['{"company": "123"}', ["as text"]],
      ['{"company": 123.0}', ["as value"]],
      ['{"is": true}', ["as text", "as value"]],
      ['{"of": 7}', ["as text", "as value"]],
      ['{"of": "crm"}', ["as text"]],
      ['{"of": "crm", "company": 123}', ["as text"]],
    ] as const)
      expect(await ids(`env=live&traits=${encodeURIComponent(traits)}`), traits).toEqual(expected);
    await api.sql`delete from svc.customers where environment_id = ${id} and customer_id in ('as text', 'as value')`;
  });

  it("compares a trait with bounds: numbers with numbers, and texts as far as the bound is long", async () => {
    const id = await api.environmentId("live");
    await api.sql`
      insert into svc.customers (environment_id, customer_id, created_at, traits)
      values
        (${id}, 'i', now(), '{"mrr": 999.99, "renewsOn": "2026-12-31"}'),
        (${id}, 'j', now(), '{"mrr": 1000, "renewsOn": "2026-12-31T18:00:00Z"}'),
        (${id}, 'k', now(), '{"mrr": "1000", "renewsOn": "2027-01-01"}'),
        (${id}, 'l', now(), '{}')`;
    for (const [traits, expected] of [
      ['{"mrr": {"atLeast": 1000}}', ["j"]],
      ['{"mrr": {"atMost": 1e3}}', ["i", "j"]],
      ['{"mrr": {"atLeast": 999.99, "atMost": 999.99}}', ["i"]],
      ['{"mrr": {"atLeast": "1"}}', ["k"]],
      ['{"renewsOn": {"atMost": "2026-12-31"}}', ["i", "j"]],
      ['{"renewsOn": {"atLeast": "2026-12-31T12"}}', ["j", "k"]],
      ['{"renewsOn": {"atLeast": "2027"}, "mrr": "1000"}', ["k"]],
      ['{"renewsOn": {"atMost": 2026}}', ["i", "j"]],
      ['{"renewsOn": {"atLeast": true}}', []],
      ['{"renewsOn": {"atLeast": "2026", "until": "2027"}}', []],
    ] as const)
      expect(await ids(`env=live&traits=${encodeURIComponent(traits)}`), traits).toEqual(expected);
    await api.sql`delete from svc.customers where environment_id = ${id} and customer_id in ('i', 'j', 'k', 'l')`;
  });

  it("refuses traits that are not a JSON object or cannot be stored, and an invalid duration", async () => {
    for (const traits of ["plan=pro", "[1]", "null", '{"a": "\\u0000"}', '{"a": "\\ud800"}', '{"a": 1e999999}'])
      expect(await get(`/customers?traits=${encodeURIComponent(traits)}`), traits).toMatchObject(invalid());
    const fix = "Write a whole number and a unit, for example 12h, 7d or 4w.";
    const error = { field: "inactive", message: "`inactive` is not a duration, or longer than 3650d.", value: "soon" };
    expect(await get("/customers?inactive=soon")).toMatchObject(refused(400, "VALIDATION_ERROR", { ...error, fix }));
  });
});

describe("GET /projects/:project/segments/:segment", () => {
  /** Runs the work while the members of the segment `chosen` are changed. */
  const meanwhile = async (columns: Record<string, unknown>, path: string) => {
    const change = (to: typeof columns) => api.sql`
      update svc.segment_memberships set ${api.sql(to as Record<string, string>)}
      where environment_id = ${environment} and customer_id = 'b' and entered_at = '2026-01-03Z'`;
    await change(columns);
    try {
      return await read(path);
    } finally {
      await change({ segment_id: "chosen", exited_at: null });
    }
  };

  it("returns size, definition, statistics and members, in pages", async () => {
    const first = await read<Page<object>>("/segments/paying?limit=1");
    expect(first).toEqual({
      segment: "paying",
      members: 2,
      definition: { id: "paying", when: { kind: "trait", trait: "plan", operator: "eq", value: "pro" } },
      statistics: {
        lifecycle: { active: 1, new: 1 },
        health: { scored: 1, average: 66.5, bands: { at_risk: 1 } },
        lastEvent: { within1d: 1, within7d: 1, within30d: 1, older: 1, never: 0 },
        enteredWithin7d: 0,
      },
      data: [{ customerId: "B/ä?", enteredAt: "2026-01-01T00:00:00.000Z" }],
      nextCursor: TEXT,
    });
    const data = [{ customerId: "b", enteredAt: "2026-01-02T00:00:00.000Z" }];
    const rest = { segment: "paying", members: 2, data, nextCursor: null };
    expect(await read(`/segments/paying?limit=1&cursor=${first.nextCursor}`)).toEqual(rest);
  });

  it("has empty statistics for a segment without members, and lists members of one that the active version does not define", async () => {
    const lastEvent = { within1d: 0, within7d: 0, within30d: 0, older: 0, never: 0 };
    const statistics = {
      lifecycle: {},
      health: { scored: 0, average: null, bands: {} },
      lastEvent,
      enteredWithin7d: 0,
    };
    expect(await meanwhile({ exited_at: new Date() }, "/segments/chosen")).toEqual({
      ...{ segment: "chosen", members: 0, definition: { id: "chosen" }, data: [], nextCursor: null, statistics },
    });
    const former = { segment: "former", definition: null, members: 1 };
    expect(await meanwhile({ segment_id: "former" }, "/segments/former")).toMatchObject(former);
  });

  it("answers SEGMENT_NOT_FOUND if neither the model nor a customer has it", async () => {
    for (const path of ["/segments/gone", "/segments/paying?env=live"])
      expect(await get(path)).toMatchObject(refused(404, "SEGMENT_NOT_FOUND"));
  });
});
