import { createHash } from "node:crypto";
import { describe, expect, it, onTestFinished } from "vitest";
import { renderInstallation } from "../../src/metrics/installation.js";
import { ProcessMetrics } from "../../src/metrics/process-metrics.js";
import { startLocalServer } from "../../src/local/server.js";
import { EMPTY_SNAPSHOT } from "../../src/model/snapshot/types.js";
import { localEngine } from "../local/support/model.js";
import type { Actor } from "../support/service.js";
import { expectBatchTaken, expectRefused, expectTaken } from "./support/answers.js";
import { useSpec } from "./support/fixture.js";
import { INVALID_API_KEY, notMethod, notOfTrack, UNKNOWN_SESSION } from "./support/refusals.js";

// Section "Authentication".

const METRICS_TOKEN = "the-token-of-the-operator";

const fixture = useSpec({
  metrics: {
    token: METRICS_TOKEN,
    process: new ProcessMetrics({ version: "0.0.0" }),
    installation: () => renderInstallation(null),
  },
});

const event = { customerId: "c", event: "e" };
const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });
const newProject = async (slug: string) => {
  const { body } = await fixture.admin("POST", "/projects", { body: { name: "New", slug } });
  return (body as { keys: { test: string; live: string } }).keys;
};

describe("1. Ingestion: header `Authorization: Bearer <API_KEY>`. The key selects project and environment, `test` or `live`.", () => {
  it.each(["test", "live"] as const)("Prefix `svc_%s_` means the environment of this name.", async (environment) => {
    const key = fixture.keys[environment];
    expect(key).toMatch(new RegExp(`^svc_${environment}_`));
    for (const reply of [await fixture.single(event, bearer(key)), await fixture.batch([event], bearer(key))]) {
      expect(reply.status).toBe(202);
      expect(await fixture.storedEvent(reply)).toMatchObject({ environment });
    }
  });

  it("No request field selects the environment: neither a member of the body, nor the address, nor a header", async () => {
    for (const field of ["environment", "env", "project"]) {
      await fixture.refuses(() => fixture.single({ ...event, [field]: "live" }), 400, notOfTrack(field));
    }
    const reply = await fixture.post("/v1/events?env=live&environment=live", event, { "X-Svc-Environment": "live" });
    expectTaken(reply);
    expect(await fixture.storedEvent(reply)).toMatchObject({ environment: "test" });
  });
});

describe("2. | 401 | `INVALID_API_KEY` | missing, malformed, unknown, or revoked key |", () => {
  const digits = "0".repeat(48);
  const send = async (headers: Record<string, string>) => [
    await fixture.single(event, headers),
    await fixture.batch([event], headers),
  ];
  const isRefused = async (headers: Record<string, string>) => {
    const before = await fixture.stored();
    for (const reply of await send(headers)) {
      expectRefused(reply, 401, INVALID_API_KEY);
      expect(reply.headers.get("WWW-Authenticate")).toBe("Bearer");
    }
    expect(await fixture.stored()).toEqual(before);
  };

  it.each([
    ["missing", ""],
    ["malformed: another scheme", "Basic c3ZjOnN2Yw=="],
    ["malformed: no scheme", `svc_test_${digits}`],
    ["malformed: no key", "Bearer "],
    ["malformed: another prefix", `Bearer svc_prod_${digits}`],
    ["malformed: two keys", `Bearer svc_test_${digits} svc_test_${digits}`],
    ["unknown", `Bearer svc_test_${digits}`],
  ])("%s", (_name, authorization) => isRefused({ Authorization: authorization }));

  it("with the prefix of the other environment; revoked, from that moment on", async () => {
    const { test } = await newProject("revoked");
    await isRefused(bearer(test.replace("svc_test_", "svc_live_")));
    expect((await send(bearer(test))).map(({ status }) => status)).toEqual([202, 202]);
    const hash = createHash("sha256").update(test).digest();
    await fixture.service.db.sql`update svc.api_keys set revoked_at = now() where key_hash = ${hash}`;
    await isRefused(bearer(test));
  });
});

it("3. Keys must stay on servers; they must not be sent to browser or mobile clients: a web page of another origin gets no leave to send events, or to read an answer", async () => {
  const origin = { Origin: "https://shop.example.com" };
  const preflight = await fixture.service.request("OPTIONS", "/v1/events", {
    headers: {
      ...origin,
      "Access-Control-Request-Method": "POST",
      "Access-Control-Request-Headers": "authorization,content-type",
    },
  });
  expectRefused(preflight, 405, notMethod("POST"));
  for (const { headers } of [preflight, await fixture.single(event, origin)]) {
    expect([...headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
  }
});

describe("4. Administrative API: `Authorization: Bearer <CLI_SESSION>` plus header `X-Svc-Organization: <organization_id>`.", () => {
  it("These are user and organization credentials, not ingestion keys.", async () => {
    const by = { token: fixture.keys.live, organizationId: fixture.owner.organizationId };
    expectRefused(await fixture.admin("GET", "/projects/app/customers", { by }), 401, UNKNOWN_SESSION);
    await fixture.refuses(() => fixture.single(event, bearer(fixture.owner.token)), 401, INVALID_API_KEY);
  });

  it("Roles are enforced per operation.", async () => {
    const by: Record<string, Actor> = {};
    for (const role of ["viewer", "developer"]) by[role] = await fixture.service.member(fixture.owner, role);
    expect((await fixture.admin("GET", "/projects/app/customers", { by: by["viewer"]! })).status).toBe(200);
    const versions = "/projects/app/config-versions";
    for (const [role, path, body, needed] of [
      ["viewer", `${versions}?env=test`, { snapshot: EMPTY_SNAPSHOT }, "developer"],
      ["developer", `${versions}?env=live`, { snapshot: EMPTY_SNAPSHOT }, "administrator"],
      ["developer", "/projects", { name: "New", slug: "new" }, "administrator"],
    ] as const) {
      expectRefused(await fixture.admin("POST", path, { by: by[role]!, body }), 403, {
        code: "FORBIDDEN",
        message: `Your role "${role}" may not do this.`,
        reason: `It needs the role "${needed}" or a higher one.`,
        fix: "Ask an owner of the organization for that role, or ask someone who has it to do this.",
      });
    }
  });
});

describe("6. `/metrics` requires an internal bearer token. Health probes (`/livez`, `/startupz`, `/readyz`, `/health`) need none.", () => {
  it("GET /metrics: no token, an API key and an access token are refused", async () => {
    for (const headers of [{}, bearer(fixture.keys.test), bearer(fixture.owner.token)]) {
      const reply = await fixture.service.request("GET", "/metrics", { headers });
      expectRefused(reply, 401, {
        code: "INVALID_METRICS_TOKEN",
        message: "The token for metrics is missing or wrong.",
        fix: "Send the header `Authorization: Bearer <token>` with the value of SVC_METRICS_TOKEN.",
      });
    }
  });

  it("the internal token opens GET /metrics, and probes open without one", async () => {
    const reply = await fetch(`${fixture.service.url}/metrics`, { headers: bearer(METRICS_TOKEN) });
    expect(reply.status).toBe(200);
    expect(await reply.text()).toContain("# TYPE svc_http_requests_total counter\n");
    for (const path of ["/livez", "/startupz", "/readyz", "/health"])
      expect(await fixture.service.request("GET", path), path).toMatchObject({ status: 200, body: { status: "ok" } });
  });
});

it("7. The local engine needs no credentials.", async () => {
  const { engine } = localEngine();
  const server = await startLocalServer({ engine, port: 0, observe: () => undefined, timersFired: () => undefined });
  onTestFinished(() => server.stop());
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ customerId: "c", event: "signed_up" });
  expect((await fetch(`${server.url}/v1/events`, { method: "POST", headers, body })).status).toBe(202);
});

it("8. Keys are printed exactly once at project creation: no later answer holds them, and the service keeps their hashes only.", async () => {
  const keys = await newProject("once");
  expectBatchTaken(await fixture.batch([event], bearer(keys.test)), 1);
  const rows = await fixture.service.db.sql<
    { text: string }[]
  >`select to_jsonb(k)::text as text from svc.api_keys as k`;
  for (const path of ["config-versions", "customers", "webhooks", "overview"]) {
    const { status, body } = await fixture.admin("GET", `/projects/once/${path}`);
    expect(status).toBe(200);
    rows.push({ text: JSON.stringify(body) });
  }
  for (const key of [keys.test, keys.live]) {
    const secret = key.slice("svc_test_".length + 4);
    expect(rows.filter(({ text }) => text.includes(secret))).toEqual([]);
  }
});
