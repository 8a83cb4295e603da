import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EVENT_ID } from "../../http/ingest/fixture.js";
import { startSpec, type SpecFixture } from "../support/fixture.js";
import { happened, healthOf } from "../support/models.js";

// Section "Resources and their fields", the records below "Recompute result": the same shapes are read by inspection.

let fixture: SpecFixture;
let signedUp: string;
let invited: string;

beforeAll(async () => {
  fixture = await startSpec();
  await fixture.deploy({
    events: { signed_up: { properties: {} }, invited: { properties: {} } },
    lifecycle: {
      initial: "new",
      states: [
        { name: "new", transitions: [{ to: "activated", when: happened("invited") }] },
        { name: "activated", transitions: [] },
      ],
    },
    journeys: [
      { id: "onboarding", start: happened("signed_up"), steps: [{ id: "invite", when: happened("invited") }] },
      {
        id: "trial",
        start: happened("signed_up"),
        steps: [{ id: "never", when: happened("invited", 9) }],
        expiresAfter: "1d",
      },
    ],
    segments: [{ id: "inviters", when: happened("invited") }, { id: "reached" }],
    health: healthOf({
      activity: { kind: "scale", of: { kind: "count", of: { event: "invited" } }, from: 0, to: 2 },
    }),
    rules: [
      {
        id: "reach_out",
        on: { kind: "event", of: { event: "invited" } },
        when: happened("signed_up"),
        then: { kind: "addToSegment", segment: "reached" },
      },
    ],
  });
  const operations = [
    { customerId: "c", event: "signed_up", timestamp: "2026-01-01T00:00:00Z" },
    { customerId: "c", event: "invited", timestamp: "2026-01-03T00:00:00Z" },
  ];
  const ids: string[] = [];
  for (const operation of operations) {
    const reply = await fixture.single(operation);
    ids.push((reply.body as { eventId: string }).eventId);
    await fixture.evaluate();
  }
  [signedUp, invited] = ids as [string, string];
});
afterAll(() => fixture.service.stop());

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown;

describe("Customer record returned by inspection and listing", () => {
  it("lifecycle", async () => {
    expect(await fixture.customer("c")).toMatchObject({
      customerId: "c",
      lifecycle: "activated",
      lifecycleEnteredAt: "2026-01-03T00:00:00.000Z",
    });
  });

  it("segments: complete list of segment IDs", async () => {
    expect((await fixture.customer("c")).segments).toEqual(["inviters", "reached"]);
  });

  it("health: `{overall: number, components: {<component>: number}}`", async () => {
    expect((await fixture.customer("c")).health).toMatchObject({ overall: 50, components: { activity: 50 } });
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
  it("of a complete journey", async () => {
    const { journeys } = await fixture.customer("c");
    expect(journeys.find(({ journeyId }) => journeyId === "onboarding")).toEqual({
      journeyId: "onboarding",
      status: "complete",
      currentStep: "invite",
      stepsData: { invite: { completedAt: "2026-01-03T00:00:00.000Z", triggeredBy: invited } },
      startedAt: "2026-01-01T00:00:00.000Z",
      completedAt: "2026-01-03T00:00:00.000Z",
      expiredAt: null,
    });
  });

  it("of an expired journey", async () => {
    const { journeys } = await fixture.customer("c");
    expect(journeys.find(({ journeyId }) => journeyId === "trial")).toEqual({
      journeyId: "trial",
      status: "expired",
      currentStep: "never",
      stepsData: {},
      startedAt: "2026-01-01T00:00:00.000Z",
      completedAt: null,
      expiredAt: "2026-01-02T00:00:00.000Z",
    });
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
