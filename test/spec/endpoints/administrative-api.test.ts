import { describe, expect, it } from "vitest";
import { hashSnapshot } from "../../../src/model/snapshot/canonical.js";
import { EMPTY_SNAPSHOT, type Snapshot } from "../../../src/model/snapshot/types.js";
import { expectRefused } from "../support/answers.js";
import { useSpec } from "../support/fixture.js";
import { NO_ORGANIZATION, NO_SESSION, UNKNOWN_ORGANIZATION } from "../support/refusals.js";

// Section "Administrative API `/projects/*`".

const fixture = useSpec();

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown;
const EMPTY_PAGE = { data: [], nextCursor: null };

async function answer(method: string, path: string, body?: unknown) {
  const reply = await fixture.admin(method, path, body === undefined ? {} : { body });
  return { status: reply.status, body: reply.body };
}

describe("Covers …", () => {
  it("project creation, with its API keys", async () => {
    const project = { name: "My product", slug: "my-product" };
    const key = (environment: string) => expect.stringMatching(`^svc_${environment}_[0-9a-f]{48}$`) as unknown;
    expect(await answer("POST", "/projects", project)).toEqual({
      status: 201,
      body: { project: { ...project, createdAt: timestamp }, keys: { test: key("test"), live: key("live") } },
    });
  });

  it("configuration versions: Configuration is deployed as immutable versions (identifiers look like `v1`, `v2`).", async () => {
    const deploy = (snapshot: Snapshot) => answer("POST", "/projects/app/config-versions?env=live", { snapshot });
    const deployed = (version: string, hash: string, created: boolean) => ({
      status: 201,
      body: { version, hash, environment: "live", activated: created, created, hasCustomers: false, warnings: [] },
    });
    const kept = (version: string, hash: string, active: string[]) => {
      return { version, hash, author: "owner@acme.example", createdAt: timestamp, provenance: null, active };
    };
    const models = [EMPTY_SNAPSHOT, { ...EMPTY_SNAPSHOT, strictSchema: true }] as const;
    const [first, second] = models.map(hashSnapshot) as [string, string];
    expect(await deploy(models[0])).toEqual(deployed("v1", first, true));
    expect(await deploy(models[1])).toEqual(deployed("v2", second, true));
    // Deploying the active model again creates no version.
    expect(await deploy(models[1])).toMatchObject({ body: { version: "v2", created: false } });
    expect(await answer("GET", "/projects/app/config-versions")).toEqual({
      status: 200,
      body: { data: [kept("v2", second, ["live"]), kept("v1", first, [])], nextCursor: null },
    });
  });

  it("customer inspection", async () => {
    await fixture.single({ customerId: "inspected", event: "e", timestamp: "2026-03-02T10:00:00Z" });
    await fixture.evaluate();
    expect(await answer("GET", "/projects/app/customers/inspected")).toEqual({
      status: 200,
      body: {
        customerId: "inspected",
        environment: "test",
        createdAt: timestamp,
        lastEventAt: "2026-03-02T10:00:00.000Z",
        evaluatedThrough: timestamp,
        configVersion: null,
        traits: {},
        lifecycle: null,
        lifecycleEnteredAt: null,
        segments: [],
        health: null,
        journeys: [],
        signals: [],
        nextDueAt: null,
      },
    });
  });

  it("diagnostics", async () => {
    expect(await answer("GET", "/projects/app/schema-violations")).toEqual({ status: 200, body: EMPTY_PAGE });
  });

  it("webhooks", async () => {
    const webhook = { url: "https://hooks.example.com/svc", eventTypes: ["customer.*"] };
    const created = await answer("POST", "/projects/app/webhooks", webhook);
    expect(created).toMatchObject({
      status: 201,
      body: {
        id: expect.stringMatching(/^whk_[0-9a-f]{20}$/) as unknown,
        ...webhook,
        secret: expect.stringMatching(/^whsec_\S+$/) as unknown,
        createdAt: timestamp,
      },
    });
    const { id } = created.body as { id: string };
    const listed = await answer("GET", "/projects/app/webhooks");
    expect(listed).toMatchObject({ status: 200, body: { data: [{ id, ...webhook }] } });
    expect(JSON.stringify(listed)).not.toContain("whsec_");
    expect(await answer("GET", `/projects/app/webhooks/${id}/deliveries`)).toEqual({ status: 200, body: EMPTY_PAGE });
  });
});

describe("| `/projects/*` | CLI bearer session plus organization header |: Requires `Authorization: Bearer <CLI_SESSION>` and `X-Svc-Organization: <organization_id>`.", () => {
  const PATHS: [string, string][] = [
    ["POST", "/projects"],
    ["POST", "/projects/app/config-versions"],
    ["GET", "/projects/app/config-versions"],
    ["GET", "/projects/app/customers"],
    ["GET", "/projects/app/customers/c"],
    ["GET", "/projects/app/schema-violations"],
    ["POST", "/projects/app/webhooks"],
    ["GET", "/projects/app/webhooks"],
  ];
  const send = (method: string, path: string, headers: Record<string, string>) =>
    fixture.service.request(method, path, { headers, ...(method === "POST" && { body: {} }) });

  it.each(PATHS)(
    "%s %s without a session, without the organization, and with the session of another one",
    async (method, path) => {
      const organization = { "X-Svc-Organization": fixture.owner.organizationId };
      const reply = await send(method, path, organization);
      expectRefused(reply, 401, NO_SESSION);
      expect(reply.headers.get("WWW-Authenticate")).toBe("Bearer");
      const session = { Authorization: `Bearer ${fixture.owner.token}` };
      expectRefused(await send(method, path, session), 400, NO_ORGANIZATION);
      const other = await fixture.service.owner(`o${method.toLowerCase()}${path.replaceAll(/[^a-z]/g, "")}`);
      const foreign = { ...organization, Authorization: `Bearer ${other.token}` };
      expectRefused(await send(method, path, foreign), 404, UNKNOWN_ORGANIZATION);
    },
  );
});
