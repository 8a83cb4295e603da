import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { envelope, startService, type Actor, type Service } from "../../../support/service.js";
import { auditOf, join, sessionOf, STRANGE_IDS, timestamp, userIdOf } from "./support.js";

let service: Service;
let owner: Actor;
beforeAll(async () => {
  service = await startService();
  owner = await service.owner("acme");
});
afterAll(() => service.stop());

interface Token {
  id: string;
  label: string;
  role: string | null;
  accessToken: string;
  createdAt: string;
  expiresAt: string;
}

const list = (by = owner, query = "") => service.request("GET", `/organization/tokens${query}`, { by });
const create = (body: unknown, by = owner) => service.request("POST", "/organization/tokens", { by, body });
const made = async (body: unknown, by = owner) => (await create(body, by)).body as Token;
const revoke = (id: string, by = owner) => service.request("DELETE", `/organization/tokens/${id}`, { by });
const as = ({ accessToken: token }: Token, { organizationId } = owner): Actor => ({ token, organizationId });
const whoami = async (by: Actor) => {
  const { status, body } = await service.request("GET", "/whoami", { by });
  return status === 200 ? (body as { organization: { role: string } }).organization.role : status;
};
const tokenNotFound = (shown: string) =>
  envelope("TOKEN_NOT_FOUND", `There is no token "${shown}" in this organization.`, {
    fix: "Check the id; GET /organization/tokens lists the tokens.",
  });

describe("POST /organization/tokens", () => {
  it("makes a token of 90 days that acts as its maker, and keeps only its hash", async () => {
    const reply = await create({ label: "CI" });
    expect(reply.status).toBe(201);
    expect(reply.body).toEqual({
      id: expect.stringMatching(/^tok_[0-9a-f]{20}$/) as unknown,
      label: "CI",
      role: null,
      user: { id: await userIdOf(service, "owner@acme.example"), email: "owner@acme.example" },
      createdAt: timestamp,
      expiresAt: timestamp,
      lastUsedAt: null,
      revokedAt: null,
      accessToken: expect.stringMatching(/^svc_token_[0-9a-f]{48}$/) as unknown,
    });
    const token = reply.body as Token;
    expect(Date.parse(token.expiresAt) - Date.parse(token.createdAt)).toBe(90 * 86_400_000);
    expect(await whoami(as(token))).toBe("owner");
    const rows = await service.db.sql`select t::text as row from iam.access_tokens as t`;
    expect(JSON.stringify(rows)).not.toContain("svc_token_");
    expect((await auditOf(service, owner.organizationId)).at(-1)).toEqual({
      action: "token.created",
      actor: "owner@acme.example",
      requestId: "req",
      target: token.id,
      details: { label: "CI", role: null, expiresAt: token.expiresAt },
    });
  });

  it("makes one that may do no more than the role it is given", async () => {
    const token = await made({ label: "reader", role: "viewer", expiresInDays: 1 });
    expect(token.role).toBe("viewer");
    expect(Date.parse(token.expiresAt) - Date.parse(token.createdAt)).toBe(86_400_000);
    expect(await whoami(as(token))).toBe("viewer");
    const reply = await create({ label: "more" }, as(token));
    expect(reply).toMatchObject({ status: 403, body: { error: { code: "FORBIDDEN" } } });
  });

  it("makes one that never may do more than its user", async () => {
    const { organizationId } = await service.owner("demoted");
    await service.owner("demoting");
    await join(service, "owner@demoting.example", organizationId, "owner");
    const first = await sessionOf(service, "owner@demoted.example", organizationId);
    const other = await sessionOf(service, "owner@demoting.example", organizationId);
    const own = await made({ label: "all" }, first);
    const capped = await made({ label: "some", role: "administrator" }, first);
    const userId = await userIdOf(service, "owner@demoted.example");
    await service.request("PATCH", `/organization/members/${userId}`, { by: other, body: { role: "developer" } });
    expect([await whoami(as(own, first)), await whoami(as(capped, first))]).toEqual(["developer", "developer"]);
  });

  it("makes one that is good for this organization only", async () => {
    const second = await service.owner("second");
    await join(service, "owner@acme.example", second.organizationId, "owner");
    const token = await made({ label: "here" });
    expect(await whoami(as(token, second))).toBe(404);
  });

  it.each([
    ["no label", {}, "label"],
    ["an empty label", { label: "" }, "label"],
    ["a long label", { label: "x".repeat(257) }, "label"],
    ["a label of several lines", { label: "a\nlevel=error" }, "label"],
    ["a label that steers the terminal", { label: "\u001b[2J" }, "label"],
    ["a label that turns the text", { label: "\u202eno" }, "label"],
    ["an unknown role", { label: "x", role: "root" }, "role"],
    ["no role in so many words", { label: "x", role: null }, "role"],
    ["no day", { label: "x", expiresInDays: 0 }, "expiresInDays"],
    ["91 days", { label: "x", expiresInDays: 91 }, "expiresInDays"],
    ["half a day", { label: "x", expiresInDays: 0.5 }, "expiresInDays"],
    ["days as text", { label: "x", expiresInDays: "7" }, "expiresInDays"],
    ["a user", { label: "x", userId: "usr_1" }, "userId"],
    ["an array", [], undefined],
  ])("refuses a body with %s", async (_what, body, field) => {
    const reply = await create(body);
    expect(reply).toMatchObject({ status: 400, body: { error: { code: "VALIDATION_ERROR" } } });
    expect((reply.body as { error: { field?: string } }).error.field).toBe(field);
  });
});

it("a label with NUL is refused", async () => {
  expect(await create({ label: "a\u0000" })).toMatchObject({
    status: 400,
    body: { error: { code: "VALIDATION_ERROR" } },
  });
});

describe("GET /organization/tokens", () => {
  it("lists tokens newest first, in pages that later tokens do not move", async () => {
    const by = await service.owner("listing");
    await made({ label: "second" }, by);
    await made({ label: "third", role: "viewer" }, by);
    const labels = (reply: { body: unknown }) => (reply.body as { data: Token[] }).data.map(({ label }) => label);
    const first = await list(by, "?limit=2");
    expect(labels(first)).toEqual(["third", "second"]);
    await made({ label: "fourth" }, by);
    const rest = await list(by, `?limit=2&cursor=${(first.body as { nextCursor: string }).nextCursor}`);
    expect(rest.body).toEqual({
      data: [
        {
          id: expect.stringMatching(/^tok_[0-9a-f]{20}$/) as unknown,
          label: "bootstrap",
          role: null,
          user: { id: await userIdOf(service, "owner@listing.example"), email: "owner@listing.example" },
          createdAt: timestamp,
          expiresAt: timestamp,
          lastUsedAt: timestamp,
          revokedAt: null,
        },
      ],
      nextCursor: null,
    });
  });

  it("keeps tokens of one instant apart", async () => {
    const by = await service.owner("instant");
    await Promise.all(["a", "b", "c", "d"].map((label) => made({ label }, by)));
    await service.db.sql`update iam.access_tokens set created_at = '2026-03-01T10:00:00.123456Z'
      where organization_id = ${by.organizationId}`;
    const seen: string[] = [];
    let cursor = "";
    do {
      const { body } = await list(by, `?limit=2${cursor}`);
      const { data, nextCursor } = body as { data: Token[]; nextCursor: string | null };
      seen.push(...data.map(({ label }) => label));
      cursor = nextCursor === null ? "" : `&cursor=${nextCursor}`;
    } while (cursor !== "");
    expect(seen.sort()).toEqual(["a", "b", "bootstrap", "c", "d"]);
  });

  it.each(["9999999999999999 tok_00000000000000000000x", "99999999999999999 tok_00000000000000000000", "1", "1 2 3"])(
    "refuses a forged cursor: %s",
    async (position) => {
      const cursor = Buffer.from(JSON.stringify(["tokens", position])).toString("base64url");
      const reply = await list(owner, `?cursor=${cursor}`);
      expect(reply).toMatchObject({ status: 400, body: { error: { code: "VALIDATION_ERROR", field: "cursor" } } });
    },
  );

  it("shows no sessions, which are of no organization", async () => {
    const session = await sessionOf(service, "owner@acme.example", owner.organizationId);
    const { data } = (await list(session)).body as { data: Token[] };
    expect(data.map(({ label }) => label)).not.toContain("test");
  });
});

describe("DELETE /organization/tokens/:tokenId", () => {
  it("stops a token at once; done again it changes nothing", async () => {
    const { accessToken, ...token } = await made({ label: "short" });
    const by = as({ ...token, accessToken });
    expect(await whoami(by)).toBe("owner");
    const reply = await revoke(token.id);
    expect(reply.status).toBe(200);
    expect({ ...(reply.body as object), lastUsedAt: null }).toEqual({ ...token, revokedAt: timestamp });
    expect(await whoami(by)).toBe(401);
    const audit = await auditOf(service, owner.organizationId);
    expect(audit.at(-1)).toEqual({
      action: "token.revoked",
      actor: "owner@acme.example",
      requestId: "req",
      target: token.id,
      details: { label: "short" },
    });
    expect(await revoke(token.id)).toMatchObject({ status: 200, body: reply.body as object });
    expect(await auditOf(service, owner.organizationId)).toEqual(audit);
  });

  it("may be the token's own last act", async () => {
    const token = await made({ label: "self" });
    expect((await revoke(token.id, as(token))).status).toBe(200);
    expect((await revoke(token.id, as(token))).status).toBe(401);
  });

  it("knows no token of another organization, and no session", async () => {
    const other = await service.owner("stranger");
    const { id } = await made({ label: "kept" });
    const reply = await revoke(id, other);
    expect([reply.status, reply.body]).toEqual([404, tokenNotFound(id)]);
    const [session] = await service.db.sql<[{ id: string }]>`
      select token_id as id from iam.access_tokens where kind = 'session' limit 1`;
    expect((await revoke(session.id)).body).toEqual(tokenNotFound(session.id));
  });

  it.each(STRANGE_IDS)("refuses an id %s", async (_what, id, shown) => {
    const reply = await revoke(id);
    if (shown === null) expect(reply).toMatchObject({ status: 400, body: { error: { code: "VALIDATION_ERROR" } } });
    else expect([reply.status, reply.body]).toEqual([404, tokenNotFound(shown)]);
  });
});
