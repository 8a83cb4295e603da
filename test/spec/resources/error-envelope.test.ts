import { beforeAll, expect, it } from "vitest";
import { DOCS_URL, type Reply } from "../../support/service.js";
import { useSpec } from "../support/fixture.js";

// Section "Error envelope". The complete envelope of each code is tested in the sections that raise it.

const fixture = useSpec();
const replies: Record<string, Reply> = {};
const errorOf = (name: string) => (replies[name]!.body as { error: Record<string, unknown> }).error;
const errors = () => Object.keys(replies).map((name) => [name, errorOf(name)] as const);

const track = { customerId: "c", event: "order" };

/** An error answer of each kind. */
beforeAll(async () => {
  await fixture.deploy({
    strictSchema: true,
    events: { order: { properties: { plan: { type: "string", enum: ["free"], optional: true } } } },
  });
  replies["malformed"] = await fixture.post("/v1/events", "{");
  replies["key"] = await fixture.single(track, { Authorization: "" });
  replies["path"] = await fixture.post("/v1/nowhere", track);
  replies["method"] = await fixture.service.request("GET", "/v1/events");
  replies["media type"] = await fixture.single(track, { "Content-Type": "text/plain" });
  replies["body size"] = await fixture.post("/v1/events", " ".repeat(600_000));
  replies["shape"] = await fixture.batch([track, { ...track, idempotencyKey: 5 }]);
  replies["large value"] = await fixture.single({ ...track, customerId: Array(1000).fill("x") });
  replies["schema"] = await fixture.batch([
    { ...track, properties: { plan: "gold", a: 1 } },
    { ...track, event: "e" },
  ]);
});

it.each([
  ["| `error.code` | string | always |", "code", /^[A-Z_]+$/],
  ["| `error.message` | string | always |", "message", /^\S.*\.$/],
  ["| `error.requestId` | string | always |", "requestId", /^req$/],
  ["| `error.fix` | string | may be present | (every refusal of ingestion has it)", "fix", /^\S.*\.$/],
])("%s", (_row, member, pattern) => {
  for (const [name, error] of errors()) expect(error[member], name).toMatch(pattern);
});

it("| `error.docs` | string, `{docs_url}/api#<code>` | may be present |", () => {
  for (const [name, { code, docs }] of errors()) expect(docs, name).toBe(`${DOCS_URL}/api#${String(code)}`);
});

it.each<[row: string, member: string, values: Record<string, unknown>]>([
  [
    "| `error.field` | string (path such as `events[0].properties.<name>`) | only when relevant |",
    "field",
    { shape: "events[1].idempotencyKey", "large value": "customerId", schema: "events[0].properties.plan" },
  ],
  [
    "| `error.value` | any | may be present |: as it was sent; a large value is left out",
    "value",
    { shape: 5, schema: "gold" },
  ],
  [
    "| `error.diagnostics` | array of `{code, message, path}` | only on schema violations; lists all detected paths |",
    "diagnostics",
    { schema: ["events[0].properties.plan", "events[0].properties.a", "events[1].event"].map(diagnostic) },
  ],
])("%s", (_row, member, values) => {
  const present = errors().flatMap(([name, error]) => (member in error ? [[name, error[member]]] : []));
  expect(Object.fromEntries(present)).toEqual(values);
});

function diagnostic(path: string): unknown {
  return { code: expect.stringMatching(/^[A-Z_]+$/) as string, message: expect.stringMatching(/\.$/) as string, path };
}

it("| `error.reason` | string | may be present |", () => {
  for (const [, { reason = "None." }] of errors()) expect(reason).toMatch(/^\S.*\.$/);
  expect(errorOf("schema")["reason"]).toBe('Declared are "free".');
});

it("An envelope holds `error` and nothing beside it, and `error` no other fields.", () => {
  const fields = ["code", "message", "requestId", "field", "value", "reason", "fix", "docs", "diagnostics"];
  for (const [name, error] of errors()) {
    expect(Object.keys(replies[name]!.body as object)).toEqual(["error"]);
    expect(fields, name).toEqual(expect.arrayContaining(Object.keys(error)));
  }
});
