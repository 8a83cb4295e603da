import { beforeAll, describe, expect, it } from "vitest";
import { emit, happened, raise, rule, snapshotOf, type StepParts } from "../../engine/support/builders.js";
import { useSpec } from "../../spec/support/fixture.js";
import { invalid, pages, refused, TEXT, type Page } from "./support/api.js";

// Results of evaluation across customers: emissions, transitions, raised signals and journeys.

const fixture = useSpec();
const list = async <T>(path: string, query = "", limit = 2): Promise<T[]> =>
  (await pages((more) => fixture.read<Page<T>>(`${path}?${more}`), query, limit)).items;

const RUNS = "journeys/onboarding/runs";
type Item = Record<string, string | null>;
/** The members by which the items of a list are told apart here. */
const MEMBERS = {
  emissions: ["customerId", "eventType"],
  transitions: ["customerId", "from", "to"],
  signals: ["customerId", "signalId"],
  [RUNS]: ["customerId", "status", "currentStep"],
} as const;
/** Those members of a list's items, of all its pages. */
const shown = async (path: keyof typeof MEMBERS, query = "", limit?: number): Promise<string[]> =>
  (await list<Item>(path, query, limit)).map((item) => MEMBERS[path].map((member) => item[member]).join(" "));

const names = ["signed_up", "invited", "paid", "stuck"];
const step = (id: string, event: string): StepParts => [id, happened(event)];
const MODEL = snapshotOf({
  events: Object.fromEntries(names.map((name) => [name, { properties: {} }])),
  states: { new: [["customer", happened("paid")]], customer: [] },
  journeys: {
    onboarding: {
      start: happened("signed_up"),
      steps: [step("invite", "invited"), step("pay", "paid")],
      expiresAfter: "10d",
    },
  },
  signals: { blocked: { severity: "critical", message: "Call them" }, cheered: { severity: "info" } },
  rules: {
    call: rule("stuck", emit("success.call")),
    block: rule("stuck", raise("blocked")),
    cheer: rule("paid", raise("cheered")),
  },
});
const HOUR = 3_600_000;
const START = Date.now() - 48 * HOUR;
const at = (hours: number) => new Date(START + hours * HOUR).toISOString();
const event = (customerId: string, event: string, hours: number) => ({ customerId, event, timestamp: at(hours) });

beforeAll(async () => {
  await fixture.deploy(MODEL);
  await fixture.batch([
    ...[0, 1, 2, 3].map((n) => event(`c${n}`, "signed_up", n)),
    ...[0, 1, 2].map((n) => event(`c${n}`, "invited", n + [1, 2, 6][n]!)),
    event("c0", "paid", 5),
    event("c1", "stuck", 30),
    event("c 2 ", "stuck", 31),
    event("c2", "stuck", 32),
    // It expired long before.
    event("old", "signed_up", -24 * 20),
    event("old", "stuck", 33),
  ]);
  await fixture.evaluate();
});

const day = (hours: number) => at(hours).slice(0, 10);
const FIRST = "c0 new customer";

it.each<[path: keyof typeof MEMBERS, query: string, ...expected: string[]]>([
  [
    "emissions",
    "eventType=success.call",
    "c 2  success.call",
    "c1 success.call",
    "c2 success.call",
    "old success.call",
  ],
  ["emissions", "eventType=success.call&customer=c1", "c1 success.call"],
  ["emissions", "source=signal&customer=c%202%20", "c 2  signal.raised"],
  ["emissions", "customer=c0&source=lifecycle", "c0 customer.created", "c0 customer.customer"],
  ["emissions", "customer=nobody"],
  ["transitions", "left=new", FIRST],
  ["transitions", "entered=customer&left="],
  ["transitions", "entered=new&left=", ...["c 2 ", "c0", "c1", "c2", "c3", "old"].map((id) => `${id}  new`)],
  ["transitions", `entered=customer&from=${day(5)}&to=${day(5)}`, FIRST],
  ["transitions", `entered=customer&to=${day(5 - 24)}`],
  ["transitions", `entered=customer&from=${day(5 + 24)}`],
  ["signals", "signal=cheered", "c0 cheered"],
  ["signals", "severity=info", "c0 cheered"],
  ["signals", `since=${at(32)}`, "c2 blocked", "old blocked"],
  ["signals", "signal=blocked&severity=info"],
  [RUNS, "status=active&step=pay", "c1 active pay", "c2 active pay"],
  [RUNS, "step=invite", "c3 active invite", "old expired invite"],
  [RUNS, "step=pay&status=complete"],
  [RUNS, "completed=invite", "c0 complete pay", "c1 active pay", "c2 active pay"],
  [RUNS, `since=${at(2)}`, "c2 active pay", "c3 active invite"],
])("%s are filtered by %s", async (path, query, ...expected) => {
  expect((await shown(path, query, 1)).toSorted()).toEqual(expected);
});

it.each<{ path: keyof typeof MEMBERS; query: string; added: string; insert: string }>([
  {
    ...({ path: "emissions", query: "eventType=success.call" } as const),
    added: "svc.emissions where customer_id = 'many'",
    insert: `svc.emissions (environment_id, emission_seq, customer_id, event_type, source, metadata, emitted_at, cause_type)
      select environment_id, max(emission_seq) + n, 'many', 'segment.entered', 'segment', '{}', now(), 'timer'
      from svc.emissions, generate_series(1, 2100) as n group by environment_id, n`,
  },
  {
    // A recompute replaced those that are added.
    ...({ path: "transitions", query: "entered=customer" } as const),
    added: "svc.lifecycle_transitions where generation = 7",
    insert: `svc.lifecycle_transitions (environment_id, customer_id, to_state, transitioned_at, cause_type, generation)
      select environment_id, customer_id, 'customer', now(), 'job', 7 from svc.customers, generate_series(1, 2100) where customer_id = 'c1'`,
  },
  {
    ...({ path: RUNS, query: "status=active&step=invite" } as const),
    added: "svc.journey_runs where customer_id like 'b %'",
    insert: `svc.journey_runs (environment_id, customer_id, journey_id, run, status, current_step, steps, started_at)
      select environment_id, 'b ' || n / 3, journey_id, n, 'active', 'pay', '{}', started_at
      from svc.journey_runs, generate_series(1, 2100) as n where customer_id = 'c3'`,
  },
])("$path by $query continue past a page without a match", async ({ path, query, added, insert }) => {
  const { sql } = fixture.service.db;
  const before = await shown(path, query);
  expect(before).not.toEqual([]);
  await sql.unsafe(`insert into ${insert}`);
  expect(await fixture.read(`${path}?${query}`)).toEqual({ data: [], nextCursor: TEXT });
  expect(await shown(path, query)).toEqual(before);
  if (path === RUNS) expect(await list(path, "", 200)).toHaveLength(5 + 2100);
  await sql.unsafe(`delete from ${added}`);
});

it.each([
  ...[
    "entered=custmer",
    "left=custmer",
    "from=yesterday",
    "to=2026-02-30",
    "from=2026-12-01&to=2026-11-01",
    "cursor=x",
  ].map((query) => `transitions?${query}`),
  "signals?signal=bloked",
  ...["0", "2", "-1", "half", "1e-3"].map((share) => `journeys/onboarding/times?share=${share}`),
])("%s is refused", async (address) => {
  const [, field] = /\?(\w+)=/.exec(address)!;
  expect(await fixture.admin("GET", `/projects/app/${address}`)).toMatchObject(invalid(field));
});

it.each(["", "/runs", "/times"])("an unknown journey is not found: %s", async (path) => {
  const reply = await fixture.admin("GET", `/projects/app/journeys/onbording${path}`);
  expect(reply).toMatchObject(refused(404, "JOURNEY_NOT_FOUND"));
});

describe("GET /projects/:project/emissions", () => {
  it("lists emissions of all customers, last first, each once over all pages", async () => {
    const ids = (await list<Item>("emissions")).map(({ id }) => id!);
    expect(ids).toEqual(ids.toSorted().toReversed());
    const [{ emissions }] = await fixture.service.db.sql<[{ emissions: number }]>`
      select count(*)::integer as emissions from svc.emissions`;
    expect(new Set(ids).size).toBe(emissions);
  });

  it("lists what was emitted since an instant, whenever it occurred", async () => {
    const all = await shown("emissions");
    expect(await shown("emissions", `since=${new Date(Date.now() - HOUR).toISOString()}`)).toEqual(all);
    const [last] = await fixture.service.db.sql<[{ at: string }]>`
      select svc.iso(max(created_at)) as at from svc.emissions`;
    await fixture.batch([event("late", "stuck", 3)]);
    await fixture.evaluate();
    const since = new Date(Date.parse(last.at) + 1).toISOString();
    const found = await list<Item>("emissions", `since=${since}`);
    expect(new Set(found.map(({ customerId }) => customerId))).toEqual(new Set(["late"]));
  });
});

describe("GET /projects/:project/transitions", () => {
  it("lists those of all customers, last written first, each once over all pages", async () => {
    for (const state of ["", "new"]) {
      const [{ written }] = await fixture.service.db.sql<[{ written: string[] }]>`
        select array_agg(customer_id order by transition_seq desc) as written from svc.lifecycle_transitions
        where ${state} in ('', to_state)`;
      const found = await list<Item>("transitions", state && `entered=${state}`, 3);
      expect(found.map(({ customerId }) => customerId)).toEqual(written);
    }
    const cause = { type: "event", id: expect.stringMatching(/^evt_/) as string };
    const only = { customerId: "c0", from: "new", to: "customer", at: at(5), cause, configVersion: "v1" };
    expect(await list("transitions", "entered=customer")).toEqual([only]);
  });

  it("counts days in the time zone of the organization, from the first of two midnights", async () => {
    const setZone = (timeZone: string) => fixture.admin("PATCH", "/organization", { body: { timeZone } });
    await setZone("Pacific/Kiritimati");
    const local = new Date(Date.parse(at(5)) + 14 * HOUR).toISOString().slice(0, 10);
    expect(await shown("transitions", `entered=customer&from=${local}&to=${local}`)).toEqual([FIRST]);
    await setZone("Atlantic/Azores");
    const { sql } = fixture.service.db;
    await sql`
      insert into svc.lifecycle_transitions (environment_id, customer_id, to_state, transitioned_at, cause_type, generation)
      select environment_id, customer_id, 'customer', '2025-10-26T00:30Z', 'job', generation from svc.customers where customer_id = 'c1'`;
    expect(await shown("transitions", "entered=customer&from=2025-10-26&to=2025-10-26")).toEqual(["c1  customer"]);
    expect(await shown("transitions", "entered=customer&to=2025-10-25")).toEqual([]);
    await sql`delete from svc.lifecycle_transitions where transitioned_at = '2025-10-26T00:30Z'`;
    await setZone("UTC");
  });

  it("shows how long customers had been in the states that they left, by the present history", async () => {
    const { sql } = fixture.service.db;
    const times = await fixture.read<{ transitions: number }>("transitions/times");
    expect(times).toEqual({
      transitions: (await list("transitions", "")).length,
      states: [{ state: "new", left: 1, seconds: expect.objectContaining({ median: 5 * 3600 }) as object }],
    });
    await sql`
      insert into svc.lifecycle_transitions (environment_id, customer_id, from_state, to_state, transitioned_at, cause_type, generation)
      select environment_id, customer_id, 'new', 'customer', now(), 'job', 7 from svc.customers where customer_id = 'c1'`;
    expect(await fixture.read("transitions/times")).toEqual(times);
    await sql`delete from svc.lifecycle_transitions where generation = 7`;
  });
});

it("GET /projects/:project/signals lists raised signals, last raised first, and refuses another list's cursor", async () => {
  const raised = ["old blocked", "c2 blocked", "c 2  blocked", "c1 blocked", "c0 cheered", "late blocked"];
  expect(await shown("signals", "since=3d")).toEqual(raised);
  const { data } = await fixture.read<Page<object>>("signals?limit=1");
  expect(data).toMatchObject([{ severity: "critical", message: "Call them" }]);
  const { nextCursor } = await fixture.read<Page<unknown>>("emissions?limit=1");
  expect(await fixture.admin("GET", `/projects/app/signals?cursor=${nextCursor}`)).toMatchObject(invalid("cursor"));
});

it("GET /projects/:project/journeys/:journeyId/runs lists runs by customer, each once over all pages", async () => {
  const runs = ["c0 complete pay", "c1 active pay", "c2 active pay", "c3 active invite", "old expired invite"];
  expect(await shown(RUNS)).toEqual(runs);
  expect(await shown(RUNS, "status=active", 1)).toEqual(runs.slice(1, 4));
});

describe("the funnel of a journey", () => {
  interface Funnel extends Record<string, unknown> {
    steps: Record<string, unknown>[];
  }
  const read = (path = "") => fixture.read<Funnel>(`journeys/onboarding${path}`);

  it("shows how many runs completed each step, are at it and expired at it, and how long it took", async () => {
    const hours = (n: number) => n * 3_600;
    expect(await read()).toEqual({
      journeyId: "onboarding",
      since: null,
      ...{ runs: 5, customers: 5, active: 3, complete: 1, expired: 1 },
      secondsToComplete: { lower: hours(5), median: hours(5), upper: hours(5) },
      steps: [
        {
          ...{ stepId: "invite", declared: true, completed: 3, active: 1, expired: 1 },
          secondsFromPrevious: { lower: hours(1.5), median: hours(2), upper: hours(4) },
        },
        {
          ...{ stepId: "pay", declared: true, completed: 1, active: 2, expired: 0 },
          secondsFromPrevious: { lower: hours(4), median: hours(4), upper: hours(4) },
        },
      ],
    });
  });

  it("counts the runs that started since an instant, like the list of journeys", async () => {
    expect(await read("?since=3d")).toMatchObject({ runs: 4, expired: 0 });
    const later = { runs: 2, since: at(2), complete: 0, secondsToComplete: null };
    expect(await read(`?since=${at(2)}`)).toMatchObject(later);
    for (const since of ["", "?since=3d", "?since=1h"]) {
      const { active, complete, expired, steps } = await read(since);
      const counted = steps.map(({ stepId, declared, active, expired }) => ({ stepId, declared, active, expired }));
      const journey = { journeyId: "onboarding", declared: true, active, complete, expired, steps: counted };
      expect(await fixture.read(`journeys${since}`)).toMatchObject({ journeys: [journey] });
    }
  });

  it("has its times apart, also of a sample of the customers, always the same ones", async () => {
    const { secondsToComplete, steps } = await read();
    expect(await read("/times")).toEqual({
      ...{ journeyId: "onboarding", since: null, runs: 5, secondsToComplete },
      steps: steps.map(({ stepId, completed, secondsFromPrevious }) => ({ stepId, completed, secondsFromPrevious })),
    });
    expect(await read("/times?since=1h")).toMatchObject({ runs: 0, secondsToComplete: null, steps: [] });
    expect(await read("/times?share=0.5")).toEqual(await read("/times?share=0.5"));
    expect(await read("/times?share=0.000000001")).toMatchObject({ runs: 0 });
  });

  it("keeps a step that the active version no longer has, marked as such", async () => {
    const [onboarding] = MODEL.journeys;
    await fixture.deploy({ ...MODEL, journeys: [{ ...onboarding!, steps: onboarding!.steps.slice(1) }] });
    const steps = (await read()).steps.map(({ stepId, declared, completed }) => [stepId, declared, completed]);
    expect(steps).toEqual([
      ["pay", true, 1],
      ["invite", false, 3],
    ]);
  });
});
