import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { envelope, startService, type Actor, type Service } from "../../support/service.js";

let service: Service;
let owner: Actor;
beforeAll(async () => {
  service = await startService();
  owner = await service.owner("acme");
});
afterAll(() => service.stop());

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown;
const keyId = expect.stringMatching(/^key_[0-9a-f]{20}$/) as unknown;

interface Key {
  id: string;
  name: string;
  hint: string;
  status: string;
  lastUsedAt: string | null;
  revokedAt: string | null;
}
interface Created {
  key: Key;
  secret: string;
  replaced: { id: string; revokedAt: string };
}

let slug = "";
let projects = 0;
/** A project of its own for each test, and its first keys. */
let first: { test: string; live: string };
beforeEach(async () => {
  slug = `p${projects++}`;
  const reply = await service.request("POST", "/projects", { by: owner, body: { name: "App", slug } });
  first = (reply.body as { keys: typeof first }).keys;
});

const post = (path: string, body: unknown = {}, by = owner) =>
  service.request("POST", `/projects/${slug}/keys${path}`, { by, body });
const list = async (query = "") => {
  const reply = await service.request("GET", `/projects/${slug}/keys${query}`, { by: owner });
  expect(reply.status).toBe(200);
  return reply.body as { data: Key[]; nextCursor: string | null };
};
const create = async (name = "backend", query = "") => (await post(query, { name })).body as Created;
const send = (secret: string) =>
  service.request("POST", "/v1/events", {
    headers: { Authorization: `Bearer ${secret}` },
    body: { customerId: "globex", event: "login" },
  });
const audit = () =>
  service.db.sql`
    select action, project, environment, target, details, actor, request_id from iam.audit_log
    where project = ${slug} and action like 'key.%' order by audit_seq`;

describe("POST /projects/:project/keys", () => {
  it("adds a key, shows it once, and ingestion takes it", async () => {
    const reply = await post("?env=live", { name: "Importer (nightly)" });
    expect(reply.status).toBe(201);
    const { secret } = reply.body as Created;
    const key = {
      id: keyId,
      name: "Importer (nightly)",
      hint: secret.slice(0, 13),
      status: "active",
      createdAt: timestamp,
      createdBy: "owner@acme.example",
      lastUsedAt: null,
      revokedAt: null,
    };
    expect(reply.body).toEqual({ key, secret: expect.stringMatching(/^svc_live_[0-9a-f]{48}$/) as unknown });
    expect(await send(secret)).toMatchObject({ status: 202 });
    expect(await service.db.sql`select from svc.api_keys where hint = ${secret}`).toHaveLength(0);
  });

  it("writes an audit entry without the key", async () => {
    const { key } = await create();
    expect([...(await audit())]).toEqual([
      {
        action: "key.created",
        project: slug,
        environment: "test",
        target: key.id,
        details: { name: "backend" },
        actor: "owner@acme.example",
        request_id: "req",
      },
    ]);
  });

  it.each([
    ["no body", undefined],
    ["a list", []],
    ["null", "null"],
    ["no name", {}],
    ["a name of another type", { name: 7 }],
    ["an empty name", { name: "" }],
    ["a name that is too long", { name: "n".repeat(257) }],
    ["a line break", { name: "a\nb" }],
    ["a change of direction", { name: "a\u202eb" }],
    ["a member that is not known", { name: "a", secret: "svc_test_mine" }],
    ["JSON that ends early", '{"name":'],
  ])("refuses %s", async (_what, body) => {
    const reply = await service.request("POST", `/projects/${slug}/keys`, { by: owner, body });
    expect([400, 415]).toContain(reply.status);
    expect((await list()).data).toHaveLength(1);
  });
});

describe("GET /projects/:project/keys", () => {
  it("lists the keys of the environment, the newest first, in pages", async () => {
    const made = [await create("a"), await create("b"), await create("c")];
    await create("of another environment", "?env=live");
    const page = await list("?limit=3");
    expect(page.data.map(({ name }) => name)).toEqual(["c", "b", "a"]);
    expect(page.data[0]).toEqual(made[2]!.key);
    // A key that is made meanwhile neither moves nor repeats the others.
    await create("d");
    expect(await list(`?limit=3&cursor=${page.nextCursor}`)).toEqual({
      data: [expect.objectContaining({ name: "default", hint: first.test.slice(0, 13) })],
      nextCursor: null,
    });
  });

  it("pages through keys that were made in one instant", async () => {
    await Promise.all(["a", "b", "c", "d"].map((name) => create(name)));
    await service.db.sql`
      update svc.api_keys set created_at = '2026-03-02T10:00:00.123456Z'
      where environment_id = (
        select e.environment_id from svc.environments as e join svc.projects as p on p.project_id = e.project_id
        where p.slug = ${slug} and e.name = 'test'
      )`;
    const seen: string[] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const page: Awaited<ReturnType<typeof list>> = await list(`?limit=2${cursor && `&cursor=${cursor}`}`);
      seen.push(...page.data.map(({ name }) => name));
      cursor = page.nextCursor;
    }
    expect(seen.sort()).toEqual(["a", "b", "c", "d", "default"]);
  });

  it("tells when a key was last used, and nothing before its first use", async () => {
    const { key, secret } = await create();
    const lastUsedAt = async () => (await list()).data.find(({ id }) => id === key.id)!.lastUsedAt;
    expect(await lastUsedAt()).toBeNull();
    const before = new Date().toISOString();
    await send(secret);
    const used = await lastUsedAt();
    expect(used! >= before && used! <= new Date().toISOString()).toBe(true);
    // A refused request is no use.
    await service.request("POST", "/v1/events", { headers: { Authorization: `Bearer ${secret}` }, body: {} });
    expect(await lastUsedAt()).toBe(used);
  });

  it.each(["1 key_x", "x key_00000000000000000000", "9".repeat(30) + " key_00000000000000000000", ""])(
    "refuses a cursor that was forged as %j",
    async (position) => {
      const cursor = Buffer.from(JSON.stringify(["keys", position])).toString("base64url");
      const reply = await service.request("GET", `/projects/${slug}/keys?cursor=${cursor}`, { by: owner });
      expect(reply).toMatchObject({ status: 400, body: { error: { code: "VALIDATION_ERROR", field: "cursor" } } });
    },
  );
});

describe("POST /projects/:project/keys/:keyId/revoke", () => {
  it("ends a key at once: the next request with it is refused", async () => {
    const { key, secret } = await create();
    expect(await send(secret)).toMatchObject({ status: 202 });
    const reply = await post(`/${key.id}/revoke`);
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      key: { ...key, status: "revoked", lastUsedAt: timestamp, revokedAt: timestamp },
    });
    const refused = await send(secret);
    expect(refused.status).toBe(401);
    expect(refused.body).toEqual(envelope("INVALID_API_KEY", "The API key is missing, malformed, unknown or revoked."));
    expect(await send(first.test)).toMatchObject({ status: 202 });
  });

  it("is the same a second time, and is written down once", async () => {
    const { key } = await create();
    const once = await post(`/${key.id}/revoke`);
    const twice = await post(`/${key.id}/revoke`);
    expect(twice.status).toBe(200);
    expect(twice.body).toEqual(once.body);
    expect((await audit()).map(({ action, target }) => [action, target])).toEqual([
      ["key.created", key.id],
      ["key.revoked", key.id],
    ]);
  });

  it("cuts a grace period short", async () => {
    const { key, secret } = await create();
    await post(`/${key.id}/rotate`, { grace: "30d" });
    expect(await send(secret)).toMatchObject({ status: 202 });
    expect(await post(`/${key.id}/revoke`)).toMatchObject({ status: 200, body: { key: { status: "revoked" } } });
    expect(await send(secret)).toMatchObject({ status: 401 });
  });
});

describe("POST /projects/:project/keys/:keyId/rotate", () => {
  it("makes a new key of the same name; both work until the grace is over", async () => {
    const { key, secret } = await create("importer");
    const began = Date.now();
    const reply = await post(`/${key.id}/rotate`);
    expect(reply.status).toBe(201);
    const rotated = reply.body as Created;
    expect(rotated).toEqual({
      key: { ...key, id: keyId, hint: rotated.secret.slice(0, 13), createdAt: timestamp },
      secret: expect.stringMatching(/^svc_test_[0-9a-f]{48}$/) as unknown,
      replaced: { id: key.id, revokedAt: timestamp },
    });
    expect(rotated.key.id).not.toBe(key.id);
    const until = Date.parse(rotated.replaced.revokedAt);
    expect(until).toBeGreaterThanOrEqual(began + 86_400_000 - 1_000);
    expect(until).toBeLessThanOrEqual(Date.now() + 86_400_000);

    expect([await send(secret), await send(rotated.secret)]).toMatchObject([{ status: 202 }, { status: 202 }]);
    expect((await list()).data.map(({ id, status }) => [id, status])).toEqual([
      [rotated.key.id, "active"],
      [key.id, "expiring"],
      [expect.any(String), "active"],
    ]);
    // The grace is over.
    await service.db.sql`update svc.api_keys set revoked_at = now() where api_key_id = ${key.id}`;
    expect([await send(secret), await send(rotated.secret)]).toMatchObject([{ status: 401 }, { status: 202 }]);
  });

  it("ends the old key at once without a grace", async () => {
    const { key, secret } = await create();
    const { body } = await post(`/${key.id}/rotate`, { grace: "0m" });
    expect([await send(secret), await send((body as Created).secret)]).toMatchObject([
      { status: 401 },
      { status: 202 },
    ]);
  });

  it("counts the month's events over the old key and the new one", async () => {
    const { key, secret } = await create();
    await send(secret);
    await send(secret);
    const { secret: next } = (await post(`/${key.id}/rotate`)).body as Created;
    await send(next);
    await send(secret);
    const [row] = await service.db.sql`
      select svc.month_events(${owner.organizationId}, svc.month_of(now())) as events,
        (select sum(u.month_events) from svc.key_usage as u join svc.api_keys as k on k.key_hash = u.key_hash
         join svc.environments as e on e.environment_id = k.environment_id join svc.projects as p on p.project_id = e.project_id
         where p.slug = ${slug}) as of_project`;
    expect(Number(row!["of_project"])).toBe(4);
    expect(Number(row!["events"])).toBeGreaterThanOrEqual(4);
  });

  it("writes down which key took the place of which", async () => {
    const { key } = await create();
    const rotated = (await post(`/${key.id}/rotate`, { grace: "1h" })).body as Created;
    expect((await audit())[1]).toEqual({
      action: "key.rotated",
      project: slug,
      environment: "test",
      target: key.id,
      details: { name: "backend", replacedBy: rotated.key.id, revokedAt: rotated.replaced.revokedAt },
      actor: "owner@acme.example",
      request_id: "req",
    });
  });

  it("does not rotate a key again that was rotated, whose grace still runs", async () => {
    const { key } = await create();
    const { replaced } = (await post(`/${key.id}/rotate`)).body as Created;
    const reply = await post(`/${key.id}/rotate`);
    expect(reply.status).toBe(409);
    expect(reply.body).toEqual(
      envelope("KEY_REVOKED", `The key "${key.id}" was rotated already and works until ${replaced.revokedAt}.`, {
        fix: "Rotate the key that took its place, or create a new one.",
      }),
    );
  });

  it("does not rotate a key that is revoked", async () => {
    const { key } = await create();
    const revoked = (await post(`/${key.id}/revoke`)).body as Created;
    const reply = await post(`/${key.id}/rotate`);
    expect(reply.status).toBe(409);
    expect(reply.body).toEqual(
      envelope("KEY_REVOKED", `The key "${key.id}" was revoked at ${revoked.key.revokedAt}.`, {
        fix: "Rotate the key that took its place, or create a new one.",
      }),
    );
    expect((await list()).data).toHaveLength(2);
  });

  it("makes one key however many ask at once", async () => {
    const { key } = await create();
    const replies = await Promise.all(Array.from({ length: 6 }, () => post(`/${key.id}/rotate`)));
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    expect((await list()).data).toHaveLength(3);
  });

  it.each([
    ["no duration", "soon", "`grace` is not a duration."],
    ["a negative one", "-1d", "`grace` is not a duration."],
    ["nothing", "", "`grace` is not a duration."],
    ["more than 30 days", "31d", "`grace` is too long."],
    ["more than 30 days in minutes", "43201m", "`grace` is too long."],
  ])("refuses a grace that is %s", async (_what, grace, message) => {
    const { key } = await create();
    const reply = await post(`/${key.id}/rotate`, { grace });
    expect(reply).toMatchObject({
      status: 400,
      body: { error: { code: "VALIDATION_ERROR", field: "grace", message } },
    });
    expect((await list()).data).toHaveLength(2);
  });
});

describe("a key that is not there", () => {
  it.each(["rotate", "revoke"])("cannot be %sd", async (change) => {
    const reply = await post(`/key_1/${change}`);
    expect(reply.status).toBe(404);
    expect(reply.body).toEqual(
      envelope("KEY_NOT_FOUND", 'There is no key "key_1" in this environment.', {
        fix: "Check the id and the environment; the list of keys shows what there is.",
      }),
    );
  });

  it.each(["rotate", "revoke"])("is one of another environment or organization: no %s", async (change) => {
    const { key } = await create();
    expect(await post(`/${key.id}/${change}?env=live`)).toMatchObject({ status: 404 });
    const stranger = await service.owner(`other-${slug}`);
    const foreign = await post(`/${key.id}/${change}`, {}, stranger);
    expect(foreign).toMatchObject({ status: 404, body: { error: { code: "PROJECT_NOT_FOUND" } } });
    await service.request("POST", "/projects", { by: stranger, body: { name: "Same slug", slug } });
    expect(await post(`/${key.id}/${change}`, {}, stranger)).toMatchObject({
      status: 404,
      body: { error: { code: "KEY_NOT_FOUND" } },
    });
    expect((await list()).data.find(({ id }) => id === key.id)).toEqual(key);
  });
});
