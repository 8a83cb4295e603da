import { beforeAll, describe, expect, it } from "vitest";
import { call } from "../../../../src/db/api/call.js";
import { hashCredential, newCredential } from "../../../../src/http/request/credentials.js";
import { INSTANT, refused, useApi } from "../support/api.js";
import { auditOf, entryOf, join, sessionOf, userIdOf, waitingRequests } from "./support.js";

const api = useApi("none");
let member: { email: string; userId: string };
beforeAll(async () => {
  await api.service.member(api.owner, "viewer");
  const email = `viewer@${api.owner.organizationId}.example`;
  member = { email, userId: await userIdOf(api.service, email) };
});

const reset = (userId: string, by = api.owner) => api.organization("POST", `/members/${userId}/password-reset`, {}, by);
const FORBIDDEN = refused(403, "FORBIDDEN", {
  message: "You may not make a link to set this member's password.",
  reason:
    "The member also belongs to an organization that this token is not an owner's of; the link would open that one, too.",
  fix: "Ask the operator of this service, who can make such a link for everybody.",
});

/** The user and creator of a link, and whether it is still valid. */
async function linkOf(body: unknown): Promise<object | undefined> {
  const hash = hashCredential(new URL((body as { link: string }).link).searchParams.get("token")!);
  const [row] = await api.sql`
    select user_id as "userId", created_by as "createdBy", used_at is null as open
    from iam.password_links where link_hash = ${hash}`;
  return row && { ...row };
}

describe("POST /organization/members/:userId/password-reset", () => {
  it("creates a link that is valid for 24 hours, and stores only its hash", async () => {
    const reply = await reset(member.userId);
    const form = /^https:\/\/svc\.example\.com\/password\?token=svc_link_[0-9a-f]{48}$/;
    const link = expect.stringMatching(form) as string;
    expect(reply).toMatchObject({ status: 201, body: { link, expiresAt: INSTANT, mailed: false, mailFailed: false } });
    expect(await linkOf(reply.body)).toEqual({ userId: member.userId, createdBy: "owner@acme.example", open: true });
    const [row] = await api.sql`select expires_at - created_at as life, l::text as row from iam.password_links as l`;
    expect(row).toMatchObject({ life: "1 day" });
    expect(JSON.stringify(row)).not.toContain("svc_link_");
    const entry = entryOf("password_reset.created", member.userId, { email: member.email });
    expect((await auditOf(api.service, api.owner.organizationId)).at(-1)).toEqual(entry);
  });

  it("invalidates the previous link, also in concurrent requests", async () => {
    const replies = await Promise.all([1, 2, 3].map(() => reset(member.userId)));
    const last = await reset(member.userId);
    const links = await Promise.all([...replies, last].map(({ body }) => linkOf(body)));
    expect(links).toMatchObject([{ open: false }, { open: false }, { open: false }, { open: true }]);
    const [row] = await api.sql`
      select count(*)::int as open from iam.password_links where user_id = ${member.userId} and used_at is null`;
    expect(row).toEqual({ open: 1 });
  });

  it("is refused for a user of an organization that the actor does not own", async () => {
    const other = await api.service.owner("other");
    await join(api.service, "owner@other.example", api.owner.organizationId, "viewer");
    const userId = await userIdOf(api.service, "owner@other.example");
    expect(await reset(userId)).toMatchObject(FORBIDDEN);
    // Being a member of it is not enough, not even an administrator.
    await join(api.service, "owner@acme.example", other.organizationId, "administrator");
    const session = await sessionOf(api.service, "owner@acme.example", api.owner.organizationId);
    expect(await reset(userId, session)).toMatchObject(FORBIDDEN);
    expect(await api.sql`select from iam.password_links where user_id = ${userId}`).toHaveLength(0);
  });

  it("succeeds if the actor owns all organizations of the user, but not with a token of one of them", async () => {
    const second = await api.service.owner("second");
    const email = "owner@second.example";
    await join(api.service, email, api.owner.organizationId, "owner");
    const userId = await userIdOf(api.service, member.email);
    await join(api.service, member.email, second.organizationId, "viewer");
    const session = await sessionOf(api.service, email, api.owner.organizationId);
    expect((await reset(userId, session)).status).toBe(201);
    // A headless token gives access to one organization; the link would give access to both, also for its own user.
    const made = await api.organization("POST", "/tokens", { label: "CI" }, session);
    const headless = { ...session, token: (made.body as { accessToken: string }).accessToken };
    for (const id of [userId, await userIdOf(api.service, email)])
      expect(await reset(id, headless)).toMatchObject(FORBIDDEN);
    await api.sql`delete from iam.memberships
      where user_id = ${userId} and organization_id = ${second.organizationId}`;
  });

  it("becomes invalid when the user joins another organization; the operator's link does not", async () => {
    const { organizationId } = await api.service.owner("joined");
    await api.service.member(api.owner, "developer");
    const email = `developer@${api.owner.organizationId}.example`;
    const { body } = await reset(await userIdOf(api.service, email));
    await join(api.service, email, organizationId, "viewer");
    expect(await linkOf(body)).toMatchObject({ open: false });
    const { hash } = newCredential("link");
    await call(api.sql, "operator_create_password_link", email, hash);
    await join(api.service, email, (await api.service.owner("joined-third")).organizationId, "viewer");
    const [row] = await api.sql`select used_at from iam.password_links where link_hash = ${hash}`;
    expect(row).toEqual({ used_at: null });
  });

  it("is also refused if the user joins another organization at the same time", async () => {
    const { organizationId } = await api.service.owner("joining");
    await api.service.member(api.owner, "administrator");
    const email = `administrator@${api.owner.organizationId}.example`;
    const userId = await userIdOf(api.service, email);
    const { sent } = await api.sql.begin(async (joining) => {
      await joining`insert into iam.memberships (organization_id, user_id, role)
        values (${organizationId}, ${userId}, 'viewer')`;
      const request = reset(userId);
      await waitingRequests(api.service, 1);
      return { sent: request };
    });
    expect(await sent).toMatchObject(FORBIDDEN);
  });

  it("becomes invalid when the owner who created it is demoted or removed", async () => {
    await api.service.owner("maker");
    const maker = "owner@maker.example";
    const userId = await userIdOf(api.service, maker);
    await join(api.service, maker, api.owner.organizationId, "owner");
    const session = await sessionOf(api.service, maker, api.owner.organizationId);
    for (const [method, body] of [["PATCH", { role: "administrator" }], ["DELETE"]] as const) {
      await api.sql`update iam.memberships set role = 'owner' where user_id = ${userId}`;
      const made = await reset(member.userId, session);
      expect(await linkOf(made.body)).toMatchObject({ createdBy: maker, open: true });
      expect(await api.organization(method, `/members/${userId}`, body)).toMatchObject({ status: 200 });
      expect(await linkOf(made.body)).toMatchObject({ open: false });
    }
  });
});
