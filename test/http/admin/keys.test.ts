import { describe, expect, it } from "vitest";
import { INSTANT, invalid, refused, TEXT, useApi, type Page } from "./support/api.js";

const api = useApi("each");
const { post, read, readAll, audit, entry } = api;

interface Key {
  id: string;
  name: string;
  status: string;
  lastUsedAt: string | null;
  revokedAt: string | null;
}
interface Created {
  key: Key;
  secret: string;
  replaced: { id: string; revokedAt: string };
}

const create = async (name = "backend", query = "") => (await post(`/keys${query}`, { name })).body as Created;
const revoke = (id: string) => post(`/keys/${id}/revoke`);
const rotate = (id: string, body: object = {}) => post(`/keys/${id}/rotate`, body);
const list = async () => (await read<Page<Key>>("/keys")).data;
const send = (secret: string, body: object = { customerId: "globex", event: "login" }) =>
  api.service.request("POST", "/v1/events", { headers: { Authorization: `Bearer ${secret}` }, body });
/** The status of a request with each key. */
const sendAll = async (...secrets: string[]) =>
  (await Promise.all(secrets.map((one) => send(one)))).map((r) => r.status);

describe("POST /projects/:project/keys", () => {
  it("adds a key and shows it once; ingestion accepts it, and the audit log does not have it", async () => {
    const { status, body } = await post("/keys?env=live", { name: "Importer (nightly)" });
    const { secret } = body as Created;
    const key = { id: expect.stringMatching(/^key_[0-9a-f]{20}$/) as string, name: "Importer (nightly)" };
    const made = { createdAt: INSTANT, createdBy: "owner@acme.example", hint: secret.slice(0, 13) };
    const state = { status: "active", lastUsedAt: null, revokedAt: null };
    expect([status, body]).toEqual([201, { key: { ...key, ...made, ...state }, secret }]);
    expect(secret).toMatch(/^svc_live_[0-9a-f]{48}$/);
    expect(await sendAll(secret)).toEqual([202]);
    expect(await api.sql`select from svc.api_keys where hint = ${secret}`).toHaveLength(0);
    const [{ id }] = (await read<Page<Key>>("/keys?env=live")).data as [Key];
    expect(await audit("key")).toEqual([entry("key.created", id, { name: key.name }, "live")]);
  });

  it("refuses an invalid name", async () => {
    for (const name of ["", "n".repeat(257), "a\nb", "a\u202eb", 7])
      expect(await post("/keys", { name })).toMatchObject(invalid("name"));
    expect(await list()).toHaveLength(1);
  });
});

describe("GET /projects/:project/keys", () => {
  it("lists the keys of the environment, newest first, in pages, also those created at the same instant", async () => {
    const made = [await create("a"), await create("b"), await create("c")];
    await create("of another environment", "?env=live");
    const page = await read<Page<Key>>("/keys?limit=3");
    expect(page.data.map(({ name }) => name)).toEqual(["c", "b", "a"]);
    expect(page.data[0]).toEqual(made[2]!.key);
    // A key added meanwhile neither shifts nor repeats the others.
    await create("d");
    expect(await read(`/keys?limit=3&cursor=${page.nextCursor}`)).toMatchObject({
      data: [{ name: "default", hint: api.keys.test.slice(0, 13) }],
      nextCursor: null,
    });
    await api.sql`
      update svc.api_keys set created_at = '2026-03-02T10:00:00.123456Z' where environment_id = ${await api.environmentId()}`;
    const { items } = await readAll<Key>("/keys", 2);
    expect(items.map(({ name }) => name).sort()).toEqual(["a", "b", "c", "d", "default"]);
  });

  it("shows when a key was last used, and null before its first use", async () => {
    const { key, secret } = await create();
    const lastUsedAt = async () => (await list()).find(({ id }) => id === key.id)!.lastUsedAt;
    expect(await lastUsedAt()).toBeNull();
    const before = new Date().toISOString();
    await send(secret);
    const used = await lastUsedAt();
    expect(used! >= before && used! <= new Date().toISOString()).toBe(true);
    // A refused request does not count as use.
    await send(secret, {});
    expect(await lastUsedAt()).toBe(used);
  });
});

it("POST /projects/:project/keys/:keyId/revoke revokes a key at once; repeated, it changes nothing and is not recorded", async () => {
  const { key, secret } = await create();
  expect(await sendAll(secret)).toEqual([202]);
  const revoked = { ...key, status: "revoked", lastUsedAt: INSTANT, revokedAt: INSTANT };
  const once = await revoke(key.id);
  expect(once).toMatchObject({ status: 200, body: { key: revoked } });
  expect(await sendAll(secret, api.keys.test)).toEqual([401, 202]);
  expect(await revoke(key.id)).toMatchObject({ status: 200, body: once.body as object });
  expect((await audit("key")).slice(1)).toMatchObject([{ action: "key.revoked", target: key.id }]);
});

describe("POST /projects/:project/keys/:keyId/rotate", () => {
  it("creates a new key with the same name; both work until the grace period ends; the replacement is recorded", async () => {
    const { key, secret } = await create("importer");
    const began = Date.now();
    const { status, body } = await rotate(key.id);
    const rotated = body as Created;
    const another = { ...key, id: TEXT, hint: rotated.secret.slice(0, 13), createdAt: INSTANT };
    const shown = expect.stringMatching(/^svc_test_[0-9a-f]{48}$/) as string;
    const replaced = { id: key.id, revokedAt: INSTANT };
    expect([status, body]).toEqual([201, { key: another, secret: shown, replaced }]);
    expect(rotated.key.id).not.toBe(key.id);
    const { revokedAt } = rotated.replaced;
    expect(Date.parse(revokedAt)).toBeGreaterThanOrEqual(began + 86_400_000 - 1_000);
    expect(Date.parse(revokedAt)).toBeLessThanOrEqual(Date.now() + 86_400_000);
    const details = { name: "importer", replacedBy: rotated.key.id, revokedAt };
    expect((await audit("key"))[1]).toEqual(entry("key.rotated", key.id, details));

    expect(await sendAll(secret, rotated.secret)).toEqual([202, 202]);
    expect(await list()).toMatchObject([
      { id: rotated.key.id, status: "active" },
      { id: key.id, status: "expiring" },
      { status: "active" },
    ]);
    // The grace period has ended.
    await api.sql`update svc.api_keys set revoked_at = now() where api_key_id = ${key.id}`;
    expect(await sendAll(secret, rotated.secret)).toEqual([401, 202]);
  });

  it("revokes the old key at once without a grace period, which a revocation also cuts short", async () => {
    const { key, secret } = await create();
    const next = (await rotate(key.id, { grace: "0m" })).body as Created;
    expect(await sendAll(secret, next.secret)).toEqual([401, 202]);
    await rotate(next.key.id, { grace: "30d" });
    expect(await sendAll(next.secret)).toEqual([202]);
    expect(await revoke(next.key.id)).toMatchObject({ status: 200, body: { key: { status: "revoked" } } });
    expect(await sendAll(next.secret)).toEqual([401]);
  });

  it("does not rotate a key in its grace period, nor a revoked one", async () => {
    const { key } = await create();
    const { replaced } = (await rotate(key.id)).body as Created;
    const running = `The key "${key.id}" was rotated already and works until ${replaced.revokedAt}.`;
    expect(await rotate(key.id)).toMatchObject(refused(409, "KEY_REVOKED", { message: running }));
    const { key: ended } = (await revoke(key.id)).body as Created;
    const revoked = `The key "${key.id}" was revoked at ${ended.revokedAt}.`;
    expect(await rotate(key.id)).toMatchObject(refused(409, "KEY_REVOKED", { message: revoked }));
    expect(await list()).toHaveLength(3);
  });

  it("creates one key in concurrent requests", async () => {
    const { key } = await create();
    const replies = await Promise.all(Array.from({ length: 6 }, () => rotate(key.id)));
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    expect(await list()).toHaveLength(3);
  });

  it("refuses a grace that is not a duration, or longer than 30 days", async () => {
    const { key } = await create();
    const notOne = "`grace` is not a duration, or longer than 3650d.";
    for (const grace of ["-1d", ""]) expect(await rotate(key.id, { grace })).toMatchObject(invalid("grace", notOne));
    for (const grace of ["31d", "43201m"])
      expect(await rotate(key.id, { grace })).toMatchObject(invalid("grace", "`grace` is too long."));
    expect(await list()).toHaveLength(2);
  });
});

it("a key of the other environment can be neither rotated nor revoked", async () => {
  const { key } = await create();
  for (const change of ["rotate", "revoke"])
    expect(await post(`/keys/${key.id}/${change}?env=live`)).toMatchObject(refused(404, "KEY_NOT_FOUND"));
  expect((await list()).find(({ id }) => id === key.id)).toEqual(key);
});
