import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hashCredential } from "../../../../src/http/request/credentials.js";
import { envelope, startService, type Actor, type Service } from "../../../support/service.js";
import { atOnce, auditOf, STRANGE_IDS, timestamp } from "./support.js";

let service: Service;
let owner: Actor;
beforeAll(async () => {
  service = await startService();
  owner = await service.owner("acme");
});
afterAll(() => service.stop());

const list = (by: Actor, query = "") => service.request("GET", `/organization/invitations${query}`, { by });
const invite = (body: unknown, by = owner) => service.request("POST", "/organization/invitations", { by, body });
const revoke = (id: string, by = owner) => service.request("DELETE", `/organization/invitations/${id}`, { by });
const invitationNotFound = (shown: string) =>
  envelope("INVITATION_NOT_FOUND", `There is no open invitation "${shown}" in this organization.`, {
    fix: "Check the id; GET /organization/invitations lists those that are open.",
  });

interface Invitation {
  id: string;
  email: string;
  link: string;
  createdAt: string;
  expiresAt: string;
}

/** Of the invitation that a link leads to: what is in its way, null where nothing is. */
async function stateOf(link: string): Promise<string | null> {
  const hash = hashCredential(new URL(link).searchParams.get("token")!);
  const [row] = await service.db.sql<[{ state: string | null }?]>`
    select case when revoked_at is not null then 'revoked' when expires_at <= now() then 'expired' end as state
    from iam.invitations where link_hash = ${hash}`;
  return row === undefined ? "unknown" : row.state;
}

describe("POST /organization/invitations", () => {
  it("makes a link that is good for 7 days, and keeps only its hash", async () => {
    const reply = await invite({ email: "Grace@Example.com", role: "developer" });
    expect(reply.status).toBe(201);
    expect(reply.body).toEqual({
      id: expect.stringMatching(/^inv_[0-9a-f]{20}$/) as unknown,
      email: "grace@example.com",
      role: "developer",
      createdBy: "owner@acme.example",
      createdAt: timestamp,
      expiresAt: timestamp,
      link: expect.stringMatching(/^https:\/\/svc\.example\.com\/invitation\?token=svc_link_[0-9a-f]{48}$/) as unknown,
      mailed: false,
    });
    const { id, link, createdAt, expiresAt } = reply.body as Invitation;
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(7 * 86_400_000);
    expect(await stateOf(link)).toBeNull();
    const rows = await service.db.sql`select i::text as row from iam.invitations as i`;
    expect(JSON.stringify(rows)).not.toContain("svc_link_");
    expect((await auditOf(service, owner.organizationId)).at(-1)).toEqual({
      action: "invitation.created",
      actor: "owner@acme.example",
      requestId: "req",
      target: id,
      details: { email: "grace@example.com", role: "developer", replaced: null },
    });
  });

  it("replaces the open invitation of the address, whose link stops", async () => {
    const first = (await invite({ email: "twice@example.com", role: "viewer" })).body as Invitation;
    const second = (await invite({ email: "TWICE@example.com", role: "owner" })).body as Invitation;
    expect([await stateOf(first.link), await stateOf(second.link)]).toEqual(["revoked", null]);
    const { data } = (await list(owner)).body as { data: Invitation[] };
    expect(data.filter(({ email }) => email === "twice@example.com").map(({ id }) => id)).toEqual([second.id]);
    expect((await auditOf(service, owner.organizationId)).at(-1)).toMatchObject({ details: { replaced: first.id } });
  });

  it("leaves one open where an address is invited several times at once", async () => {
    const replies = await atOnce(
      service,
      owner.organizationId,
      ["viewer", "developer", "owner"].map((role) => () => invite({ email: "thrice@example.com", role })),
    );
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201]);
    const states = await Promise.all(replies.map(({ body }) => stateOf((body as Invitation).link)));
    expect(states.sort()).toEqual([null, "revoked", "revoked"]);
  });

  it("lets two organizations invite the same address", async () => {
    const other = await service.owner("other");
    const first = (await invite({ email: "both@example.com", role: "viewer" })).body as Invitation;
    const second = (await invite({ email: "both@example.com", role: "viewer" }, other)).body as Invitation;
    expect([await stateOf(first.link), await stateOf(second.link)]).toEqual([null, null]);
  });

  it("refuses the address of a member, in whatever case", async () => {
    const reply = await invite({ email: "Owner@ACME.example", role: "viewer" });
    expect(reply.status).toBe(409);
    expect(reply.body).toEqual(
      envelope("ALREADY_MEMBER", "owner@acme.example is a member of this organization already.", {
        field: "email",
        value: "owner@acme.example",
        fix: "Change the member's role instead: PATCH /organization/members/<userId>.",
      }),
    );
  });

  it.each([
    "nobody",
    "a@b@c",
    "@example.com",
    "a@",
    "a b@example.com",
    "a@example.com,evil@example.com",
    "Ada <a@example.com>",
    '"a"@example.com',
    "a@example.com\r\nBcc: evil@example.com",
    "a@example.com\n",
    "a\u202e@example.com",
    "a\u200b@example.com",
    "a\u0000@example.com",
    `${"a".repeat(250)}@b.de`,
    "",
  ])("refuses the address %j", async (email) => {
    const reply = await invite({ email, role: "viewer" });
    expect(reply).toMatchObject({ status: 400, body: { error: { code: "VALIDATION_ERROR" } } });
    expect((await list(owner)).body).not.toMatchObject({ data: [{ email }] });
  });

  it("takes an address of other letters", async () => {
    const reply = await invite({ email: "gr\u00e4ce@b\u00fccher.example", role: "viewer" });
    expect(reply).toMatchObject({ status: 201, body: { email: "gr\u00e4ce@b\u00fccher.example" } });
  });

  it.each([
    ["nothing", {}, "email"],
    ["an unknown role", { email: "a@b.de", role: "root" }, "role"],
    ["an address that is no text", { email: ["a@b.de"], role: "viewer" }, "email"],
    ["something more", { email: "a@b.de", role: "viewer", organization: "x" }, "organization"],
    ["an array", [], undefined],
    ["null", "null", undefined],
  ])("refuses a body with %s", async (_what, body, field) => {
    const reply = await invite(body);
    expect(reply).toMatchObject({ status: 400, body: { error: { code: "VALIDATION_ERROR" } } });
    expect((reply.body as { error: { field?: string } }).error.field).toBe(field);
  });
});

describe("GET /organization/invitations", () => {
  it("lists what is open by address, in pages, without links", async () => {
    const by = await service.owner("listing");
    const made = ["c", "a", "b", "d"].map((name) => invite({ email: `${name}@example.com`, role: "viewer" }, by));
    const [c, , , d] = (await Promise.all(made)).map(({ body }) => body as Invitation);
    await revoke(d!.id, by);
    await service.db.sql`update iam.invitations set expires_at = now() where invitation_id = ${c!.id}`;
    const first = (await list(by, "?limit=2")).body as { data: Invitation[]; nextCursor: string };
    expect(first.data.map(({ email }) => email)).toEqual(["a@example.com", "b@example.com"]);
    // It expired, but nobody revoked it.
    expect((await list(by, `?limit=2&cursor=${first.nextCursor}`)).body).toEqual({
      data: [
        {
          id: c!.id,
          email: "c@example.com",
          role: "viewer",
          createdBy: "owner@listing.example",
          createdAt: timestamp,
          expiresAt: timestamp,
        },
      ],
      nextCursor: null,
    });
  });
});

describe("DELETE /organization/invitations/:invitationId", () => {
  it("stops the link at once, once", async () => {
    const { id, link, ...made } = (await invite({ email: "gone@example.com", role: "viewer" })).body as Invitation;
    const reply = await revoke(id);
    expect(reply.status).toBe(200);
    expect({ ...(reply.body as object), mailed: false }).toEqual({ id, ...made });
    expect(await stateOf(link)).toBe("revoked");
    expect((await auditOf(service, owner.organizationId)).at(-1)).toEqual({
      action: "invitation.revoked",
      actor: "owner@acme.example",
      requestId: "req",
      target: id,
      details: { email: "gone@example.com", role: "viewer" },
    });
    const again = await revoke(id);
    expect([again.status, again.body]).toEqual([404, invitationNotFound(id)]);
  });

  it("knows none of another organization, and none that was accepted", async () => {
    const other = await service.owner("stranger");
    const { id } = (await invite({ email: "kept@example.com", role: "viewer" })).body as Invitation;
    const reply = await revoke(id, other);
    expect([reply.status, reply.body]).toEqual([404, invitationNotFound(id)]);
    await service.db.sql`update iam.invitations set accepted_at = now() where invitation_id = ${id}`;
    expect((await revoke(id)).body).toEqual(invitationNotFound(id));
  });

  it.each(STRANGE_IDS)("refuses an id %s", async (_what, id, shown) => {
    const reply = await revoke(id);
    if (shown === null) expect(reply).toMatchObject({ status: 400, body: { error: { code: "VALIDATION_ERROR" } } });
    else expect([reply.status, reply.body]).toEqual([404, invitationNotFound(shown)]);
  });
});
