import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DOCS_URL, type Reply } from "../../support/service.js";
import { setAllowance } from "../support/allowance.js";
import { startSpec, type SpecFixture } from "../support/fixture.js";

// Section "Error envelope". What each code's envelope holds, whole, is in the files of the sections that raise it.

let fixture: SpecFixture;
const replies: Record<string, Reply> = {};
const errorOf = (name: string) => (replies[name]!.body as { error: Record<string, unknown> }).error;
const names = () => Object.keys(replies);

const track = { customerId: "c", event: "order" };
const SCHEMA = ["schema, single", "schema, batch", "schema, all paths"];

/** One answer of each kind of refusal. */
beforeAll(async () => {
  fixture = await startSpec();
  const single = (...request: Parameters<SpecFixture["single"]>) => fixture.single(...request);
  const batch = (...request: Parameters<SpecFixture["batch"]>) => fixture.batch(...request);
  const post = (...request: Parameters<SpecFixture["post"]>) => fixture.post(...request);
  const keep = async (name: string, reply: Promise<Reply>) => void (replies[name] = await reply);
  await fixture.deploy({
    strictSchema: true,
    events: { order: { properties: { plan: { type: "string", enum: ["free"], optional: true } } } },
  });
  await keep("malformed", post("/v1/events", "{"));
  await keep("shape, single", single({ ...track, customerId: 5 }));
  await keep("shape, batch", batch([track, { ...track, idempotencyKey: "" }]));
  await keep("large value", single({ ...track, customerId: Array(1000).fill("x") }));
  await keep("batch size", batch([]));
  await keep("key", single(track, { Authorization: "" }));
  await keep("path", post("/v1/nowhere", track));
  await keep("method", fixture.service.request("GET", "/v1/events"));
  await keep("media type", single(track, { "Content-Type": "text/plain" }));
  await keep("body size", post("/v1/events", " ".repeat(600_000)));
  await single({ ...track, idempotencyKey: "k" });
  await keep("conflict", single({ ...track, customerId: "other", idempotencyKey: "k" }));
  await keep("schema, single", single({ ...track, properties: { plan: "gold" } }));
  await keep("schema, batch", batch([track, { ...track, properties: { plan: "gold" } }]));
  await keep(
    "schema, all paths",
    batch([
      { ...track, properties: { plan: "gold", a: 1 } },
      { ...track, event: "e" },
    ]),
  );
  await setAllowance(fixture, { perSecond: 1, left: 0 });
  await keep("rate", single(track));
  await fixture.service.db.sql`update iam.plans set cloud_execution = false`;
  await keep("plan", single(track));
});
afterAll(() => fixture.service.stop());

it("| `error.code` | string | always |", () => {
  for (const name of names()) expect([name, errorOf(name)["code"]]).toEqual([name, expect.stringMatching(/^[A-Z_]+$/)]);
});

it("| `error.message` | string | always |", () => {
  for (const name of names())
    expect([name, errorOf(name)["message"]]).toEqual([name, expect.stringMatching(/^\S.*\.$/)]);
});

it("| `error.requestId` | string | always |", () => {
  for (const name of names()) expect([name, errorOf(name)["requestId"]]).toEqual([name, "req"]);
});

describe("| `error.field` | string (path such as `events[0].properties.<name>`) | only when relevant |", () => {
  it.each([
    ["shape, single", "customerId"],
    ["shape, batch", "events[1].idempotencyKey"],
    ["large value", "customerId"],
    ["batch size", "events"],
    ["conflict", "idempotencyKey"],
    ["schema, single", "properties.plan"],
    ["schema, batch", "events[1].properties.plan"],
    ["schema, all paths", "events[0].properties.plan"],
  ])("%s: %s", (name, field) => {
    expect(errorOf(name)["field"]).toBe(field);
  });

  it.each(["malformed", "key", "plan", "path", "method", "media type", "body size", "rate"])("%s: absent", (name) => {
    expect(errorOf(name)).not.toHaveProperty("field");
  });
});

describe("| `error.value` | any | may be present |", () => {
  it.each([
    ["shape, single", 5],
    ["conflict", "k"],
    ["schema, batch", "gold"],
  ])("%s: %j, as it was sent", (name, value) => {
    expect(errorOf(name)["value"]).toBe(value);
  });

  it("a large value is left out", () => {
    expect(errorOf("large value")).not.toHaveProperty("value");
  });
});

it("| `error.reason` | string | may be present |", () => {
  for (const name of names().filter((each) => "reason" in errorOf(each))) {
    expect([name, errorOf(name)["reason"]]).toEqual([name, expect.stringMatching(/^\S.*\.$/)]);
  }
  expect(errorOf("schema, single")["reason"]).toBe('Declared are "free".');
});

it("| `error.fix` | string | may be present | (every refusal of ingestion has it)", () => {
  for (const name of names()) expect([name, errorOf(name)["fix"]]).toEqual([name, expect.stringMatching(/^\S.*\.$/)]);
});

it("| `error.docs` | string, `{docs_url}/api#<code>` | may be present |", () => {
  for (const name of names()) {
    expect([name, errorOf(name)["docs"]]).toEqual([name, `${DOCS_URL}/api#${String(errorOf(name)["code"])}`]);
  }
});

describe("| `error.diagnostics` | array of `{code, message, path}` | only on schema violations; lists all detected paths |", () => {
  it("on schema violations, all paths in order", () => {
    expect(errorOf("schema, all paths")["diagnostics"]).toEqual([
      {
        code: "INVALID_PROPERTY_ENUM",
        message: 'The value of the property "plan" must be one of the declared ones.',
        path: "events[0].properties.plan",
      },
      {
        code: "UNKNOWN_PROPERTY",
        message: 'The event "order" has no property "a".',
        path: "events[0].properties.a",
      },
      {
        code: "UNKNOWN_EVENT",
        message: 'The event "e" is not declared by the active configuration.',
        path: "events[1].event",
      },
    ]);
  });

  it("only there", () => {
    expect(names().filter((name) => "diagnostics" in errorOf(name))).toEqual(SCHEMA);
  });
});

it("An envelope holds `error` and nothing beside it, and `error` no other fields.", () => {
  const fields = ["code", "message", "requestId", "field", "value", "reason", "fix", "docs", "diagnostics"];
  for (const name of names()) {
    expect(Object.keys(replies[name]!.body as object)).toEqual(["error"]);
    expect([name, Object.keys(errorOf(name)).filter((field) => !fields.includes(field))]).toEqual([name, []]);
  }
});
