import { beforeAll, expect, it } from "vitest";
import { addTo, count, counted, happened, healthOf, rule, snapshotOf } from "../../engine/support/builders.js";
import type { Reply } from "../../support/service.js";
import { eventIdOf, useSpec } from "../support/fixture.js";

// Section "Resources and their fields", the records below "Recompute result": inspection returns the same shapes.

const fixture = useSpec();
let signedUp: Reply;
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
    return reply;
  };
  signedUp = await send("signed_up", "2026-01-01T00:00:00Z");
  invited = eventIdOf(await send("invited", "2026-01-03T00:00:00Z"));
});

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown;

const startedAt = "2026-01-01T00:00:00.000Z";
const invitedAt = "2026-01-03T00:00:00.000Z";
/** The members that inspection and listing share. */
const shared = () => ({
  customerId: "c",
  createdAt: timestamp,
  lastEventAt: invitedAt,
  lifecycle: "activated",
  lifecycleEnteredAt: invitedAt,
  segments: ["inviters", "reached"],
  health: { overall: 50, components: { activity: 50 }, band: "all" },
  journeys: [
    {
      journeyId: "onboarding",
      status: "complete",
      currentStep: "invite",
      stepsData: { invite: { completedAt: invitedAt, triggeredBy: invited } },
      startedAt,
      completedAt: invitedAt,
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
  ],
});

it("The service turns product events and customer traits, sent by backends, into derived customer state. Customer record returned by inspection and listing: lifecycle, segments: complete list of segment IDs, health: `{overall: number, components: {<component>: number}}`, signals. Journey progress: `journeyId`, `status`, `currentStep`, `stepsData`, `startedAt`, `completedAt` or null, `expiredAt` or null", async () => {
  const signals = [{ signalId: "hot", severity: "info" }];
  expect(await fixture.customer("c")).toMatchObject({ ...shared(), signals });
  const { status, body } = await fixture.admin("GET", "/projects/app/customers");
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      data: [
        {
          ...shared(),
          signals: [{ ...signals[0], message: null, raisedAt: "2026-01-03T00:00:00.000Z" }],
          healthWeekAgo: 50,
          setAside: null,
        },
      ],
      nextCursor: null,
    },
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
      executedAt: invitedAt,
      causeId: invited,
    },
  ]);
});

it("Emission: a type such as `customer.activated`, `source` such as `lifecycle`, `metadata` such as `previous_lifecycle` and `new_lifecycle`, an instant", async () => {
  const { body } = await fixture.admin("GET", "/projects/app/customers/c/timeline");
  const { data } = body as { data: { eventType: string }[] };
  expect(data.find(({ eventType }) => eventType === "customer.activated")).toEqual({
    id: expect.stringMatching(/^emi_[0-9a-f]{16}$/) as unknown,
    eventType: "customer.activated",
    source: "lifecycle",
    metadata: { previous_lifecycle: "new", new_lifecycle: "activated" },
    timestamp: invitedAt,
    at: invitedAt,
    type: "customer.activated",
    cause: { type: "event", id: invited },
    configVersion: "v1",
  });
});

it("Stored event record: `processed` or `pending`, and what was sent", async () => {
  expect(await fixture.storedEvent(signedUp)).toEqual({
    environment: "test",
    customerId: "c",
    event: "signed_up",
    properties: {},
    occurredAt: startedAt,
    acceptedAt: timestamp,
    status: "processed",
  });
});
