import { beforeAll, describe, expect, it } from "vitest";
import { addTo, count, counted, happened, healthOf, rule, snapshotOf } from "../../engine/support/builders.js";
import { EVENT_ID } from "../../http/ingest/fixture.js";
import { eventIdOf, useSpec } from "../support/fixture.js";

// Section "Resources and their fields", the records below "Recompute result": the same shapes are read by inspection.

const fixture = useSpec();
let signedUp: string;
let invited: string;

beforeAll(async () => {
  await fixture.deploy(
    snapshotOf({
      events: { signed_up: { properties: {} }, invited: { properties: {} } },
      states: { new: [["activated", happened("invited")]], activated: [] },
      journeys: {
        onboarding: { start: happened("signed_up"), steps: [["invite", happened("invited")]] },
        trial: { start: happened("signed_up"), steps: [["never", count("invited", "gte", 9)]], expiresAfter: "1d" },
      },
      segments: { inviters: happened("invited"), reached: null },
      health: healthOf({ activity: counted("invited", 2) }, { all: 0 }),
      rules: { reach_out: rule("invited", addTo("reached"), { when: happened("signed_up") }) },
      signals: { hot: { when: happened("invited"), severity: "info" } },
    }),
  );
  const send = async (event: string, timestamp: string) => {
    const reply = await fixture.single({ customerId: "c", event, timestamp });
    await fixture.evaluate();
    return eventIdOf(reply);
  };
  signedUp = await send("signed_up", "2026-01-01T00:00:00Z");
  invited = await send("invited", "2026-01-03T00:00:00Z");
});

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown;

describe("The service turns product events and customer traits, sent by backends, into derived customer state. Customer record returned by inspection and listing", () => {
  it.each([
    ["lifecycle", { lifecycle: "activated", lifecycleEnteredAt: "2026-01-03T00:00:00.000Z" }],
    ["segments: complete list of segment IDs", { segments: ["inviters", "reached"] }],
    [
      "health: `{overall: number, components: {<component>: number}}`",
      { health: { overall: 50, components: { activity: 50 } } },
    ],
    ["signals", { signals: [{ signalId: "hot", severity: "info" }] }],
  ])("%s", async (_name, state) => {
    expect(await fixture.customer("c")).toMatchObject(state);
  });

  it("the listing holds them too", async () => {
    const { lifecycle, segments, health, journeys } = await fixture.customer("c");
    const { status, body } = await fixture.admin("GET", "/projects/app/customers");
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        data: [
          {
            customerId: "c",
            createdAt: timestamp,
            lastEventAt: "2026-01-03T00:00:00.000Z",
            lifecycle,
            lifecycleEnteredAt: "2026-01-03T00:00:00.000Z",
            segments,
            health,
            journeys,
            setAside: null,
          },
        ],
        nextCursor: null,
      },
    });
  });
});

describe("Journey progress: `journeyId`, `status`, `currentStep`, `stepsData`, `startedAt`, `completedAt` or null, `expiredAt` or null", () => {
  it("of a complete journey, and of an expired one", async () => {
    const startedAt = "2026-01-01T00:00:00.000Z";
    const completedAt = "2026-01-03T00:00:00.000Z";
    expect((await fixture.customer("c")).journeys).toEqual([
      {
        journeyId: "onboarding",
        status: "complete",
        currentStep: "invite",
        stepsData: { invite: { completedAt, triggeredBy: invited } },
        startedAt,
        completedAt,
        expiredAt: null,
      },
      {
        journeyId: "trial",
        status: "expired",
        currentStep: "never",
        stepsData: {},
        startedAt,
        completedAt: null,
        expiredAt: "2026-01-02T00:00:00.000Z",
      },
    ]);
  });
});

it("Rule execution: `ruleId`, `result`, `triggeredBy` (`event:<event_name>`), `conditions`, `action` (`{type, segment}`), `executedAt`", async () => {
  const rows = await fixture.service.db.sql`
    select rule as "ruleId", result, triggered_by as "triggeredBy", jsonb_typeof(conditions::jsonb) as conditions, action,
      svc.iso(executed_at) as "executedAt", cause_id as "causeId"
    from svc_inspect.rule_executions where customer_id = 'c'`;
  expect(rows.map((row) => ({ ...row }))).toEqual([
    {
      ruleId: "reach_out",
      result: "pass",
      triggeredBy: "event:invited",
      conditions: "object",
      action: { type: "addToSegment", segment: "reached" },
      executedAt: "2026-01-03T00:00:00.000Z",
      causeId: invited,
    },
  ]);
});

it("Emission: a type such as `customer.activated`, `source` such as `lifecycle`, `metadata` such as `previous_lifecycle` and `new_lifecycle`, an instant", async () => {
  const { body } = await fixture.admin("GET", "/projects/app/customers/c/timeline");
  const { data } = body as { data: { type: string }[] };
  expect(data.find(({ type }) => type === "customer.activated")).toEqual({
    id: expect.stringMatching(/^emi_[0-9a-f]{16}$/) as unknown,
    at: "2026-01-03T00:00:00.000Z",
    type: "customer.activated",
    source: "lifecycle",
    metadata: { previous_lifecycle: "new", new_lifecycle: "activated" },
    cause: { type: "event", id: invited },
    configVersion: "v1",
  });
});

it("Stored event record: `processed` or `pending`, and what was sent", async () => {
  const rows = await fixture.service.db.sql`
    select project, environment, event_id, customer_id, event, properties, svc.iso(occurred_at) as occurred_at,
      svc.iso(accepted_at) as accepted_at, status
    from svc_inspect.events where event_id = ${signedUp}`;
  expect(rows.map((row) => ({ ...row }))).toEqual([
    {
      project: "app",
      environment: "test",
      event_id: EVENT_ID,
      customer_id: "c",
      event: "signed_up",
      properties: {},
      occurred_at: "2026-01-01T00:00:00.000Z",
      accepted_at: timestamp,
      status: "processed",
    },
  ]);
});
