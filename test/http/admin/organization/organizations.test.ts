import { beforeAll, describe, expect, it } from "vitest";
import type { Actor } from "../../../support/service.js";
import { pages, useApi, type Page } from "../support/api.js";
import { join, sessionOf } from "./support.js";

const api = useApi("none");
let beta: Actor;
beforeAll(async () => {
  beta = await api.service.owner("beta");
  await api.service.owner("gamma");
  await join(api.service, "owner@acme.example", beta.organizationId, "viewer");
});

/** Without the organization's header. */
const list = async (token: string, query = "") => {
  const headers = { Authorization: `Bearer ${token}` };
  const { status, body } = await api.service.request("GET", `/organizations?${query}`, { headers });
  expect(status).toBe(200);
  return body as Page<object>;
};
const acme = (role: string) => ({ id: api.owner.organizationId, slug: "acme", role });

describe("GET /organizations", () => {
  it("lists the organizations of the user by slug, in pages, without the organization's header", async () => {
    const { token } = await sessionOf(api.service, "owner@acme.example", api.owner.organizationId);
    const data = [acme("owner"), { id: beta.organizationId, slug: "beta", role: "viewer" }];
    expect(await list(token)).toEqual({ data, nextCursor: null });
    expect(await pages((query) => list(token, query), "", 1)).toEqual({ items: data, sizes: [1, 1] });
  });

  it("lists the one organization of a headless token, with what the token may do", async () => {
    expect(await list(api.owner.token)).toEqual({ data: [acme("owner")], nextCursor: null });
    const { body } = await api.organization("POST", "/tokens", { label: "reader", role: "viewer" });
    const { accessToken } = body as { accessToken: string };
    expect(await list(accessToken)).toEqual({ data: [acme("viewer")], nextCursor: null });
  });

  it("is empty for a user who was removed everywhere", async () => {
    const { organizationId } = await api.service.owner("alone");
    const { token } = await sessionOf(api.service, "owner@alone.example", organizationId);
    await api.sql`delete from iam.memberships where organization_id = ${organizationId}`;
    expect(await list(token)).toEqual({ data: [], nextCursor: null });
  });

  it("does not care which organization the header names", async () => {
    const by = { ...api.owner, organizationId: "x".repeat(300) };
    expect(await api.service.request("GET", "/organizations", { by })).toMatchObject({ status: 200 });
  });
});
