import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectBatchTaken, expectRefused, expectTaken } from "./support/answers.js";
import { eventIdOf, startSpec, type SpecFixture } from "./support/fixture.js";
import { happened, healthOf } from "./support/models.js";
import { INVALID_API_KEY, NO_ORGANIZATION, NO_SESSION, UNKNOWN_SESSION } from "./support/refusals.js";

// Section "What the service does".

let fixture: SpecFixture;
beforeAll(async () => {
  fixture = await startSpec();
});
afterAll(() => fixture.service.stop());

const event = { customerId: "c", event: "e" };

describe("The service turns product events and customer traits, sent by backends, into derived customer state.", () => {
  beforeAll(async () => {
    await fixture.deploy({
      events: { signed_up: { properties: {} } },
      traits: { plan: { type: "string" } },
      lifecycle: {
        initial: "new",
        states: [
          { name: "new", transitions: [{ to: "trial", when: happened("signed_up") }] },
          { name: "trial", transitions: [] },
        ],
      },
      journeys: [
        { id: "setup", start: happened("signed_up"), steps: [{ id: "again", when: happened("signed_up", 2) }] },
      ],
      segments: [{ id: "payers", when: { kind: "trait", trait: "plan", operator: "eq", value: "pro" } }],
      health: healthOf({ plan: { kind: "map", trait: "plan", values: { pro: 70 } } }),
      rules: [
        {
          id: "greet",
          on: { kind: "event", of: { event: "signed_up" } },
          then: { kind: "emit", type: "success.greeted" },
        },
      ],
      signals: [{ id: "hot", severity: "info", when: happened("signed_up") }],
    });
    const traits = { type: "identify", customerId: "derived", traits: { plan: "pro" } };
    expectBatchTaken(await fixture.batch([traits, { customerId: "derived", event: "signed_up" }]), 2, 1);
    await fixture.evaluate();
  });

  it.each([
    ["lifecycle", { lifecycle: "trial" }],
    ["journey progress", { journeys: [{ journeyId: "setup", status: "active", currentStep: "again" }] }],
    ["segment membership", { segments: ["payers"] }],
    ["health score", { health: { overall: 70, components: { plan: 70 } } }],
    ["signals", { signals: [{ signalId: "hot", severity: "info" }] }],
  ])("%s", async (_name, state) => {
    expect(await fixture.customer("derived")).toMatchObject(state);
  });

  it("rule executions", async () => {
    const rows = await fixture.service.db.sql`
      select rule, result from svc_inspect.rule_executions where customer_id = 'derived'`;
    expect(rows.map((row) => ({ ...row }))).toEqual([{ rule: "greet", result: "pass" }]);
  });
});

describe("| `POST /v1/events`, `POST /v1/events/batch` | project environment API key |", () => {
  it("with an API key, both take operations", async () => {
    expectTaken(await fixture.single(event));
    expectBatchTaken(await fixture.batch([event]), 1);
  });

  it.each([
    ["nothing", () => ({})],
    ["a CLI session and its organization", () => session()],
  ])("with %s, neither does", async (_name, headers) => {
    for (const [path, body] of [
      ["/v1/events", event],
      ["/v1/events/batch", { events: [event] }],
    ] as const) {
      await fixture.refuses(
        () => fixture.service.request("POST", path, { body, headers: headers() }),
        401,
        INVALID_API_KEY,
      );
    }
  });
});

const session = (): Record<string, string> => ({
  Authorization: `Bearer ${fixture.owner.token}`,
  "X-Svc-Organization": fixture.owner.organizationId,
});
const apiKey = (): string => `Bearer ${fixture.keys.test}`;

describe("| `/projects/*` | CLI bearer session plus organization header |", () => {
  const get = (headers: Record<string, string>) =>
    fixture.service.request("GET", "/projects/app/customers", { headers });

  it("with both, it answers", async () => {
    expect((await get(session())).status).toBe(200);
  });

  it("without a session, it does not", async () => {
    expectRefused(await get({ "X-Svc-Organization": fixture.owner.organizationId }), 401, NO_SESSION);
  });

  it("without the organization header, it does not", async () => {
    expectRefused(await get({ Authorization: session()["Authorization"]! }), 400, NO_ORGANIZATION);
  });

  it("with an API key in place of the session, it does not", async () => {
    expectRefused(await get({ ...session(), Authorization: apiKey() }), 401, UNKNOWN_SESSION);
  });
});

describe("| health probes (`/livez`, `/startupz`, `/readyz`, `/health`) | none |", () => {
  it.each(["/livez", "/startupz", "/readyz", "/health"])("%s answers without credentials", async (path) => {
    const { status, body } = await fixture.service.request("GET", path);
    expect({ status, body }).toEqual({ status: 200, body: { status: "ok" } });
  });
});

describe("Two environments per project, `test` and `live`. The API key chosen selects the project and the environment.", () => {
  it.each(["test", "live"] as const)("the %s key stores in %s", async (environment) => {
    const reply = await fixture.single(event, { Authorization: `Bearer ${fixture.keys[environment]}` });
    expectTaken(reply);
    expect(await fixture.storedEvent(reply)).toMatchObject({ environment });
  });

  it("a key of another project stores there", async () => {
    const other = await fixture.admin("POST", "/projects", { body: { name: "Other", slug: "other" } });
    const { keys } = other.body as { keys: { test: string } };
    const reply = await fixture.single(event, { Authorization: `Bearer ${keys.test}` });
    const [row] = await fixture.service.db.sql`
      select project, environment from svc_inspect.events where event_id = ${eventIdOf(reply)}`;
    expect(row).toEqual({ project: "other", environment: "test" });
  });
});
