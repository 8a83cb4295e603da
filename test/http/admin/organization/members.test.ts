import { beforeAll, describe, expect, it } from "vitest";
import type { Actor } from "../../../support/service.js";
import { INSTANT, invalid, type Page, pages, refused, useApi } from "../support/api.js";
import { atOnce, auditOf, entryOf, join, sessionOf, userIdOf, waitingRequests } from "./support.js";

const api = useApi("none");

const change = (by: Actor, userId: string, role: unknown) =>
  api.organization("PATCH", `/members/${userId}`, { role }, by);
const remove = (by: Actor, userId: string) => api.organization("DELETE", `/members/${userId}`, undefined, by);
const demote = (by: Actor, userId: string) => change(by, userId, "viewer");
const whoami = async (by: Actor) => (await api.service.request("GET", "/whoami", { by })).status;
const LAST_OWNER = refused(409, "LAST_OWNER");

async function memberOf(email: string, organizationId: string) {
  return { userId: await userIdOf(api.service, email), by: await sessionOf(api.service, email, organizationId) };
}

/** Creates an organization with two owners, each with a session. */
async function twoOwners(slug: string) {
  const { organizationId } = await api.service.owner(slug);
  await api.service.owner(`${slug}-second`);
  const second = `owner@${slug}-second.example`;
  await join(api.service, second, organizationId, "owner");
  const first = await memberOf(`owner@${slug}.example`, organizationId);
  return { organizationId, first, second: await memberOf(second, organizationId) };
}

const ownersOf = (organizationId: string) =>
  api.sql`select from iam.memberships where organization_id = ${organizationId} and role = 'owner'`;

/** Creates an organization with its owner and a viewer. */
async function withViewer(slug: string) {
  const owner = await api.service.owner(slug);
  const viewer = await api.service.member(owner, "viewer");
  const email = `viewer@${owner.organizationId}.example`;
  return { owner, viewer, email, userId: await userIdOf(api.service, email) };
}

it("GET /organization/members lists the members by address, in pages", async () => {
  const { viewer, email, userId } = await withViewer("listed");
  const list = async (query: string) =>
    (await api.organization("GET", `/members?${query}`, undefined, viewer)).body as Page<object>;
  const owner = { userId: await userIdOf(api.service, "owner@listed.example"), email: "owner@listed.example" };
  const items = [
    { ...owner, role: "owner", createdAt: INSTANT },
    { userId, email, role: "viewer", createdAt: INSTANT },
  ];
  expect(await pages(list, "", 1)).toEqual({ items, sizes: [1, 1] });
});

it("PATCH /organization/members/:userId gives a member another role, effective at its next request, and is recorded if the role differs", async () => {
  const { owner, viewer, email, userId } = await withViewer("changed");
  const before = await auditOf(api.service, owner.organizationId);
  const changed = { userId, email, role: "administrator", createdAt: INSTANT };
  for (const _ of ["to another", "to the same"])
    expect(await change(owner, userId, "administrator")).toMatchObject({ status: 200, body: changed });
  expect((await api.organization("GET", "/audit-log", undefined, viewer)).status).toBe(200);
  const details = { email, before: "viewer", after: "administrator" };
  const entry = entryOf("member.role_changed", userId, details, "changed");
  expect(await auditOf(api.service, owner.organizationId)).toEqual([...before, entry]);
  for (const role of [undefined, "root", 4, ["owner"], null])
    expect(await change(owner, userId, role)).toMatchObject(invalid("role"));
});

describe.each([
  ["demoted", demote, 403],
  // A request of an actor removed meanwhile gets the answer that it would get afterwards.
  ["removed", remove, 404],
] as const)("a member who is %s", (what, end, late) => {
  const outcome = async (organizationId: string, requests: Parameters<typeof atOnce>[2]) => {
    const replies = await atOnce(api.service, organizationId, requests);
    expect(await ownersOf(organizationId)).toHaveLength(1);
    return replies.map(({ status, body }) => ({ status, body })).sort((a, b) => a.status - b.status);
  };

  it("is not the last owner", async () => {
    const owner = await api.service.owner(`last-${what}`);
    await api.service.member(owner, "administrator");
    expect(await end(owner, await userIdOf(api.service, `owner@last-${what}.example`))).toMatchObject(LAST_OWNER);
  });

  it("is not the last owner if two owners do that to themselves at once", async () => {
    const { organizationId, first, second } = await twoOwners(`both-${what}`);
    const requests = [() => end(first.by, first.userId), () => end(second.by, second.userId)];
    expect(await outcome(organizationId, requests)).toMatchObject([{ status: 200 }, LAST_OWNER]);
  });

  it("is one of two owners if both do that to each other at once", async () => {
    const { organizationId, first, second } = await twoOwners(`each-${what}`);
    const requests = [() => end(first.by, second.userId), () => end(second.by, first.userId)];
    expect(await outcome(organizationId, requests)).toMatchObject([{ status: 200 }, { status: late }]);
  });

  it("loses its open invitations, by which an owner could return", async () => {
    const { organizationId, first, second } = await twoOwners(`invites-${what}`);
    for (const { by } of [first, second]) {
      const body = { email: `friend-of-${by === first.by ? "first" : "second"}@example.com`, role: "owner" };
      expect(await api.organization("POST", "/invitations", body, by)).toMatchObject({ status: 201 });
    }
    expect(await end(first.by, second.userId)).toMatchObject({ status: 200 });
    const open = await api.sql`
      select email from iam.invitations where organization_id = ${organizationId} and revoked_at is null`;
    expect(open).toEqual([{ email: "friend-of-first@example.com" }]);
    const [{ details }] = (await auditOf(api.service, organizationId)).slice(-1) as [Record<string, unknown>];
    expect(details).toMatchObject({
      email: `owner@invites-${what}-second.example`,
      revokedInvitations: ["friend-of-second@example.com"],
    });
  });
});

describe("DELETE /organization/members/:userId", () => {
  it("ends the membership and revokes the user's headless tokens of this organization only", async () => {
    const owner = await api.service.owner("left");
    const elsewhere = await api.service.owner("left-elsewhere");
    const email = "owner@left-elsewhere.example";
    await join(api.service, email, owner.organizationId, "owner");
    const { by: session, userId } = await memberOf(email, owner.organizationId);
    const { body } = await api.organization("POST", "/tokens", { label: "CI" }, session);
    const { id, accessToken } = body as { id: string; accessToken: string };
    const headless = { token: accessToken, organizationId: owner.organizationId };

    const removed = { userId, email, role: "owner", createdAt: INSTANT };
    expect(await remove(owner, userId)).toMatchObject({ status: 200, body: removed });
    expect([await whoami(headless), await whoami(session), await whoami(elsewhere)]).toEqual([401, 404, 200]);
    const details = { email, role: "owner", revokedTokens: [id], revokedInvitations: [] };
    const entry = entryOf("member.removed", userId, details, "left");
    expect((await auditOf(api.service, owner.organizationId)).at(-1)).toEqual(entry);
    // They do not work either when the user returns.
    await join(api.service, email, owner.organizationId, "viewer");
    expect(await whoami(headless)).toBe(401);
  });

  it("invalidates open links that set the member's password, but not the operator's", async () => {
    const { first, second } = await twoOwners("links-end");
    for (const by of ["owner@links-end.example", "operator"])
      await api.sql`
        insert into iam.password_links (link_hash, user_id, created_by, expires_at)
        values (sha256(${by}::text::bytea), ${second.userId}, ${by}, now() + interval '1 day')`;
    expect(await remove(first.by, second.userId)).toMatchObject({ status: 200 });
    const open = await api.sql`
      select created_by as by from iam.password_links where user_id = ${second.userId} and used_at is null`;
    expect(open).toEqual([{ by: "operator" }]);
  });

  it("leaves no token that the user creates at the same time", async () => {
    const { organizationId, first, second } = await twoOwners("token-while-removed");
    const make = () => api.organization("POST", "/tokens", { label: "just before" }, second.by);
    await atOnce(api.service, organizationId, [() => remove(first.by, second.userId), make, make]);
    const live = await api.sql`
      select from iam.access_tokens
      where organization_id = ${organizationId} and user_id = ${second.userId} and revoked_at is null`;
    expect(live).toHaveLength(0);
  });

  it("leaves no project, and no key of one, to the user who asks for it at the same time", async () => {
    const { organizationId, first, second } = await twoOwners("project-while-removed");
    const { sql } = api.service.db;
    let replies: Promise<unknown>[] = [];
    await sql.begin(async (held) => {
      await held`select from iam.organizations where organization_id = ${organizationId} for update`;
      replies = [remove(first.by, second.userId)];
      await waitingRequests(api.service, 1);
      replies.push(api.service.request("POST", "/projects", { by: second.by, body: { name: "Last", slug: "last" } }));
      await waitingRequests(api.service, 2);
    });
    expect(await Promise.all(replies)).toMatchObject([{ status: 200 }, refused(404, "ORGANIZATION_NOT_FOUND")]);
    expect(await sql`select from svc.projects where organization_id = ${organizationId}`).toHaveLength(0);
  });

  it("leaves no key to the user whose request for one waits meanwhile", async () => {
    const { organizationId, first, second } = await twoOwners("key-while-removed");
    const { sql } = api.service.db;
    const ask = (path: string, body: object) => api.service.request("POST", path, { by: second.by, body });
    expect(await ask("/projects", { name: "App", slug: "app" })).toMatchObject({ status: 201 });
    const keys = () => sql`
      select k.api_key_id as id, e.environment_id as environment from svc.api_keys as k
      join svc.environments as e using (environment_id) join svc.projects as p using (project_id)
      where p.organization_id = ${organizationId} and e.name = 'live'`;
    const [key] = await keys();
    let replies: Promise<unknown>[] = [];
    await sql.begin(async (held) => {
      await held`select from svc.environments where environment_id = ${key!["environment"] as number} for update`;
      replies = [
        ask("/projects/app/keys?env=live", { name: "last" }),
        ask(`/projects/app/keys/${key!["id"] as string}/rotate?env=live`, {}),
      ];
      await waitingRequests(api.service, 2);
      expect(await remove(first.by, second.userId)).toMatchObject({ status: 200 });
    });
    const gone = refused(404, "ORGANIZATION_NOT_FOUND");
    expect(await Promise.all(replies)).toMatchObject([gone, gone]);
    expect(await keys()).toHaveLength(1);
  });

  it("leaves no webhook, address or signing secret to the user whose request for one waits meanwhile", async () => {
    const { organizationId, first, second } = await twoOwners("webhook-while-removed");
    const { sql } = api.service.db;
    const ask = (method: string, path: string, body: object) =>
      api.service.request(method, `/projects/app${path}`, { by: second.by, body });
    const body = { name: "App", slug: "app" };
    expect(await api.service.request("POST", "/projects", { by: second.by, body })).toMatchObject({ status: 201 });
    const hook = { url: "https://hooks.example.com/", eventTypes: ["*"] };
    const { body: made } = await ask("POST", "/webhooks?env=live", hook);
    const { id } = made as { id: string };
    const webhooks = () => sql`
      select w.webhook_id as id, w.url, w.sealed_secret as secret from svc.webhooks as w
      join svc.environments as e using (environment_id) join svc.projects as p using (project_id)
      where p.organization_id = ${organizationId}`;
    const before = [...(await webhooks())];
    const [of] = await sql<[{ id: number }]>`select environment_id as id from svc.webhooks where webhook_id = ${id}`;
    let replies: Promise<unknown>[] = [];
    await sql.begin(async (held) => {
      // One by one, because a cluster locks no rows of several tables at once.
      await held`select from svc.environments where environment_id = ${of.id} for update`;
      await held`select from svc.webhooks where environment_id = ${of.id} for update`;
      replies = [
        ask("POST", "/webhooks?env=live", hook),
        ask("PATCH", `/webhooks/${id}?env=live`, { url: "https://elsewhere.example.com/" }),
        ask("POST", `/webhooks/${id}/rotate-secret?env=live`, {}),
      ];
      await waitingRequests(api.service, 3);
      expect(await remove(first.by, second.userId)).toMatchObject({ status: 200 });
    });
    const gone = refused(404, "ORGANIZATION_NOT_FOUND");
    expect(await Promise.all(replies)).toMatchObject([gone, gone, gone]);
    expect([...(await webhooks())]).toEqual(before);
  });
});

describe("GET /organizations", () => {
  let beta: Actor;
  beforeAll(async () => {
    beta = await api.service.owner("beta");
    await api.service.owner("gamma");
    await join(api.service, "owner@acme.example", beta.organizationId, "viewer");
  });

  /** Lists organizations without the organization's header. */
  const list = async (token: string, query = "") => {
    const headers = { Authorization: `Bearer ${token}` };
    const { status, body } = await api.service.request("GET", `/organizations?${query}`, { headers });
    expect(status).toBe(200);
    return body as Page<object>;
  };
  const acme = (role: string) => ({ id: api.owner.organizationId, slug: "acme", role });

  it("lists the organizations of the user by slug, in pages, without the organization's header", async () => {
    const { token } = await sessionOf(api.service, "owner@acme.example", api.owner.organizationId);
    const data = [acme("owner"), { id: beta.organizationId, slug: "beta", role: "viewer" }];
    expect(await list(token)).toEqual({ data, nextCursor: null });
    expect(await pages((query) => list(token, query), "", 1)).toEqual({ items: data, sizes: [1, 1] });
  });

  it("lists the one organization of a headless token, with the token's role", async () => {
    const { body } = await api.organization("POST", "/tokens", { label: "reader", role: "viewer" });
    const { accessToken } = body as { accessToken: string };
    expect(await list(accessToken)).toEqual({ data: [acme("viewer")], nextCursor: null });
  });

  it("is empty for a user who was removed everywhere, and ignores the organization's header", async () => {
    const { organizationId } = await api.service.owner("alone");
    const by = await sessionOf(api.service, "owner@alone.example", organizationId);
    await api.sql`delete from iam.memberships where organization_id = ${organizationId}`;
    const none = { data: [], nextCursor: null };
    expect(await list(by.token)).toEqual(none);
    by.organizationId = "x".repeat(300);
    const { status, body } = await api.service.request("GET", "/organizations", { by });
    expect([status, body]).toEqual([200, none]);
  });
});
