import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startService, type Actor, type Service } from "../../../support/service.js";
import { join, sessionOf } from "./support.js";

let service: Service;
let acme: Actor;
let beta: Actor;
beforeAll(async () => {
  service = await startService();
  acme = await service.owner("acme");
  beta = await service.owner("beta");
  await service.owner("gamma");
  await join(service, "owner@acme.example", beta.organizationId, "viewer");
});
afterAll(() => service.stop());

/** Without the organization's header. */
const list = (token: string, query = "") =>
  service.request("GET", `/organizations${query}`, { headers: { Authorization: `Bearer ${token}` } });

describe("GET /organizations", () => {
  it("lists the organizations of the user by slug, in pages, without the organization's header", async () => {
    const { token } = await sessionOf(service, "owner@acme.example", acme.organizationId);
    const reply = await list(token);
    expect(reply.status).toBe(200);
    const data = [
      { id: acme.organizationId, slug: "acme", role: "owner" },
      { id: beta.organizationId, slug: "beta", role: "viewer" },
    ];
    expect(reply.body).toEqual({ data, nextCursor: null });
    const first = (await list(token, "?limit=1")).body as { data: unknown[]; nextCursor: string };
    expect(first.data).toEqual(data.slice(0, 1));
    expect((await list(token, `?limit=1&cursor=${first.nextCursor}`)).body).toEqual({
      data: data.slice(1),
      nextCursor: null,
    });
  });

  it("lists the one organization of a headless token, with what the token may do", async () => {
    expect((await list(acme.token)).body).toEqual({
      data: [{ id: acme.organizationId, slug: "acme", role: "owner" }],
      nextCursor: null,
    });
    const { body } = await service.request("POST", "/organization/tokens", {
      by: acme,
      body: { label: "reader", role: "viewer" },
    });
    expect((await list((body as { accessToken: string }).accessToken)).body).toEqual({
      data: [{ id: acme.organizationId, slug: "acme", role: "viewer" }],
      nextCursor: null,
    });
  });

  it("is empty for a user who was removed everywhere", async () => {
    const alone = await service.owner("alone");
    const { token } = await sessionOf(service, "owner@alone.example", alone.organizationId);
    await service.db.sql`delete from iam.memberships where organization_id = ${alone.organizationId}`;
    expect((await list(token)).body).toEqual({ data: [], nextCursor: null });
  });

  it("does not care which organization the header names", async () => {
    const reply = await service.request("GET", "/organizations", { by: { ...acme, organizationId: "x".repeat(300) } });
    expect(reply.status).toBe(200);
  });
});
