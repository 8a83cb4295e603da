import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Field, Snapshot } from "../../../src/model/snapshot/types.js";
import { envelope, startService, type Actor, type Reply, type Service } from "../../support/service.js";
import { createProject, named, type TestProject } from "./support/project.js";

let service: Service;
let owner: Actor;
let project: TestProject;
let environment: number;
beforeAll(async () => {
  service = await startService();
  owner = await service.owner("acme");
});
afterAll(() => service.stop());

const signup = { kind: "count", of: { event: "login" }, operator: "gte", value: 1 } as const;
const full: Partial<Snapshot> = {
  events: { login: { properties: { seats: { type: "number" } } }, left: { properties: {} } },
  traits: {
    plan: { type: "string", enum: ["free", "pro"] },
    renewsOn: { type: "date" },
    tags: { type: "array", items: { type: "string", enum: ["a", "b"] } },
  },
  segments: [{ id: "paying" }, { id: "chosen" }],
  journeys: [{ id: "onboarding", start: signup, steps: [{ id: "first", when: signup }] }],
  signals: [{ id: "quiet", severity: "info" }],
};

beforeEach(async () => {
  project = await createProject(service, owner);
  environment = await project.environmentId();
  expect(await project.deploy(full)).toMatchObject({ status: 201, body: { warnings: [] } });
});

const customers = (rows: { id: string; lifecycle?: string; traits?: object }[]) =>
  service.db.sql`
    insert into svc.customers (environment_id, customer_id, created_at, lifecycle, traits)
    select ${environment}, r.id, now(), r.lifecycle, coalesce(r.traits, '{}')
    from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) as r (id text, lifecycle text, traits jsonb)`;
const members = (segment: string, amount: number, exited = false) =>
  service.db.sql`
    insert into svc.segment_memberships (environment_id, segment_id, customer_id, entered_at, exited_at)
    select ${environment}, ${segment}, 'c' || n, now(), case when ${exited} then now() end from generate_series(1, ${amount}) as n`;
const runs = (status: "active" | "complete", customer: string) =>
  service.db.sql`
    insert into svc.journey_runs (environment_id, customer_id, journey_id, run, status, current_step, steps, started_at, completed_at)
    values (${environment}, ${customer}, 'onboarding', 1, ${status}, 'first', '{}', now(), ${status === "complete" ? new Date() : null})`;
const signals = (customer: string, cleared: boolean) =>
  service.db.sql`
    insert into svc.signals (environment_id, customer_id, signal_id, severity, raised_at, cleared_at)
    values (${environment}, ${customer}, 'quiet', 'info', now(), ${cleared ? new Date() : null})`;
const events = (event: string, properties: object, amount = 1) =>
  service.db.sql`
    insert into svc.events (environment_id, event_seq, customer_id, event, properties, occurred_at, accepted_at)
    select ${environment}, nextval(svc.batch_seq(${environment})) * 1024, 'c', ${event}, ${JSON.stringify(properties)}::text::jsonb, now(), now()
    from generate_series(1, ${amount})`;

const without = (...ids: string[]) => full.segments!.filter(({ id }) => !ids.includes(id));
const traits = (name: string, field: Field): Partial<Snapshot> => ({
  ...full,
  traits: { ...full.traits, [name]: field },
});

/** The diagnostics of a refusal, in which nothing was changed. */
async function warningsOf(reply: Reply): Promise<[code: string, path: string, message: string][]> {
  expect(reply.status).toBe(409);
  const { error } = reply.body as {
    error: { code: string; diagnostics: Record<"code" | "path" | "message", string>[] };
  };
  expect(error.code).toBe("CONFIG_WARNINGS");
  expect(await project.activated()).toEqual(["v1"]);
  return error.diagnostics.map(({ code, path, message }) => [code, path, message]);
}

describe("a deploy that would strand data", () => {
  it("is refused with a warning for each, and changes nothing", async () => {
    await customers([
      { id: "c1", lifecycle: "active" },
      { id: "c2", lifecycle: "active" },
    ]);
    await members("paying", 1);
    const changed: Partial<Snapshot> = {
      ...full,
      lifecycle: { initial: "new", states: [{ name: "new", transitions: [] }] },
      segments: without("paying"),
    };
    const reply = await project.deploy(changed);
    expect(reply.status).toBe(409);
    expect(reply.body).toEqual(
      envelope("CONFIG_WARNINGS", "This version would strand data: 2 warnings.", {
        fix: "Keep in the model what diagnostics name, or go on despite them with `force: true`.",
        diagnostics: [
          {
            code: "STATE_REMOVED",
            message: 'The lifecycle state "active" is removed, and 2 customers are in it.',
            path: "lifecycle.states[1]",
          },
          {
            code: "SEGMENT_REMOVED",
            message: 'The segment "paying" is removed, and 1 customer is in it.',
            path: "segments[0]",
          },
        ],
      }),
    );
    expect(await project.activated()).toEqual(["v1"]);
    expect(await project.get("/config-versions/v2")).toMatchObject({ status: 404 });
  });

  it("goes on with force, and lists what it strands", async () => {
    await members("paying", 3);
    const reply = await project.deploy({ ...full, segments: without("paying") }, "test", { force: true });
    expect(reply.status).toBe(201);
    expect(reply.body).toMatchObject({
      version: "v2",
      activated: true,
      created: true,
      warnings: [
        {
          code: "SEGMENT_REMOVED",
          message: 'The segment "paying" is removed, and 3 customers are in it.',
          path: "segments[0]",
        },
      ],
    });
    // It was told, and is not told again.
    expect(await project.deploy({ ...full, segments: [] })).toMatchObject({ status: 201, body: { warnings: [] } });
  });

  it("is refused for force: false too, and force without a warning is nothing special", async () => {
    expect(await project.deploy({ ...full, segments: without("chosen") }, "test", { force: true })).toMatchObject({
      status: 201,
      body: { warnings: [] },
    });
    await members("paying", 1);
    expect(await project.deploy({ ...full, segments: [] }, "test", { force: false })).toMatchObject({ status: 409 });
  });

  it("looks at the data of its environment only", async () => {
    await members("paying", 1);
    expect(await project.deploy({ ...full, segments: [] }, "live")).toMatchObject({ status: 201 });
    await project.promote("v1");
    expect(await project.deploy({ ...full, segments: [] }, "live")).toMatchObject({ status: 201 });
  });

  it("is not refused where nothing was active before", async () => {
    const live = await project.environmentId("live");
    await service.db.sql`
      insert into svc.segment_memberships (environment_id, segment_id, customer_id, entered_at) values (${live}, 'paying', 'c', now())`;
    expect(await project.deploy(named("a"), "live")).toMatchObject({ status: 201, body: { warnings: [] } });
  });
});

describe("promote and rollback", () => {
  it("are refused alike, and go on with force", async () => {
    const live = await project.environmentId("live");
    await project.promote("v1");
    await project.deploy({ ...full, segments: [] });
    await service.db.sql`
      insert into svc.segment_memberships (environment_id, segment_id, customer_id, entered_at) values (${live}, 'chosen', 'c', now())`;
    const warning = { code: "SEGMENT_REMOVED", message: expect.any(String) as string, path: "segments[1]" };
    expect(await project.promote("v2")).toMatchObject({
      status: 409,
      body: { error: { code: "CONFIG_WARNINGS", diagnostics: [warning] } },
    });
    expect(await project.activated("live")).toEqual(["v1"]);
    expect(await project.promote("v2", { force: true })).toMatchObject({
      status: 200,
      body: { activated: true, warnings: [warning] },
    });
    // The way back strands nothing.
    expect(await project.rollback("v1", "live")).toMatchObject({ status: 200, body: { warnings: [] } });
    expect(await project.rollback("v2", "live")).toMatchObject({
      status: 409,
      body: { error: { code: "CONFIG_WARNINGS", diagnostics: [warning] } },
    });
    expect(await project.rollback("v2", "live", { force: true })).toMatchObject({
      status: 200,
      body: { warnings: [warning] },
    });
  });

  it("warn of nothing where the version is active already", async () => {
    await members("paying", 1);
    await project.deploy({ ...full, segments: [] }, "test", { force: true });
    expect(await project.rollback("v2")).toMatchObject({ status: 200, body: { activated: false, warnings: [] } });
  });
});

describe("what is removed", () => {
  it("a lifecycle as a whole: each state with customers in it", async () => {
    await customers([{ id: "c1", lifecycle: "new" }, { id: "c2" }]);
    expect(await warningsOf(await project.deploy({ ...full, lifecycle: null }))).toEqual([
      ["STATE_REMOVED", "lifecycle.states[0]", 'The lifecycle state "new" is removed, and 1 customer is in it.'],
    ]);
  });

  it("a journey with active runs", async () => {
    await runs("active", "c1");
    await runs("complete", "c2");
    expect(await warningsOf(await project.deploy({ ...full, journeys: [] }))).toEqual([
      ["JOURNEY_REMOVED", "journeys[0]", 'The journey "onboarding" is removed, and 1 customer is on it.'],
    ]);
  });

  it("a signal that is raised", async () => {
    await signals("c1", false);
    await signals("c2", false);
    await signals("c3", true);
    expect(await warningsOf(await project.deploy({ ...full, signals: [] }))).toEqual([
      ["SIGNAL_REMOVED", "signals[0]", 'The signal "quiet" is removed, and it is raised: 2 customers are concerned.'],
    ]);
  });

  it("counts no further than ten thousand", async () => {
    await members("paying", 10_001);
    expect(await warningsOf(await project.deploy({ ...full, segments: without("paying") }))).toEqual([
      ["SEGMENT_REMOVED", "segments[0]", 'The segment "paying" is removed, and more than 10,000 customers are in it.'],
    ]);
  });

  it("says nothing of parts without data: a former member, a completed run, a cleared signal, an empty state", async () => {
    await members("paying", 2, true);
    await runs("complete", "c1");
    await signals("c1", true);
    const bare = { ...full, segments: [], journeys: [], signals: [], lifecycle: null };
    expect(await project.deploy(bare)).toMatchObject({ status: 201, body: { warnings: [] } });
  });
});

describe("traits that are declared differently", () => {
  it("another type, where a customer's value does not fit it", async () => {
    await customers([{ id: "c1", traits: { plan: "pro" } }, { id: "c2", traits: { plan: "free" } }, { id: "c3" }]);
    expect(
      await warningsOf(await project.deploy({ ...traits("plan", { type: "number" }), segments: full.segments! })),
    ).toEqual([
      [
        "TRAIT_TYPE_CHANGED",
        "traits.plan",
        'The trait "plan" changes its type, and the value of 2 customers does not fit it.',
      ],
    ]);
  });

  it("fewer values, where a customer has another one", async () => {
    await customers([
      { id: "c1", traits: { plan: "pro" } },
      { id: "c2", traits: { plan: "free" } },
    ]);
    expect(await warningsOf(await project.deploy(traits("plan", { type: "string", enum: ["free", "team"] })))).toEqual([
      [
        "TRAIT_VALUES_REMOVED",
        "traits.plan",
        'The trait "plan" takes fewer values, and the value of 1 customer is none of them.',
      ],
    ]);
  });

  it("fewer values within an array", async () => {
    await customers([
      { id: "c1", traits: { tags: ["a", "b"] } },
      { id: "c2", traits: { tags: ["a"] } },
    ]);
    expect(
      await warningsOf(await project.deploy(traits("tags", { type: "array", items: { type: "string", enum: ["a"] } }))),
    ).toMatchObject([["TRAIT_VALUES_REMOVED", "traits.tags", expect.stringContaining("1 customer") as string]]);
  });

  it.each<[what: string, name: string, field: Field, value: unknown]>([
    ["more values", "plan", { type: "string", enum: ["free", "pro", "team"] }, "pro"],
    ["any text instead of some", "plan", { type: "string" }, "pro"],
    ["values in another order", "plan", { type: "string", enum: ["pro", "free"] }, "pro"],
    ["a text that was a date", "renewsOn", { type: "string" }, "2026-03-01"],
    ["a date where texts are dates, the 29th of February too", "plan", { type: "date" }, "2028-02-29"],
    ["a type that nobody has a value of", "tags", { type: "number" }, undefined],
  ])("warn of nothing where the values fit: %s", async (_what, name, field, value) => {
    await customers([{ id: "c1", traits: { [name]: value } }]);
    expect(await project.deploy(traits(name, field))).toMatchObject({ status: 201, body: { warnings: [] } });
  });

  it("warn of nothing where the trait is gone: it is kept and not read", async () => {
    await customers([{ id: "c1", traits: { plan: "pro" } }]);
    expect(await project.deploy({ ...full, traits: {} })).toMatchObject({ status: 201 });
  });
});

describe("events that are declared differently", () => {
  it("one that is removed under a strict schema, where some are stored", async () => {
    await events("left", {}, 2);
    const { login } = full.events!;
    expect(await warningsOf(await project.deploy({ ...full, events: { login: login! } }))).toEqual([
      [
        "EVENT_REMOVED",
        "events.left",
        'The event "left" is removed, and 2 events of it are stored; the strict schema refuses it from now on.',
      ],
    ]);
    expect(await project.deploy({ ...full, strictSchema: false, events: { login: login! } })).toMatchObject({
      status: 201,
    });
  });

  it("a property of another type, where a stored value does not fit it", async () => {
    await events("login", { seats: 3 }, 2);
    await events("login", {});
    const retyped = { ...full.events, login: { properties: { seats: { type: "string" as const } } } };
    expect(await warningsOf(await project.deploy({ ...full, events: retyped }))).toEqual([
      [
        "PROPERTY_TYPE_CHANGED",
        "events.login.properties.seats",
        'The property "seats" of "login" changes its type, and its value does not fit in 2 events of the newest 10,000.',
      ],
    ]);
  });

  it("warn of nothing where none is stored, or the stored values fit", async () => {
    await events("login", { seats: "3" });
    const retyped = { login: { properties: { seats: { type: "string" as const } } } };
    expect(await project.deploy({ ...full, events: retyped })).toMatchObject({ status: 201, body: { warnings: [] } });
  });

  it("name an event whose name is no word by its path", async () => {
    const odd = 'seat "added"';
    await project.deploy({ ...full, events: { ...full.events, [odd]: { properties: {} } } });
    await events(odd, {});
    const reply = await project.deploy(full);
    expect(reply).toMatchObject({
      status: 409,
      body: { error: { diagnostics: [{ code: "EVENT_REMOVED", path: 'events["seat \\"added\\""]' }] } },
    });
  });
});
