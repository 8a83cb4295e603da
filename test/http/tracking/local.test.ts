import { expect, onTestFinished, test } from "vitest";
import { startLocalServer } from "../../../src/local/server.js";
import { EMPTY_SNAPSHOT } from "../../../src/model/snapshot/types.js";
import { localEngine } from "../../local/support/model.js";
import { useIngest } from "../ingest/fixture.js";

const fixture = await useIngest();

const CALLS: [path: string, body: unknown][] = [
  ["/v1/track", { userId: "a", event: "Signed Up", messageId: "1" }],
  ["/v1/track", { userId: "a", event: "Signed Up", messageId: "1", timestamp: "2026-01-01T00:00:00Z" }],
  ["/v1/track", { userId: "a", event: "Signed Up", messageId: "", properties: { plan: 7 } }],
  ["/v1/track", { userId: "a", event: "Nothing of the model" }],
  ["/v1/track", { event: "Signed Up" }],
  ["/v1/track", { userId: "a\u0000", event: "Signed Up" }],
  ["/v1/track", { userId: "a", event: "Signed Up", context: { page: "\ud800" } }],
  ["/v1/track", '{"userId":"a","event":"Signed Up","properties":{"n":1e400}}'],
  ["/v1/track", { userId: "a", event: "Signed Up", timestamp: "0000-12-31T23:00:00-02:00" }],
  ["/v1/page", { userId: "a", name: "Home" }],
  ["/v1/screen", { userId: "a", name: "Start" }],
  ["/v1/identify", { userId: "a", traits: { plan: "pro" }, messageId: "2" }],
  ["/v1/identify", { userId: "a", traits: { plan: 7 } }],
  ["/v1/group", { groupId: "g", traits: { plan: "pro" } }],
  ["/v1/alias", { userId: "a", previousId: "b" }],
  ["/v1/alias", "a"],
  ["/v1/batch", { batch: [] }],
  ["/v1/batch", { batch: {} }],
  ["/v1/batch", "{"],
  ["/v1/batch", { batch: [{ type: "track", properties: new Array(50_000).fill(0) }] }],
  [
    "/v1/batch",
    {
      batch: [
        { type: "track", userId: "a", event: "Start", messageId: "3" },
        { type: "track", userId: "a", event: "Start", messageId: "3", properties: {} },
        { type: "alias", userId: "a", previousId: "b" },
        { type: "nothing", userId: "a" },
        { type: "track", userId: "a", event: "Nothing of the model" },
        { type: "track", userId: "a", event: "Start", timestamp: "soon" },
        7,
      ],
    },
  ],
];

test.each([true, false])(
  "the local engine answers calls as the service does, strict schema %s",
  async (strictSchema) => {
    const snapshot = {
      ...EMPTY_SNAPSHOT,
      strictSchema,
      events: { signed_up: { properties: { plan: { type: "string", optional: true } } } },
      traits: { plan: { type: "string" } },
      tracking: { customer: ["userId"], events: { Start: "signed_up" } },
    } as const satisfies typeof EMPTY_SNAPSHOT;
    await fixture.deploy(snapshot);
    const { engine } = localEngine(snapshot);
    const local = await startLocalServer({ engine, port: 0, observe: () => undefined, timersFired: () => undefined });
    onTestFinished(() => local.stop());
    const headers = { Authorization: `Basic ${Buffer.from(`${fixture.keys.test}:`).toString("base64")}` };

    for (const [path, body] of CALLS) {
      const text = typeof body === "string" ? body : JSON.stringify(body);
      const service = await fixture.service.request("POST", path, { body: text, headers });
      const localResponse = await fetch(local.url + path, { method: "POST", body: text });
      const answer = [localResponse.status, comparable(await localResponse.json())];
      expect(answer, text.slice(0, 200)).toEqual([service.status, comparable(service.body)]);
    }
  },
);

/** The comparable answer: request ids differ, and the local engine has longer fixes and no documentation links. */
function comparable(body: unknown): unknown {
  const { error } = body as { error?: Record<string, unknown> };
  if (error === undefined) return body;
  const { requestId: _, fix: __, docs: ___, ...answer } = error;
  return answer;
}
