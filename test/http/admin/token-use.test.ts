import { EventEmitter } from "node:events";
import type { Context } from "koa";
import type { Sql } from "postgres";
import { expect, it } from "vitest";
import { connect } from "../../../src/db/connect.js";
import { TokenUse } from "../../../src/http/admin/token-use.js";
import { capturedLog } from "../../support/captured-log.js";
import type { Actor } from "../../support/service.js";
import { useApi } from "./support/api.js";

const api = useApi("none");

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

it("the database writes a token's row at most once in five minutes", async () => {
  const by = await api.service.owner("seldom");
  const { sql } = api;
  const touch = async (ago: string) => {
    const [row] = await sql<[{ hash: Buffer; before: string }]>`
      update iam.access_tokens set last_used_at = now() - ${ago}::interval
      where organization_id = ${by.organizationId} returning token_hash as hash, last_used_at::text as before`;
    await sql`select svc_api.touch_token(${row.hash})`;
    const [after] = await sql<[{ at: string }]>`
      select last_used_at::text as at from iam.access_tokens where organization_id = ${by.organizationId}`;
    return after.at !== row.before;
  };
  expect(await touch("4 minutes 59 seconds")).toBe(false);
  expect(await touch("5 minutes")).toBe(true);
});

/** Answers requests by a route that does nothing; `use` resolves to whether the database was told of the token. */
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
    // On the one connection, after what was asked before.
    await sql`select`;
    return (await lastUsed(by)) !== null;
  };
  return { answer, use, lines };
}

const connectAs = () => connect(api.service.db.url, { max: 1, applicationName: "svc test", role: "svc_http" });

it("a process tells of a token once in a while, after the answer, and remembers no more than so many", async () => {
  const a = await api.service.owner("a");
  const b = await api.service.owner("b");
  const c = await api.service.owner("c");
  const sql = connectAs();
  const { use } = counted(sql, 2);
  expect([await use(a), await use(a), await use(b), await use(a)]).toEqual([true, false, true, false]);
  // The third one makes it forget the first.
  expect([await use(c), await use(b), await use(c), await use(a)]).toEqual([true, false, false, true]);
  await sql.end();
});

it("a use that could not be noted is in the log, without the token", async () => {
  const by = await api.service.owner("away");
  const sql = connectAs();
  await sql.end();
  const { answer, lines } = counted(sql, 2);
  for (const times of [1, 2]) {
    (await answer(by)).emit("close");
    // Told again, as it was not noted.
    await expect.poll(() => lines).toHaveLength(times);
  }
  expect(lines[0]).toMatchObject({
    msg: "the use of an access token could not be recorded",
    err: { code: "CONNECTION_ENDED" },
  });
  expect(JSON.stringify(lines)).not.toContain(by.token);
});
