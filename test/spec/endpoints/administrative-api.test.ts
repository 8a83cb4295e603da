import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hashSnapshot } from "../../../src/model/snapshot/canonical.js";
import { EMPTY_SNAPSHOT } from "../../../src/model/snapshot/types.js";
import { expectRefused } from "../support/answers.js";
import { startSpec, type SpecFixture } from "../support/fixture.js";
import { NO_ORGANIZATION, NO_SESSION, UNKNOWN_ORGANIZATION } from "../support/refusals.js";

// Section "Administrative API `/projects/*`".

let fixture: SpecFixture;
beforeAll(async () => {
  fixture = await startSpec();
});
afterAll(() => fixture.service.stop());

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown;
const EMPTY_PAGE = { data: [], nextCursor: null };

async function answer(method: string, path: string, body?: unknown) {
  const reply = await fixture.admin(method, path, body === undefined ? {} : { body });
  return { status: reply.status, body: reply.body };
}

describe("Covers …", () => {
  it("project creation, with its API keys", async () => {
    expect(await answer("POST", "/projects", { name: "My product", slug: "my-product" })).toEqual({
      status: 201,
      body: {
        project: { slug: "my-product", name: "My product", createdAt: timestamp },
        keys: {
          test: expect.stringMatching(/^svc_test_[0-9a-f]{48}$/) as unknown,
          live: expect.stringMatching(/^svc_live_[0-9a-f]{48}$/) as unknown,
        },
      },
    });
  });

  it("configuration versions", async () => {
    const snapshot = { ...EMPTY_SNAPSHOT, strictSchema: true };
    const hash = hashSnapshot(snapshot);
    expect(await answer("POST", "/projects/app/config-versions?env=live", { snapshot })).toEqual({
      status: 201,
      body: {
        ...{ version: "v1", hash, environment: "live", activated: true, created: true, hasCustomers: false },
        warnings: [],
      },
    });
    expect(await answer("GET", "/projects/app/config-versions")).toEqual({
      status: 200,
      body: {
        data: [
          {
            version: "v1",
            hash,
            author: "owner@acme.example",
            createdAt: timestamp,
            provenance: null,
            active: ["live"],
          },
        ],
        nextCursor: null,
      },
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

describe("Requires `Authorization: Bearer <CLI_SESSION>` and `X-Svc-Organization: <organization_id>`.", () => {
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

  it.each(PATHS)("%s %s without a session", async (method, path) => {
    const headers = { "X-Svc-Organization": fixture.owner.organizationId };
    const reply = await send(method, path, headers);
    expectRefused(reply, 401, NO_SESSION);
    expect(reply.headers.get("WWW-Authenticate")).toBe("Bearer");
  });

  it.each(PATHS)("%s %s without the organization", async (method, path) => {
    const headers = { Authorization: `Bearer ${fixture.owner.token}` };
    expectRefused(await send(method, path, headers), 400, NO_ORGANIZATION);
  });

  it.each(PATHS)("%s %s with the session of another organization", async (method, path) => {
    const other = await fixture.service.owner(`o${method.toLowerCase()}${path.replaceAll(/[^a-z]/g, "")}`);
    const headers = {
      Authorization: `Bearer ${other.token}`,
      "X-Svc-Organization": fixture.owner.organizationId,
    };
    expectRefused(await send(method, path, headers), 404, UNKNOWN_ORGANIZATION);
  });
});
