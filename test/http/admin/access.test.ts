import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  envelope,
  snapshot,
  startService,
  type Actor,
  type RequestOptions,
  type Service,
} from "../../support/service.js";

let service: Service;
const actors: Record<string, Actor> = {};
let webhook: string;
const WEBHOOK = { url: "https://example.com/hook", eventTypes: ["*"] };

beforeAll(async () => {
  service = await startService();
  const owner = await service.owner("acme");
  actors["owner"] = owner;
  for (const role of ["administrator", "developer", "viewer"]) actors[role] = await service.member(owner, role);
  actors["foreigner"] = await service.owner("foreign");
  await service.request("POST", "/projects", { by: owner, body: { name: "App", slug: "app" } });
  await service.request("POST", "/projects/app/config-versions?env=test", {
    by: owner,
    body: { snapshot: snapshot() },
  });
  await service.db.sql`insert into svc.customers (environment_id, customer_id, created_at)
    select environment_id, 'c', now() from svc.environments where name = 'test'`;
  const reply = await service.request("POST", "/projects/app/webhooks?env=test", { by: owner, body: WEBHOOK });
  webhook = (reply.body as { id: string }).id;
});
afterAll(() => service.stop());

const READS = [
  "/projects/app/overview",
  "/projects/app/config-versions",
  "/projects/app/customers",
  "/projects/app/customers/c",
  "/projects/app/customers/c/timeline",
  "/projects/app/segments/paying",
  "/projects/app/schema-violations",
  "/projects/app/webhooks",
  "/projects/app/webhooks/:webhook/deliveries",
];
let created = 0;
/** Each with the least role that may do it. */
const WRITES: [path: string, role: string, body: () => unknown][] = [
  ["/projects", "administrator", () => ({ name: "New", slug: `new-${++created}` })],
  ["/projects/app/config-versions?env=test", "developer", () => ({ snapshot: snapshot() })],
  ["/projects/app/config-versions?env=live", "administrator", () => ({ snapshot: snapshot() })],
  ["/projects/app/webhooks?env=test", "administrator", () => WEBHOOK],
  ["/projects/app/webhooks?env=live", "administrator", () => WEBHOOK],
];
const ROLES = ["viewer", "developer", "administrator", "owner"];

describe.each(ROLES)("a %s", (role) => {
  it.each(["/whoami", ...READS])("may GET %s", async (path) => {
    const reply = await service.request("GET", path.replace(":webhook", webhook), { by: actors[role]! });
    expect(reply.status).toBe(200);
  });

  it.each(WRITES)("may POST %s only from the role %s up", async (path, required, body) => {
    const reply = await service.request("POST", path, { by: actors[role]!, body: body() });
    if (ROLES.indexOf(role) >= ROLES.indexOf(required)) expect([200, 201]).toContain(reply.status);
    else {
      expect(reply.status).toBe(403);
      expect(reply.body).toEqual(
        envelope("FORBIDDEN", `Your role "${role}" may not do this.`, {
          reason: `It needs the role "${required}" or a higher one.`,
          fix: "Ask an owner of the organization for that role, or use the token of somebody who has it.",
        }),
      );
    }
  });
});

describe("another organization's project", () => {
  it.each(READS)("does not exist for GET %s", async (path) => {
    const reply = await service.request("GET", path.replace(":webhook", webhook), { by: actors["foreigner"]! });
    expect(reply.status).toBe(404);
    expect(reply.body).toEqual(envelope("PROJECT_NOT_FOUND", 'There is no project "app" in this organization.'));
  });

  it.each(WRITES.filter(([path]) => path !== "/projects"))("does not exist for POST %s", async (path, _role, body) => {
    const reply = await service.request("POST", path, { by: actors["foreigner"]!, body: body() });
    expect(reply.status).toBe(404);
    expect(reply.body).toEqual(envelope("PROJECT_NOT_FOUND", 'There is no project "app" in this organization.'));
  });
});

describe("credentials", () => {
  const INVALID = "The access token is missing, unknown, expired or revoked.";
  const everywhere = [
    ["GET", "/whoami"],
    ...READS.map((path) => ["GET", path]),
    ...WRITES.map(([path]) => ["POST", path]),
  ] as [string, string][];
  const optionsFor = (method: string): RequestOptions => (method === "POST" ? { body: {} } : {});

  it.each(everywhere)("are required by %s %s", async (method, path) => {
    const reply = await service.request(method, path, optionsFor(method));
    expect(reply.status).toBe(401);
    expect(reply.headers.get("WWW-Authenticate")).toBe("Bearer");
    expect(reply.body).toEqual(
      envelope("INVALID_SESSION", INVALID, { fix: "Send the header Authorization: Bearer <token>." }),
    );
  });

  it.each(everywhere)("that are unknown are refused by %s %s", async (method, path) => {
    const by = { ...actors["owner"]!, token: "svc_token_unknown" };
    const reply = await service.request(method, path, { ...optionsFor(method), by });
    expect(reply.status).toBe(401);
    expect(reply.body).toEqual(envelope("INVALID_SESSION", INVALID));
  });

  it("need the organization's header", async () => {
    const reply = await service.request("GET", "/whoami", {
      headers: { Authorization: `Bearer ${actors["owner"]!.token}` },
    });
    expect(reply.status).toBe(400);
    expect(reply.body).toEqual(
      envelope("ORGANIZATION_REQUIRED", "The header X-Svc-Organization is required.", {
        fix: "Send the organization's ID in it.",
      }),
    );
  });

  it("are good for their own organization only", async () => {
    const by = { ...actors["owner"]!, organizationId: actors["foreigner"]!.organizationId };
    const foreign = await service.request("GET", "/whoami", { by });
    expect(foreign.status).toBe(404);
    expect(foreign.body).toEqual(
      envelope("ORGANIZATION_NOT_FOUND", "There is no such organization, or it is not one of yours."),
    );
    const unknown = { ...by, organizationId: "org_unknown" };
    expect((await service.request("GET", "/whoami", { by: unknown })).body).toEqual(foreign.body);
  });

  it.each(["Basic abc", "Bearer", "Bearer a b", "Bearer é", `Bearer ${"x".repeat(513)}`])(
    "of another form are refused: %s",
    async (authorization) => {
      const headers = { Authorization: authorization, "X-Svc-Organization": actors["owner"]!.organizationId };
      expect((await service.request("GET", "/whoami", { headers })).status).toBe(401);
    },
  );

  it.each([
    ["expired", "expires_at = now()"],
    ["revoked", "revoked_at = now()"],
  ])("that are %s stop at once", async (what, change) => {
    const by = await service.owner(`stops-${what}`);
    expect((await service.request("GET", "/whoami", { by })).status).toBe(200);
    await service.db.sql.unsafe(
      `update iam.access_tokens set ${change} where organization_id = '${by.organizationId}'`,
    );
    const reply = await service.request("GET", "/whoami", { by });
    expect(reply.status).toBe(401);
    expect(reply.body).toEqual(envelope("INVALID_SESSION", INVALID));
  });

  it("come before the body: an unknown client's is not read", async () => {
    const by = { ...actors["owner"]!, token: "svc_token_unknown" };
    const reply = await service.request("POST", "/projects", { by, body: "{" });
    expect(reply.status).toBe(401);
  });
});
