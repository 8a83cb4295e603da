import { describe, expect, it } from "vitest";
import { call } from "../../../../src/db/api/call.js";
import { hashCredential, newCredential } from "../../../../src/http/request/credentials.js";
import type { Actor, Reply } from "../../../support/service.js";
import { INSTANT, invalid, refused, useApi, type Page } from "../support/api.js";
import { atOnce, auditOf, entryOf, waitingRequests } from "./support.js";

const api = useApi("none");

type Invitation = Record<"id" | "email" | "link" | "createdAt" | "expiresAt", string>;

const invite = (body: unknown, by?: Actor) => api.organization("POST", "/invitations", body, by);
const made = async (email: string, by?: Actor, role = "viewer") =>
  (await invite({ email, role }, by)).body as Invitation;
const list = async (query = "", by?: Actor) =>
  (await api.organization("GET", `/invitations${query}`, undefined, by)).body as Page<Invitation>;
const revoke = (id: string, by?: Actor) => api.organization("DELETE", `/invitations/${id}`, undefined, by);
const lastEntry = async () => (await auditOf(api.service, api.owner.organizationId)).at(-1);
const NOT_FOUND = refused(404, "INVITATION_NOT_FOUND");

/** Why the invitation of a link cannot be accepted; null if it can. */
async function stateOf({ link }: Invitation): Promise<string | null> {
  const hash = hashCredential(new URL(link).searchParams.get("token")!);
  const [row] = await api.sql<[{ state: string | null }?]>`
    select case when revoked_at is not null then 'revoked' when expires_at <= now() then 'expired' end as state
    from iam.invitations where link_hash = ${hash}`;
  return row === undefined ? "unknown" : row.state;
}

describe("POST /organization/invitations", () => {
  // test/security/secrets.test.ts checks that no secret of this folder is stored.
  it("creates a link that is valid for 7 days", async () => {
    const { status, body } = await invite({ email: "Grace@Example.com", role: "developer" });
    const invitation = body as Invitation;
    const { id, link, createdAt, expiresAt } = invitation;
    const person = { email: "grace@example.com", role: "developer" };
    const rest = { createdBy: "owner@acme.example", createdAt: INSTANT, expiresAt: INSTANT };
    const mail = { mailed: false, mailFailed: false };
    expect([status, body]).toEqual([201, { id, link, ...person, ...rest, ...mail }]);
    expect(id).toMatch(/^inv_[0-9a-f]{20}$/);
    expect(link).toMatch(/^https:\/\/svc\.example\.com\/invitation\?token=svc_link_[0-9a-f]{48}$/);
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(7 * 86_400_000);
    expect(await stateOf(invitation)).toBeNull();
    expect(await lastEntry()).toEqual(entryOf("invitation.created", id, { ...person, replaced: null }));
  });

  it("replaces the open invitation of the address, whose link becomes invalid, and leaves one of several concurrent ones open", async () => {
    const first = await made("twice@example.com");
    const second = await made("TWICE@example.com", undefined, "owner");
    expect([await stateOf(first), await stateOf(second)]).toEqual(["revoked", null]);
    const { data } = await list();
    expect(data.filter(({ email }) => email === "twice@example.com").map(({ id }) => id)).toEqual([second.id]);
    expect(await lastEntry()).toMatchObject({ details: { replaced: first.id } });
    const roles = ["viewer", "developer", "owner"];
    const requests = roles.map((role) => () => invite({ email: "thrice@example.com", role }));
    const replies = await atOnce(api.service, api.owner.organizationId, requests);
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 201]);
    const states = await Promise.all(replies.map(({ body }) => stateOf(body as Invitation)));
    expect(states.sort()).toEqual([null, "revoked", "revoked"]);
  });

  it("lets two organizations invite the same address, but refuses that of a member, in any case", async () => {
    const both = [await made("both@example.com"), await made("both@example.com", await api.service.owner("other"))];
    expect(await Promise.all(both.map(stateOf))).toEqual([null, null]);
    const taken = { field: "email", value: "owner@acme.example" };
    const reply = await invite({ email: "Owner@ACME.example", role: "viewer" });
    expect(reply).toMatchObject(refused(409, "ALREADY_MEMBER", taken));
  });

  it("refuses the address of somebody who is just accepting an invitation", async () => {
    const { link } = await made("joining@example.com");
    let again: Promise<Reply> | undefined;
    await api.sql.begin(async (tx) => {
      const joined = await call(tx, "accept_invitation", {
        linkHash: hashCredential(new URL(link).searchParams.get("token")!),
        requestId: "req",
        previousHash: null,
        sessionHash: newCredential("session").hash,
        passwordHash: "$argon2id$of-the-holder",
      });
      expect(joined).toBe(true);
      again = invite({ email: "joining@example.com", role: "owner" });
      await waitingRequests(api.service, 1);
    });
    expect(await again).toMatchObject(refused(409, "ALREADY_MEMBER"));
    expect((await list()).data.map(({ email }) => email)).not.toContain("joining@example.com");
  });

  it("refuses what is no address, and accepts one in another script", async () => {
    const addresses = [
      ...["nobody", "a@b@c", "@example.com", "a@", "a b@example.com", "a@example.com,evil@example.com", ""],
      ...["Ada <a@example.com>", '"a"@example.com', "a@example.com\r\nBcc: evil@example.com", "a@example.com\n"],
      ...["a\u202e@example.com", "a\u200b@example.com", "a\u0000@example.com", `${"a".repeat(250)}@b.de`],
    ];
    for (const email of addresses) expect(await invite({ email, role: "viewer" }), email).toMatchObject(invalid());
    const short = invalid("email", "`email` must have at least 3 characters.");
    expect(await invite({ email: "", role: "viewer" })).toMatchObject(short);
    const open = (await list()).data.map(({ email }) => email);
    expect(open.filter((email) => addresses.includes(email))).toEqual([]);
    expect(await made("gr\u00e4ce@b\u00fccher.example")).toMatchObject({ email: "gr\u00e4ce@b\u00fccher.example" });
    for (const body of [{}, { email: ["a@b.de"], role: "viewer" }])
      expect(await invite(body)).toMatchObject(invalid("email"));
    expect(await invite({ email: "a@b.de", role: "root" })).toMatchObject(invalid("role"));
  });
});

it("GET /organization/invitations lists open invitations by address, in pages, without links", async () => {
  const by = await api.service.owner("listing");
  const [c, , , d] = await Promise.all(["c", "a", "b", "d"].map((name) => made(`${name}@example.com`, by)));
  await revoke(d!.id, by);
  await api.sql`update iam.invitations set expires_at = now() where invitation_id = ${c!.id}`;
  const first = await list("?limit=2", by);
  expect(first.data).toMatchObject([{ email: "a@example.com" }, { email: "b@example.com" }]);
  // It expired, but was not revoked.
  const expired = { id: c!.id, email: "c@example.com", role: "viewer", createdBy: "owner@listing.example" };
  const data = [{ ...expired, createdAt: INSTANT, expiresAt: INSTANT }];
  expect(await list(`?limit=2&cursor=${first.nextCursor}`, by)).toEqual({ data, nextCursor: null });
});

it("DELETE /organization/invitations/:invitationId invalidates the link at once, and does not find an accepted one", async () => {
  const invitation = await made("gone@example.com");
  const { link: _, ...rest } = invitation;
  const { status, body } = await revoke(rest.id);
  expect([status, { ...(body as object), mailed: false, mailFailed: false }]).toEqual([200, rest]);
  expect(await stateOf(invitation)).toBe("revoked");
  const details = { email: "gone@example.com", role: "viewer" };
  expect(await lastEntry()).toEqual(entryOf("invitation.revoked", rest.id, details));
  expect(await revoke(rest.id)).toMatchObject(NOT_FOUND);
  const { id: accepted } = await made("kept@example.com");
  await api.sql`update iam.invitations set accepted_at = now() where invitation_id = ${accepted}`;
  expect(await revoke(accepted)).toMatchObject(NOT_FOUND);
});
