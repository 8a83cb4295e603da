import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { envelope, startService, type Actor, type Service } from "../../../support/service.js";
import { atOnce, auditOf, join, sessionOf, STRANGE_IDS, timestamp, userIdOf } from "./support.js";

let service: Service;
let foreigner: Actor;
beforeAll(async () => {
  service = await startService();
  foreigner = await service.owner("foreign");
});
afterAll(() => service.stop());

const list = (by: Actor, query = "") => service.request("GET", `/organization/members${query}`, { by });
const change = (by: Actor, userId: string, role: unknown) =>
  service.request("PATCH", `/organization/members/${userId}`, { by, body: { role } });
const remove = (by: Actor, userId: string) => service.request("DELETE", `/organization/members/${userId}`, { by });
const memberNotFound = (shown: string) =>
  envelope("MEMBER_NOT_FOUND", `There is no member "${shown}" in this organization.`, {
    fix: "Check the id; GET /organization/members lists the members.",
  });
const LAST_OWNER = envelope("LAST_OWNER", "The organization would have no owner left.", {
  fix: "Make another member owner first.",
});

/** A new organization with two owners, each with a session. */
async function twoOwners(slug: string): Promise<{ organizationId: string; first: Member; second: Member }> {
  const { organizationId } = await service.owner(slug);
  await service.owner(`${slug}-second`);
  const second = `owner@${slug}-second.example`;
  await join(service, second, organizationId, "owner");
  return {
    organizationId,
    first: await memberOf(`owner@${slug}.example`, organizationId),
    second: await memberOf(second, organizationId),
  };
}

interface Member {
  userId: string;
  by: Actor;
}

async function memberOf(email: string, organizationId: string): Promise<Member> {
  return { userId: await userIdOf(service, email), by: await sessionOf(service, email, organizationId) };
}

async function ownersOf(organizationId: string): Promise<string[]> {
  const rows = await service.db.sql<{ id: string }[]>`
    select user_id as id from iam.memberships where organization_id = ${organizationId} and role = 'owner'`;
  return rows.map(({ id }) => id);
}

describe("GET /organization/members", () => {
  it("lists the members by address, in pages", async () => {
    const owner = await service.owner("listed");
    const viewer = await service.member(owner, "viewer");
    const first = await list(viewer, "?limit=1");
    expect(first.status).toBe(200);
    expect(first.body).toEqual({
      data: [
        {
          userId: await userIdOf(service, "owner@listed.example"),
          email: "owner@listed.example",
          role: "owner",
          createdAt: timestamp,
        },
      ],
      nextCursor: expect.any(String) as unknown,
    });
    const email = `viewer@${owner.organizationId}.example`;
    const { nextCursor } = first.body as { nextCursor: string };
    expect((await list(viewer, `?limit=1&cursor=${nextCursor}`)).body).toEqual({
      data: [{ userId: await userIdOf(service, email), email, role: "viewer", createdAt: timestamp }],
      nextCursor: null,
    });
  });
});

describe("PATCH /organization/members/:userId", () => {
  it("gives a member another role, which is effective with its next request", async () => {
    const owner = await service.owner("changed");
    const viewer = await service.member(owner, "viewer");
    const email = `viewer@${owner.organizationId}.example`;
    const userId = await userIdOf(service, email);
    const reply = await change(owner, userId, "administrator");
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({ userId, email, role: "administrator", createdAt: timestamp });
    expect((await service.request("GET", "/organization/audit-log", { by: viewer })).status).toBe(200);
    expect((await auditOf(service, owner.organizationId)).at(-1)).toEqual({
      action: "member.role_changed",
      actor: "owner@changed.example",
      requestId: "req",
      target: userId,
      details: { before: "viewer", after: "administrator" },
    });
  });

  it("writes no entry of the audit log where the member has the role already", async () => {
    const owner = await service.owner("unchanged");
    const before = await auditOf(service, owner.organizationId);
    const userId = await userIdOf(service, "owner@unchanged.example");
    const reply = await change(owner, userId, "owner");
    expect(reply.body).toEqual({ userId, email: "owner@unchanged.example", role: "owner", createdAt: timestamp });
    expect(await auditOf(service, owner.organizationId)).toEqual(before);
  });

  it("keeps the last owner one", async () => {
    const owner = await service.owner("last-demoted");
    const reply = await change(owner, await userIdOf(service, "owner@last-demoted.example"), "administrator");
    expect(reply.status).toBe(409);
    expect(reply.body).toEqual(LAST_OWNER);
  });

  it("does so also where two owners step down at once", async () => {
    const { organizationId, first, second } = await twoOwners("both-demoted");
    const replies = await atOnce(service, organizationId, [
      () => change(first.by, first.userId, "viewer"),
      () => change(second.by, second.userId, "viewer"),
    ]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(replies.find(({ status }) => status === 409)!.body).toEqual(LAST_OWNER);
    expect(await ownersOf(organizationId)).toHaveLength(1);
  });

  it("lets one of two owners win who demote each other at once", async () => {
    const { organizationId, first, second } = await twoOwners("each-demoted");
    const replies = await atOnce(service, organizationId, [
      () => change(first.by, second.userId, "viewer"),
      () => change(second.by, first.userId, "viewer"),
    ]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 403]);
    expect(await ownersOf(organizationId)).toHaveLength(1);
  });

  it.each([
    ["no role", {}, "role"],
    ["an unknown role", { role: "root" }, "role"],
    ["a role that is no text", { role: 4 }, "role"],
    ["several roles", { role: ["owner"] }, "role"],
    ["no role in so many words", { role: null }, "role"],
    ["something more", { role: "viewer", email: "x@y.example" }, "email"],
    ["an array", [], undefined],
    ["a text", '"owner"', undefined],
  ])("refuses a body with %s", async (_what, body, field) => {
    const userId = await userIdOf(service, "owner@foreign.example");
    const reply = await service.request("PATCH", `/organization/members/${userId}`, { by: foreigner, body });
    expect(reply).toMatchObject({ status: 400, body: { error: { code: "VALIDATION_ERROR" } } });
    expect((reply.body as { error: { field?: string } }).error.field).toBe(field);
  });
});

describe("DELETE /organization/members/:userId", () => {
  it("ends the membership and revokes the user's headless tokens of this organization only", async () => {
    const owner = await service.owner("left");
    const elsewhere = await service.owner("left-elsewhere");
    const email = "owner@left-elsewhere.example";
    await join(service, email, owner.organizationId, "owner");
    const session = await sessionOf(service, email, owner.organizationId);
    const made = await service.request("POST", "/organization/tokens", { by: session, body: { label: "CI" } });
    const { id, accessToken } = made.body as { id: string; accessToken: string };
    const headless = { token: accessToken, organizationId: owner.organizationId };
    const userId = await userIdOf(service, email);

    const reply = await remove(owner, userId);
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({ userId, email, role: "owner", createdAt: timestamp });
    const asked = [headless, session, elsewhere].map((by) => service.request("GET", "/whoami", { by }));
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([401, 404, 200]);
    expect((await auditOf(service, owner.organizationId)).at(-1)).toEqual({
      action: "member.removed",
      actor: "owner@left.example",
      requestId: "req",
      target: userId,
      details: { email, role: "owner", revokedTokens: [id] },
    });
    // Nor do they work when the user comes back.
    await join(service, email, owner.organizationId, "viewer");
    expect((await service.request("GET", "/whoami", { by: headless })).status).toBe(401);
  });

  it.each([
    ["removed", (by: Actor, userId: string) => remove(by, userId)],
    ["made a viewer", (by: Actor, userId: string) => change(by, userId, "viewer")],
  ])("stops the open invitations of an owner who is %s, who could come back by them", async (what, end) => {
    const { organizationId, first, second } = await twoOwners(`invites-${what.replaceAll(" ", "-")}`);
    for (const { by } of [first, second]) {
      const body = { email: `friend-of-${by === first.by ? "first" : "second"}@example.com`, role: "owner" };
      expect((await service.request("POST", "/organization/invitations", { by, body })).status).toBe(201);
    }
    expect((await end(first.by, second.userId)).status).toBe(200);
    const open = await service.db.sql<{ email: string }[]>`
      select email from iam.invitations where organization_id = ${organizationId} and revoked_at is null`;
    expect([...open]).toEqual([{ email: "friend-of-first@example.com" }]);
  });

  it("stops the open links that set the password of a member who is removed; the operator's stays", async () => {
    const { organizationId, first, second } = await twoOwners("links-end");
    const link = (by: string) => service.db.sql`
      insert into iam.password_links (link_hash, user_id, created_by, expires_at)
      values (sha256(${by}::text::bytea), ${second.userId}, ${by}, now() + interval '1 day')`;
    await link("owner@links-end.example");
    await link("operator");
    expect((await remove(first.by, second.userId)).status).toBe(200);
    const open = await service.db.sql<{ by: string }[]>`
      select created_by as by from iam.password_links where user_id = ${second.userId} and used_at is null`;
    expect([...open]).toEqual([{ by: "operator" }]);
    expect(await ownersOf(organizationId)).toEqual([first.userId]);
  });

  it("keeps the last owner", async () => {
    const owner = await service.owner("last-removed");
    await service.member(owner, "administrator");
    const reply = await remove(owner, await userIdOf(service, "owner@last-removed.example"));
    expect(reply.status).toBe(409);
    expect(reply.body).toEqual(LAST_OWNER);
  });

  it("does so also where two owners leave at once", async () => {
    const { organizationId, first, second } = await twoOwners("both-left");
    const replies = await atOnce(service, organizationId, [
      () => remove(first.by, first.userId),
      () => remove(second.by, second.userId),
    ]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(replies.find(({ status }) => status === 409)!.body).toEqual(LAST_OWNER);
    expect(await ownersOf(organizationId)).toHaveLength(1);
  });

  it("lets one of two owners win who remove each other at once", async () => {
    const { organizationId, first, second } = await twoOwners("each-removed");
    const replies = await atOnce(service, organizationId, [
      () => remove(first.by, second.userId),
      () => remove(second.by, first.userId),
    ]);
    // Who is no member any more when its turn comes is told what it would be told afterwards.
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 404]);
    expect(replies.find(({ status }) => status === 404)!.body).toEqual(
      envelope("ORGANIZATION_NOT_FOUND", "There is no such organization, or it is not one of yours."),
    );
    expect(await ownersOf(organizationId)).toHaveLength(1);
  });

  it("leaves no token behind that the user makes at the same time", async () => {
    const { organizationId, first, second } = await twoOwners("token-while-removed");
    const make = () =>
      service.request("POST", "/organization/tokens", { by: second.by, body: { label: "just before" } });
    await atOnce(service, organizationId, [() => remove(first.by, second.userId), make, make]);
    const [row] = await service.db.sql<[{ live: number }]>`
      select count(*)::int as live from iam.access_tokens
      where organization_id = ${organizationId} and user_id = ${second.userId} and revoked_at is null`;
    expect(row.live).toBe(0);
  });
});

describe.each(["PATCH", "DELETE"])("%s of a member", (method) => {
  const send = (by: Actor, id: string) =>
    service.request(method, `/organization/members/${id}`, {
      by,
      ...(method === "PATCH" ? { body: { role: "viewer" } } : {}),
    });

  it.each(STRANGE_IDS)("with an id %s is refused", async (_what, id, shown) => {
    const reply = await send(foreigner, id);
    if (shown === null) expect(reply).toMatchObject({ status: 400, body: { error: { code: "VALIDATION_ERROR" } } });
    else expect([reply.status, reply.body]).toEqual([404, memberNotFound(shown)]);
  });
});
