import { EventEmitter } from "node:events";
import type { Context } from "koa";
import type { Sql } from "postgres";
import { describe, expect, it } from "vitest";
import { connect } from "../../../../src/db/connect.js";
import { TokenUse } from "../../../../src/http/admin/token-use.js";
import { capturedLog } from "../../../support/captured-log.js";
import type { Actor } from "../../../support/service.js";
import { INSTANT, invalid, type Page, pages, refused, useApi } from "../support/api.js";
import { auditOf, entryOf, join, sessionOf, userIdOf } from "./support.js";

const api = useApi("none");

type Token = Record<"id" | "label" | "accessToken" | "createdAt" | "expiresAt", string> & { role: string | null };

const DAY = 86_400_000;
const create = (body: unknown, by?: Actor) => api.organization("POST", "/tokens", body, by);
const made = async (body: unknown, by?: Actor) => (await create(body, by)).body as Token;
const read = async (query: string, by?: Actor) =>
  (await api.organization("GET", `/tokens?${query}`, undefined, by)).body as Page<Token>;
const labels = (tokens: Token[]) => tokens.map(({ label }) => label);
const revoke = (id: string, by?: Actor) => api.organization("DELETE", `/tokens/${id}`, undefined, by);
const as = ({ accessToken: token }: Token, { organizationId } = api.owner): Actor => ({ token, organizationId });
const whoami = async (by: Actor) => {
  const { status, body } = await api.service.request("GET", "/whoami", { by });
  return status === 200 ? (body as { organization: { role: string } }).organization.role : status;
};
const lifeOf = ({ createdAt, expiresAt }: Token) => Date.parse(expiresAt) - Date.parse(createdAt);
/** A token as shown to its organization, apart from dates. */
const shown = async (token: object, organization: string) => {
  const email = `owner@${organization}.example`;
  const user = { id: await userIdOf(api.service, email), email };
  return { role: null, user, createdAt: INSTANT, expiresAt: INSTANT, lastUsedAt: null, revokedAt: null, ...token };
};

describe("POST /organization/tokens", () => {
  it("creates a token that is valid for 90 days and acts as its creator", async () => {
    const { status, body } = await create({ label: "CI" });
    const token = body as Token;
    const { id, accessToken } = token;
    expect([status, body]).toEqual([201, await shown({ id, label: "CI", accessToken }, "acme")]);
    expect([id, accessToken].join()).toMatch(/^tok_[0-9a-f]{20},svc_token_[0-9a-f]{48}$/);
    expect(lifeOf(token)).toBe(90 * DAY);
    expect(await whoami(as(token))).toBe("owner");
    const entry = entryOf("token.created", id, { label: "CI", role: null, expiresAt: token.expiresAt });
    expect((await auditOf(api.service, api.owner.organizationId)).at(-1)).toEqual(entry);
  });

  it("creates one that is limited to the given role and this organization", async () => {
    const second = await api.service.owner("second");
    await join(api.service, "owner@acme.example", second.organizationId, "owner");
    const token = await made({ label: "reader", role: "viewer", expiresInDays: 1 });
    expect([token.role, lifeOf(token), await whoami(as(token))]).toEqual(["viewer", DAY, "viewer"]);
    expect(await whoami(as(token, second))).toBe(404);
    expect(await create({ label: "more" }, as(token))).toMatchObject(refused(403, "FORBIDDEN"));
  });

  it("creates one whose rights follow those of its user, also if it is limited to a role", async () => {
    const { organizationId } = await api.service.owner("demoted");
    await api.service.owner("demoting");
    await join(api.service, "owner@demoting.example", organizationId, "owner");
    const first = await sessionOf(api.service, "owner@demoted.example", organizationId);
    const other = await sessionOf(api.service, "owner@demoting.example", organizationId);
    const tokens = [await made({ label: "all" }, first), await made({ label: "some", role: "administrator" }, first)];
    const userId = await userIdOf(api.service, "owner@demoted.example");
    await api.organization("PATCH", `/members/${userId}`, { role: "developer" }, other);
    for (const token of tokens) expect(await whoami(as(token, first))).toBe("developer");
  });

  it("refuses invalid tokens", async () => {
    // Several lines, a terminal control sequence, and a right-to-left override.
    const labels = ["", "x".repeat(257), "a\nlevel=error", "\u001b[2J", "\u202eno"];
    const wrong = [
      ...[undefined, ...labels].map((label) => ({ label })),
      ...["root", null].map((role) => ({ role, label: "x" })),
      ...[0, 91, 0.5, "7"].map((expiresInDays) => ({ expiresInDays, label: "x" })),
      { userId: "usr_1", label: "x" },
    ];
    for (const body of wrong)
      expect(await create(body), JSON.stringify(body)).toMatchObject(invalid(Object.keys(body)[0]));
  });
});

it("GET /organization/tokens lists tokens newest first, in pages that later tokens do not shift, also those of one instant", async () => {
  const by = await api.service.owner("listing");
  await made({ label: "second" }, by);
  await made({ label: "third", role: "viewer" }, by);
  const first = await read("limit=2", by);
  expect(labels(first.data)).toEqual(["third", "second"]);
  await made({ label: "fourth" }, by);
  const id = expect.stringMatching(/^tok_[0-9a-f]{20}$/) as string;
  const data = [await shown({ id, label: "bootstrap", lastUsedAt: INSTANT }, "listing")];
  expect(await read(`limit=2&cursor=${first.nextCursor}`, by)).toEqual({ data, nextCursor: null });
  await api.sql`update iam.access_tokens set created_at = '2026-03-01T10:00:00.123456Z'
    where organization_id = ${by.organizationId}`;
  const { items } = await pages((query) => read(query, by), "", 1);
  expect(labels(items).sort()).toEqual(["bootstrap", "fourth", "second", "third"]);
});

it("sessions, which belong to no organization, are neither listed nor revoked", async () => {
  const by = await sessionOf(api.service, "owner@acme.example", api.owner.organizationId);
  expect(labels((await read("", by)).data)).not.toContain("test");
  const [session] = await api.sql<[{ id: string }]>`
    select token_id as id from iam.access_tokens where kind = 'session' limit 1`;
  expect(await revoke(session.id)).toMatchObject(refused(404, "TOKEN_NOT_FOUND"));
});

it("DELETE /organization/tokens/:tokenId revokes a token at once; repeated, it changes nothing", async () => {
  const { accessToken, ...token } = await made({ label: "short" });
  const by = as({ ...token, accessToken });
  expect(await whoami(by)).toBe("owner");
  const reply = await revoke(token.id);
  // Its use is recorded some time after the answer.
  const lastUsedAt = expect.toBeOneOf([null, INSTANT]) as string;
  expect(reply).toMatchObject({ status: 200, body: { ...token, lastUsedAt, revokedAt: INSTANT } });
  expect(await whoami(by)).toBe(401);
  const audit = await auditOf(api.service, api.owner.organizationId);
  expect(audit.at(-1)).toEqual(entryOf("token.revoked", token.id, { label: "short" }));
  expect(await revoke(token.id)).toMatchObject({ status: 200, body: { ...(reply.body as object), lastUsedAt } });
  expect(await auditOf(api.service, api.owner.organizationId)).toEqual(audit);
  // A token can revoke itself.
  const self = await made({ label: "self" });
  expect(await revoke(self.id, as(self))).toMatchObject({ status: 200 });
  expect(await revoke(self.id, as(self))).toMatchObject({ status: 401 });
});

const lastUsed = async ({ organizationId }: Actor) => {
  const [row] = await api.sql<[{ at: Date | null }]>`
    select last_used_at as at from iam.access_tokens where organization_id = ${organizationId}`;
  return row.at;
};

it("a successful request counts as a use of its token, a refused one does not", async () => {
  const by = await api.service.owner("used");
  expect((await api.service.request("GET", "/projects/none/overview", { by })).status).toBe(404);
  expect(await lastUsed(by)).toBeNull();
  expect((await api.service.request("GET", "/whoami", { by })).status).toBe(200);
  await expect.poll(() => lastUsed(by)).toBeInstanceOf(Date);
});

it.each([
  ["4 minutes 59 seconds", false],
  ["5 minutes", true],
])("the database writes a token's row at most once in five minutes: again after %s: %s", async (ago, isWritten) => {
  const [{ hash, before }] = await api.sql<[{ hash: Buffer; before: Date }]>`
    update iam.access_tokens set last_used_at = date_trunc('milliseconds', now()) - ${ago}::interval
    where organization_id = ${api.owner.organizationId} and label = 'bootstrap'
    returning token_hash as hash, last_used_at as before`;
  await api.sql`select svc_api.touch_token(${hash})`;
  const [after] = await api.sql<[{ at: Date }]>`
    select last_used_at as at from iam.access_tokens where token_hash = ${hash}`;
  expect(after.at > before).toBe(isWritten);
});

/** A route that does nothing; `use` makes a request and resolves to whether the use was recorded. */
function counted(sql: Sql, rememberedMax: number) {
  const { log, lines } = capturedLog();
  const route = new TokenUse(sql, log, rememberedMax).count({ method: "GET", path: "/", handle: () => undefined });
  const answer = async ({ token }: Actor) => {
    const res = new EventEmitter();
    await route.handle({ get: () => `Bearer ${token}`, res } as unknown as Context);
    return res;
  };
  const use = async (by: Actor) => {
    await api.sql`
      update iam.access_tokens set last_used_at = null where organization_id = ${by.organizationId}`;
    const res = await answer(by);
    await sql`select`;
    expect(await lastUsed(by)).toBeNull();
    res.emit("close");
    // On the only connection, after earlier queries.
    await sql`select`;
    return (await lastUsed(by)) !== null;
  };
  return { answer, use, lines };
}

const connectAs = () => connect(api.service.db.url, { max: 1, applicationName: "svc test", role: "svc_http" });

it("a process records a token's use once per period, after the answer, and remembers a limited number", async () => {
  const a = await api.service.owner("a");
  const b = await api.service.owner("b");
  const c = await api.service.owner("c");
  const sql = connectAs();
  const { use } = counted(sql, 2);
  expect([await use(a), await use(a), await use(b), await use(a)]).toEqual([true, false, true, false]);
  // The third displaces the first.
  expect([await use(c), await use(b), await use(c), await use(a)]).toEqual([true, false, false, true]);
  await sql.end();
});

it("a use that could not be recorded is logged, without the token", async () => {
  const by = await api.service.owner("away");
  const sql = connectAs();
  await sql.end();
  const { answer, lines } = counted(sql, 2);
  for (const times of [1, 2]) {
    (await answer(by)).emit("close");
    // Tried again, as it was not recorded.
    await expect.poll(() => lines).toHaveLength(times);
  }
  const msg = "the use of an access token could not be recorded";
  expect(lines[0]).toMatchObject({ msg, err: { code: "CONNECTION_ENDED" } });
  expect(JSON.stringify(lines)).not.toContain(by.token);
});
