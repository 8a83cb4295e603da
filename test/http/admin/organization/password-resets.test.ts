import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { call } from "../../../../src/db/api/call.js";
import { hashCredential, newLinkSecret } from "../../../../src/http/request/credentials.js";
import { envelope, startService, type Actor, type Service } from "../../../support/service.js";
import { auditOf, join, sessionOf, timestamp, userIdOf, waitingRequests } from "./support.js";

let service: Service;
let owner: Actor;
let member: { email: string; userId: string };
beforeAll(async () => {
  service = await startService();
  owner = await service.owner("acme");
  await service.member(owner, "viewer");
  const email = `viewer@${owner.organizationId}.example`;
  member = { email, userId: await userIdOf(service, email) };
});
afterAll(() => service.stop());

const reset = (userId: string, by = owner, body: unknown = {}) =>
  service.request("POST", `/organization/members/${userId}/password-reset`, { by, body });
const FORBIDDEN = envelope("FORBIDDEN", "You may not make a link to set this member's password.", {
  reason:
    "The member also belongs to an organization that this token is not an owner's of; the link would open that one, too.",
  fix: "Ask the operator of this service, who can make such a link for everybody.",
});

/** Of a link: whose it is, who made it, and whether it is still good. */
async function linkOf(body: unknown): Promise<object | undefined> {
  const hash = hashCredential(new URL((body as { link: string }).link).searchParams.get("token")!);
  const [row] = await service.db.sql`
    select user_id as "userId", created_by as "createdBy", used_at is null as open
    from iam.password_links where link_hash = ${hash}`;
  return row && { ...row };
}

describe("POST /organization/members/:userId/password-reset", () => {
  it("makes a link that is good for 24 hours, and keeps only its hash", async () => {
    const reply = await reset(member.userId);
    expect(reply.status).toBe(201);
    expect(reply.body).toEqual({
      link: expect.stringMatching(/^https:\/\/svc\.example\.com\/password\?token=svc_link_[0-9a-f]{48}$/) as unknown,
      expiresAt: timestamp,
      mailed: false,
    });
    expect(await linkOf(reply.body)).toEqual({ userId: member.userId, createdBy: "owner@acme.example", open: true });
    const [row] = await service.db
      .sql`select expires_at - created_at as life, l::text as row from iam.password_links as l`;
    expect(row).toMatchObject({ life: "1 day" });
    expect(JSON.stringify(row)).not.toContain("svc_link_");
    expect((await auditOf(service, owner.organizationId)).at(-1)).toEqual({
      action: "password_reset.created",
      actor: "owner@acme.example",
      requestId: "req",
      target: member.userId,
      details: {},
    });
  });

  it("stops the link before, also of two made at once", async () => {
    const replies = await Promise.all([1, 2, 3].map(() => reset(member.userId)));
    const last = await reset(member.userId);
    const links = await Promise.all([...replies, last].map(({ body }) => linkOf(body)));
    expect(links).toMatchObject([{ open: false }, { open: false }, { open: false }, { open: true }]);
    const [row] = await service.db.sql`
      select count(*)::int as open from iam.password_links where user_id = ${member.userId} and used_at is null`;
    expect(row).toEqual({ open: 1 });
  });

  it("is refused for a user of an organization of somebody else", async () => {
    const other = await service.owner("other");
    await join(service, "owner@other.example", owner.organizationId, "viewer");
    const reply = await reset(await userIdOf(service, "owner@other.example"));
    expect([reply.status, reply.body]).toEqual([403, FORBIDDEN]);
    // Being a member there is not enough, nor is being nearly an owner.
    await join(service, "owner@acme.example", other.organizationId, "administrator");
    const session = await sessionOf(service, "owner@acme.example", owner.organizationId);
    const again = await reset(await userIdOf(service, "owner@other.example"), session);
    expect([again.status, again.body]).toEqual([403, FORBIDDEN]);
    const [row] = await service.db.sql`
      select count(*)::int as links from iam.password_links
      where user_id = ${await userIdOf(service, "owner@other.example")}`;
    expect(row).toEqual({ links: 0 });
  });

  it("is made for a user all of whose organizations the actor owns, but not with a token of one of them", async () => {
    const second = await service.owner("second");
    const email = "owner@second.example";
    await join(service, email, owner.organizationId, "owner");
    const userId = await userIdOf(service, member.email);
    await join(service, member.email, second.organizationId, "viewer");
    const session = await sessionOf(service, email, owner.organizationId);
    expect((await reset(userId, session)).status).toBe(201);
    // A headless token opens one organization; the link would open both, also for its own user.
    const made = await service.request("POST", "/organization/tokens", { by: session, body: { label: "CI" } });
    const headless = { ...session, token: (made.body as { accessToken: string }).accessToken };
    for (const id of [userId, await userIdOf(service, email)]) {
      const reply = await reset(id, headless);
      expect([reply.status, reply.body]).toEqual([403, FORBIDDEN]);
    }
    await service.db.sql`delete from iam.memberships
      where user_id = ${userId} and organization_id = ${second.organizationId}`;
  });

  it("stops when the user joins another organization; the operator's link does not", async () => {
    const { organizationId } = await service.owner("joined");
    await service.member(owner, "developer");
    const email = `developer@${owner.organizationId}.example`;
    const { body } = await reset(await userIdOf(service, email));
    await join(service, email, organizationId, "viewer");
    expect(await linkOf(body)).toMatchObject({ open: false });
    const { hash } = newLinkSecret();
    await call(service.db.sql, "operator_create_password_link", email, hash);
    await join(service, email, (await service.owner("joined-third")).organizationId, "viewer");
    const [row] = await service.db.sql`select used_at from iam.password_links where link_hash = ${hash}`;
    expect(row).toEqual({ used_at: null });
  });

  it("is refused also where the user joins another organization at the same time", async () => {
    const { organizationId } = await service.owner("joining");
    await service.member(owner, "administrator");
    const email = `administrator@${owner.organizationId}.example`;
    const userId = await userIdOf(service, email);
    const { sql } = service.db;
    const { sent } = await sql.begin(async (joining) => {
      await joining`insert into iam.memberships (organization_id, user_id, role)
        values (${organizationId}, ${userId}, 'viewer')`;
      const request = reset(userId);
      await waitingRequests(service, 1);
      return { sent: request };
    });
    const reply = await sent;
    expect([reply.status, reply.body]).toEqual([403, FORBIDDEN]);
  });

  it.each([
    ["is removed", "DELETE", undefined],
    ["becomes something else", "PATCH", { role: "administrator" }],
  ])("stops when the owner who made it %s", async (_what, method, body) => {
    await service.owner(`maker-${method.toLowerCase()}`);
    const maker = `owner@maker-${method.toLowerCase()}.example`;
    await join(service, maker, owner.organizationId, "owner");
    const session = await sessionOf(service, maker, owner.organizationId);
    const made = await reset(member.userId, session);
    expect(await linkOf(made.body)).toMatchObject({ createdBy: maker, open: true });
    const path = `/organization/members/${await userIdOf(service, maker)}`;
    const reply = await service.request(method, path, { by: owner, ...(body && { body }) });
    expect(reply.status).toBe(200);
    expect(await linkOf(made.body)).toMatchObject({ open: false });
  });
});
