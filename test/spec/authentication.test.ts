import { createHash } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { renderInstallation } from "../../src/metrics/installation.js";
import { ProcessMetrics } from "../../src/metrics/process-metrics.js";
import { startLocalServer } from "../../src/local/server.js";
import { EMPTY_SNAPSHOT } from "../../src/model/snapshot/types.js";
import { localEngine } from "../local/support/model.js";
import type { Actor, Reply } from "../support/service.js";
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

describe("1. Ingestion: header `Authorization: Bearer <API_KEY>`. The key selects project and environment, `test` or `live`.", () => {
  it.each(["test", "live"] as const)("Prefix `svc_%s_` means the environment of this name.", async (environment) => {
    const key = fixture.keys[environment];
    expect(key).toMatch(new RegExp(`^svc_${environment}_`));
    for (const reply of [
      await fixture.single(event, bearer(key)),
      await fixture.post("/v1/events/batch", { events: [event] }, bearer(key)),
    ]) {
      expect(reply.status).toBe(202);
      expect(await fixture.storedEvent(reply)).toMatchObject({ environment });
    }
  });

  it("the prefix alone is not enough: the rest of a test key is no live key", async () => {
    const key = fixture.keys.test.replace("svc_test_", "svc_live_");
    await fixture.refuses(() => fixture.single(event, bearer(key)), 401, INVALID_API_KEY);
  });

  it("No request field selects the environment: neither a member of the body", async () => {
    for (const field of ["environment", "env", "project"]) {
      await fixture.refuses(() => fixture.single({ ...event, [field]: "live" }), 400, notOfTrack(field));
    }
  });

  it("No request field selects the environment: nor the address, nor a header", async () => {
    const reply = await fixture.post("/v1/events?env=live&environment=live", event, { "X-Svc-Environment": "live" });
    expectTaken(reply);
    expect(await fixture.storedEvent(reply)).toMatchObject({ environment: "test" });
  });
});

describe("2. | 401 | `INVALID_API_KEY` | missing, malformed, unknown, or revoked key |", () => {
  const digits = "0".repeat(48);
  const REQUESTS: [endpoint: string, send: (headers: Record<string, string>) => Promise<Reply>][] = [
    ["POST /v1/events", (headers) => fixture.single(event, headers)],
    ["POST /v1/events/batch", (headers) => fixture.batch([event], headers)],
  ];

  describe.each(REQUESTS)("%s", (endpoint, send) => {
    it.each([
      ["missing", ""],
      ["malformed: another scheme", "Basic c3ZjOnN2Yw=="],
      ["malformed: no scheme", `svc_test_${digits}`],
      ["malformed: no key", "Bearer "],
      ["malformed: another prefix", `Bearer svc_prod_${digits}`],
      ["malformed: two keys", `Bearer svc_test_${digits} svc_test_${digits}`],
      ["unknown", `Bearer svc_test_${digits}`],
    ])("%s", async (_name, authorization) => {
      const reply = await fixture.refuses(() => send({ Authorization: authorization }), 401, INVALID_API_KEY);
      expect(reply.headers.get("WWW-Authenticate")).toBe("Bearer");
    });

    it("revoked, from that moment on", async () => {
      const slug = `revoked-${endpoint.length}`;
      const project = await fixture.admin("POST", "/projects", { body: { name: "Revoked", slug } });
      const { test } = (project.body as { keys: { test: string } }).keys;
      expect((await send(bearer(test))).status).toBe(202);
      const hash = createHash("sha256").update(test).digest();
      await fixture.service.db.sql`update svc.api_keys set revoked_at = now() where key_hash = ${hash}`;
      await fixture.refuses(() => send(bearer(test)), 401, INVALID_API_KEY);
    });
  });
});

describe("3. Keys must stay on servers; they must not be sent to browser or mobile clients.", () => {
  it("a web page of another origin cannot send events: no preflight is granted", async () => {
    const reply = await fixture.service.request("OPTIONS", "/v1/events", {
      headers: {
        Origin: "https://shop.example.com",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type",
      },
    });
    expectRefused(reply, 405, notMethod("POST"));
    expect([...reply.headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
  });

  it("nor can it read an answer", async () => {
    const reply = await fixture.single(event, { Origin: "https://shop.example.com" });
    expect([...reply.headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
  });
});

describe("4. Administrative API: `Authorization: Bearer <CLI_SESSION>` plus header `X-Svc-Organization: <organization_id>`.", () => {
  it("These are user and organization credentials, not ingestion keys.", async () => {
    const by = { token: fixture.keys.live, organizationId: fixture.owner.organizationId };
    expectRefused(await fixture.admin("GET", "/projects/app/customers", { by }), 401, UNKNOWN_SESSION);
    await fixture.refuses(() => fixture.single(event, bearer(fixture.owner.token)), 401, INVALID_API_KEY);
  });

  const members: Record<string, Actor> = {};
  beforeAll(async () => {
    for (const role of ["viewer", "developer"]) members[role] = await fixture.service.member(fixture.owner, role);
  });

  it.each([
    ["viewer", "GET", "/projects/app/customers", 200],
    ["viewer", "POST", "/projects/app/config-versions?env=test", 403],
    ["developer", "POST", "/projects/app/config-versions?env=live", 403],
    ["developer", "POST", "/projects", 403],
  ])("Roles are enforced per operation: a %s, %s %s: %i", async (role, method, path, status) => {
    const by = members[role]!;
    const body = path === "/projects" ? { name: "New", slug: "new" } : { snapshot: EMPTY_SNAPSHOT };
    const reply = await fixture.admin(method, path, method === "GET" ? { by } : { by, body });
    if (status === 403) {
      const needed = path.endsWith("env=test") ? "developer" : "administrator";
      expectRefused(reply, 403, {
        code: "FORBIDDEN",
        message: `Your role "${role}" may not do this.`,
        reason: `It needs the role "${needed}" or a higher one.`,
        fix: "Ask an owner of the organization for that role, or use the token of somebody who has it.",
      });
    } else expect(reply.status).toBe(status);
  });
});

describe("6. `/metrics` requires an internal bearer token. Health probes (`/livez`, `/startupz`, `/readyz`, `/health`) need none.", () => {
  it("GET /metrics: no token, an API key and an access token are refused", async () => {
    for (const headers of [{}, bearer(fixture.keys.test), bearer(fixture.owner.token)]) {
      const reply = await fixture.service.request("GET", "/metrics", { headers });
      expectRefused(reply, 401, {
        code: "INVALID_METRICS_TOKEN",
        message: "The token for metrics is missing or is not the service's.",
        fix: "Send the header `Authorization: Bearer <token>` with the value of SVC_METRICS_TOKEN.",
      });
    }
  });

  it("GET /metrics: the internal token opens it", async () => {
    const reply = await fetch(`${fixture.service.url}/metrics`, { headers: bearer(METRICS_TOKEN) });
    expect(reply.status).toBe(200);
    expect(await reply.text()).toContain("# TYPE svc_http_requests_total counter\n");
  });

  it.each(["/livez", "/startupz", "/readyz", "/health"])("GET %s", async (path) => {
    const { status, body } = await fixture.service.request("GET", path);
    expect({ status, body }).toEqual({ status: 200, body: { status: "ok" } });
  });
});

it("7. The local engine needs no credentials.", async () => {
  const { engine } = localEngine();
  const server = await startLocalServer({ engine, port: 0, observe: () => undefined, timersFired: () => undefined });
  try {
    const response = await fetch(`${server.url}/v1/events`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ customerId: "c", event: "signed_up" }),
    });
    expect(response.status).toBe(202);
  } finally {
    await server.stop();
  }
});

describe("8. Keys are printed exactly once at project creation.", () => {
  it("no later answer holds them, and the service keeps their hashes only", async () => {
    const created = await fixture.admin("POST", "/projects", { body: { name: "Once", slug: "once" } });
    const { keys } = created.body as { keys: { test: string; live: string } };
    expectBatchTaken(await fixture.batch([event], bearer(keys.test)), 1);
    const { sql } = fixture.service.db;
    for (const key of [keys.test, keys.live]) {
      const secret = key.slice("svc_test_".length + 4);
      for (const path of ["config-versions", "customers", "webhooks", "overview"]) {
        const reply = await fixture.admin("GET", `/projects/once/${path}`);
        expect(reply.status).toBe(200);
        expect(JSON.stringify(reply.body)).not.toContain(secret);
      }
      const rows = await sql`select to_jsonb(k)::text as row from svc.api_keys as k`;
      expect(rows.filter(({ row }) => (row as string).includes(secret))).toEqual([]);
    }
  });
});
