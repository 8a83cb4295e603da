import { beforeAll, describe, expect, it } from "vitest";
import { emit, happened, raise, rule, snapshotOf, type StepParts } from "../../engine/support/builders.js";
import { useSpec } from "../../spec/support/fixture.js";
import { invalid, pages, refused, type Page } from "./support/api.js";

// Results of evaluation across customers: emissions, transitions, raised signals and journeys.

const fixture = useSpec();
const list = async <T>(path: string, query = "", limit = 2): Promise<T[]> =>
  (await pages((more) => fixture.read<Page<T>>(`${path}?${more}`), query, limit)).items;

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

describe("GET /projects/:project/emissions", () => {
  interface Emission {
    id: string;
    customerId: string;
    eventType: string;
    createdAt: string;
  }
  const of = (found: Emission[]) => found.map(({ customerId, eventType }) => `${customerId} ${eventType}`);

  it("lists emissions of all customers, last first, each once over all pages", async () => {
    const all = await list<Emission>("emissions");
    const ids = all.map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted().toReversed());
    const [{ emissions }] = await fixture.service.db.sql<[{ emissions: number }]>`
      select count(*)::integer as emissions from svc.emissions`;
    expect(new Set(ids).size).toBe(emissions);
  });

  it("is filtered by customer, type and source", async () => {
    expect(of(await list("emissions", "eventType=success.call")).toSorted()).toEqual([
      "c 2  success.call",
      "c1 success.call",
      "c2 success.call",
      "old success.call",
    ]);
    expect(of(await list("emissions", "eventType=success.call&customer=c1"))).toEqual(["c1 success.call"]);
    expect(of(await list("emissions", "source=signal&customer=c%202%20"))).toEqual(["c 2  signal.raised"]);
    expect(of(await list("emissions", "customer=c0&source=lifecycle"))).toEqual([
      "c0 customer.customer",
      "c0 customer.created",
    ]);
    expect(await list("emissions", "customer=nobody")).toEqual([]);
  });

  it("lists what was emitted since an instant, whenever it occurred", async () => {
    const all = await list<Emission>("emissions", "", 200);
    expect(await list("emissions", `since=${new Date(Date.now() - HOUR).toISOString()}`)).toEqual(all);
    await fixture.batch([event("late", "stuck", 3)]);
    await fixture.evaluate();
    const { createdAt } = (await list<Emission>("emissions", "", 200))[0]!;
    const [last] = await fixture.service.db.sql<[{ at: string }]>`
      select svc.iso(max(created_at)) as at from svc.emissions where customer_id <> 'late'`;
    expect(Date.parse(createdAt)).toBeGreaterThan(Date.parse(last.at));
    const since = new Date(Date.parse(last.at) + 1).toISOString();
    expect(new Set(of(await list("emissions", `since=${since}`)).map((one) => one.split(" ")[0]))).toEqual(
      new Set(["late"]),
    );
  });

  it("continues past a page without matching emissions", async () => {
    const { sql } = fixture.service.db;
    await sql`
      insert into svc.emissions (environment_id, emission_seq, customer_id, event_type, source, metadata, emitted_at, cause_type)
      select environment_id, max(emission_seq) + n, 'many', 'segment.entered', 'segment', '{}', now(), 'timer'
      from svc.emissions, generate_series(1, 4100) as n group by environment_id, n`;
    const first = await fixture.read<Page<Emission>>("emissions?eventType=success.call");
    expect(first).toEqual({ data: [], nextCursor: expect.any(String) as string });
    expect(await list("emissions", "eventType=success.call")).toHaveLength(5);
    await sql`delete from svc.emissions where customer_id = 'many'`;
  });
});

describe("GET /projects/:project/transitions", () => {
  interface Transition {
    customerId: string;
    from: string | null;
    to: string;
    at: string;
  }
  const of = (found: Transition[]) => found.map(({ customerId, from, to }) => `${customerId} ${from} ${to}`);
  const day = (hours: number) => at(hours).slice(0, 10);

  it("lists those of all customers, last written first, each once over all pages", async () => {
    for (const [query, of] of [
      ["", ""],
      ["entered=new", "new"],
    ] as const) {
      const [{ written }] = await fixture.service.db.sql<[{ written: string[] }]>`
        select array_agg(customer_id order by transition_seq desc) as written from svc.lifecycle_transitions
        where ${of} in ('', to_state)`;
      expect((await list<Transition>("transitions", query, 3)).map(({ customerId }) => customerId)).toEqual(written);
    }
    expect(await list<Transition>("transitions", "entered=customer")).toEqual([
      {
        customerId: "c0",
        from: "new",
        to: "customer",
        at: at(5),
        cause: { type: "event", id: expect.stringMatching(/^evt_/) as string },
        configVersion: "v1",
      },
    ]);
  });

  it("is filtered by the state that was left, and by days", async () => {
    expect(of(await list("transitions", "left=new"))).toEqual(["c0 new customer"]);
    expect(await list("transitions", "entered=customer&left=")).toEqual([]);
    expect(await list("transitions", "entered=new&left=")).toEqual(await list("transitions", "entered=new"));
    expect(of(await list("transitions", `entered=customer&from=${day(5)}&to=${day(5)}`))).toEqual(["c0 new customer"]);
    expect(await list("transitions", `entered=customer&to=${day(5 - 24)}`)).toEqual([]);
    expect(await list("transitions", `entered=customer&from=${day(5 + 24)}`)).toEqual([]);
  });

  it("counts days in the time zone of the organization", async () => {
    await fixture.admin("PATCH", "/organization", { body: { timeZone: "Pacific/Kiritimati" } });
    const local = new Date(Date.parse(at(5)) + 14 * HOUR).toISOString().slice(0, 10);
    expect(of(await list("transitions", `entered=customer&from=${local}&to=${local}`))).toEqual(["c0 new customer"]);
    await fixture.admin("PATCH", "/organization", { body: { timeZone: "UTC" } });
  });

  it("counts a day from the first of two midnights", async () => {
    const { sql } = fixture.service.db;
    await fixture.admin("PATCH", "/organization", { body: { timeZone: "Atlantic/Azores" } });
    await sql`
      insert into svc.lifecycle_transitions (environment_id, customer_id, to_state, transitioned_at, cause_type, generation)
      select environment_id, customer_id, 'customer', '2025-10-26T00:30Z', 'job', generation from svc.customers where customer_id = 'c1'`;
    const of = (query: string) => list<Transition>("transitions", `entered=customer&${query}`);
    expect(await of("from=2025-10-26&to=2025-10-26")).toMatchObject([{ customerId: "c1" }]);
    expect(await of("to=2025-10-25")).toEqual([]);
    await sql`delete from svc.lifecycle_transitions where transitioned_at = '2025-10-26T00:30Z'`;
    await fixture.admin("PATCH", "/organization", { body: { timeZone: "UTC" } });
  });

  it("skips what a recompute replaced, and continues past a page of nothing else", async () => {
    const { sql } = fixture.service.db;
    await sql`
      insert into svc.lifecycle_transitions (environment_id, customer_id, to_state, transitioned_at, cause_type, generation)
      select environment_id, customer_id, 'customer', now(), 'job', 7 from svc.customers, generate_series(1, 2100)
      where customer_id = 'c1'`;
    const first = await fixture.read<Page<Transition>>("transitions?entered=customer");
    expect(first).toEqual({ data: [], nextCursor: expect.any(String) as string });
    expect(of(await list("transitions", "entered=customer"))).toEqual(["c0 new customer"]);
    await sql`delete from svc.lifecycle_transitions where generation = 7`;
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

  it("refuses an undeclared state, an invalid day and a cursor of another list", async () => {
    for (const [query, field] of [
      ["entered=custmer", "entered"],
      ["entered=customer&left=custmer", "left"],
      ["entered=customer&from=yesterday", "from"],
      ["entered=customer&to=2026-02-30", "to"],
      ["entered=customer&from=2026-12-01&to=2026-11-01", "from"],
      ["entered=customer&cursor=x", "cursor"],
    ]) {
      expect([query, await fixture.admin("GET", `/projects/app/transitions?${query}`)]).toMatchObject([
        query,
        invalid(field),
      ]);
    }
  });
});

describe("GET /projects/:project/signals", () => {
  interface Signal {
    customerId: string;
    signalId: string;
    severity: string;
    message: string | null;
  }
  const of = (found: Signal[]) => found.map(({ customerId, signalId }) => `${customerId} ${signalId}`);

  it("lists raised signals, last raised first", async () => {
    const found = await list<Signal>("signals", "since=3d");
    expect(of(found)).toEqual([
      "old blocked",
      "c2 blocked",
      "c 2  blocked",
      "c1 blocked",
      "c0 cheered",
      "late blocked",
    ]);
    expect(found[0]).toMatchObject({ severity: "critical", message: "Call them" });
  });

  it("is filtered by signal, severity and when it was raised", async () => {
    expect(of(await list("signals", "signal=cheered", 1))).toEqual(["c0 cheered"]);
    expect(of(await list("signals", "severity=info"))).toEqual(["c0 cheered"]);
    expect(of(await list("signals", `since=${at(32)}`, 1))).toEqual(["old blocked", "c2 blocked"]);
    expect(await list("signals", "signal=blocked&severity=info")).toEqual([]);
  });

  it("refuses an undeclared signal and a cursor of another list", async () => {
    expect(await fixture.admin("GET", "/projects/app/signals?signal=bloked")).toMatchObject(invalid("signal"));
    const { nextCursor } = await fixture.read<Page<unknown>>("emissions?limit=1");
    expect(await fixture.admin("GET", `/projects/app/signals?cursor=${nextCursor}`)).toMatchObject(invalid("cursor"));
  });
});

describe("GET /projects/:project/journeys", () => {
  it("has the counts of each journey's funnel", async () => {
    for (const since of ["", "?since=3d", "?since=1h"]) {
      const { journeys } = await fixture.read<{ journeys: object[] }>(`journeys${since}`);
      const { active, complete, expired, steps } = await fixture.read<Record<string, unknown>>(
        `journeys/onboarding${since}`,
      );
      const counted = (steps as Record<string, unknown>[]).map(({ stepId, declared, active, expired }) => ({
        ...{ stepId, declared, active, expired },
      }));
      expect(journeys).toEqual([
        { journeyId: "onboarding", declared: true, active, complete, expired, steps: counted },
      ]);
    }
  });
});

describe("GET /projects/:project/journeys/:journeyId/times", () => {
  it("has the times of the funnel", async () => {
    const { secondsToComplete, steps } = await fixture.read<{
      secondsToComplete: unknown;
      steps: Record<string, unknown>[];
    }>("journeys/onboarding");
    expect(await fixture.read("journeys/onboarding/times")).toEqual({
      journeyId: "onboarding",
      since: null,
      runs: 5,
      secondsToComplete,
      steps: steps.map(({ stepId, completed, secondsFromPrevious }) => ({ stepId, completed, secondsFromPrevious })),
    });
    expect(await fixture.read("journeys/onboarding/times?since=1h")).toMatchObject({
      runs: 0,
      secondsToComplete: null,
      steps: [],
    });
  });

  it("cover a sample of the customers, always the same ones", async () => {
    const [half, again] = [
      await fixture.read("journeys/onboarding/times?share=0.5"),
      await fixture.read("journeys/onboarding/times?share=0.5"),
    ];
    expect(half).toEqual(again);
    expect(await fixture.read("journeys/onboarding/times?share=0.000000001")).toMatchObject({ runs: 0 });
    for (const share of ["0", "2", "-1", "half", "1e-3"]) {
      expect(await fixture.admin("GET", `/projects/app/journeys/onboarding/times?share=${share}`)).toMatchObject(
        invalid("share"),
      );
    }
  });
});

describe("GET /projects/:project/journeys/:journeyId/runs", () => {
  interface Run {
    customerId: string;
    status: string;
    currentStep: string;
  }
  const of = (found: Run[]) =>
    found.map(({ customerId, status, currentStep }) => `${customerId} ${status} ${currentStep}`);
  const runs = (query: string, limit?: number) => list<Run>("journeys/onboarding/runs", query, limit);

  it("lists runs by customer, each once over all pages", async () => {
    expect(of(await runs(""))).toEqual([
      "c0 complete pay",
      "c1 active pay",
      "c2 active pay",
      "c3 active invite",
      "old expired invite",
    ]);
    expect(of(await runs("status=active", 1))).toEqual(["c1 active pay", "c2 active pay", "c3 active invite"]);
  });

  it("is filtered by status, current step, completed step, and start", async () => {
    expect(of(await runs("status=active&step=pay"))).toEqual(["c1 active pay", "c2 active pay"]);
    expect(of(await runs("step=invite"))).toEqual(["c3 active invite", "old expired invite"]);
    expect(of(await runs("step=pay&status=complete"))).toEqual([]);
    expect(of(await runs("completed=invite"))).toEqual(["c0 complete pay", "c1 active pay", "c2 active pay"]);
    expect(of(await runs(`since=${at(2)}`))).toEqual(["c2 active pay", "c3 active invite"]);
  });

  it("continues past a page without matching runs", async () => {
    const { sql } = fixture.service.db;
    await sql`
      insert into svc.journey_runs (environment_id, customer_id, journey_id, run, status, current_step, steps, started_at)
      select environment_id, 'b ' || n / 3, journey_id, n, 'active', 'pay', '{}', started_at
      from svc.journey_runs, generate_series(1, 4100) as n where customer_id = 'c3'`;
    const first = await fixture.read<Page<Run>>("journeys/onboarding/runs?status=active&step=invite");
    expect(first).toEqual({ data: [], nextCursor: expect.any(String) as string });
    expect(of(await runs("status=active&step=invite"))).toEqual(["c3 active invite"]);
    expect(await runs("", 200)).toHaveLength(4105);
    await sql`delete from svc.journey_runs where customer_id like 'b %'`;
  });

  it.each(["runs", "times"])("refuses an unknown journey: %s", async (path) => {
    expect(await fixture.admin("GET", `/projects/app/journeys/onbording/${path}`)).toMatchObject(
      refused(404, "JOURNEY_NOT_FOUND"),
    );
  });
});

describe("GET /projects/:project/journeys/:journeyId", () => {
  it("shows how many runs completed each step, are at it and expired at it, and how long it took", async () => {
    const hours = (n: number) => n * 3_600;
    expect(await fixture.read("journeys/onboarding")).toEqual({
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

  it("counts the runs that started since an instant", async () => {
    expect(await fixture.read("journeys/onboarding?since=3d")).toMatchObject({ runs: 4, expired: 0 });
    expect(await fixture.read(`journeys/onboarding?since=${at(2)}`)).toMatchObject({
      runs: 2,
      since: at(2),
      complete: 0,
      secondsToComplete: null,
    });
  });

  it("refuses an unknown journey", async () => {
    expect(await fixture.admin("GET", "/projects/app/journeys/onbording")).toMatchObject(
      refused(404, "JOURNEY_NOT_FOUND"),
    );
  });

  it("keeps a step that the active version no longer has, marked as such", async () => {
    const { journeys } = MODEL;
    const [onboarding] = journeys;
    await fixture.deploy({ ...MODEL, journeys: [{ ...onboarding!, steps: onboarding!.steps.slice(1) }] });
    const { steps } = await fixture.read<{ steps: { stepId: string; declared: boolean; completed: number }[] }>(
      "journeys/onboarding",
    );
    expect(steps.map(({ stepId, declared, completed }) => [stepId, declared, completed])).toEqual([
      ["pay", true, 1],
      ["invite", false, 3],
    ]);
  });
});
