import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { envelope, snapshot, startService, type Actor, type Service } from "../../support/service.js";

let service: Service;
let owner: Actor;
beforeAll(async () => {
  service = await startService();
  owner = await service.owner("acme");
});
afterAll(() => service.stop());

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown;

describe("POST /projects", () => {
  it("creates a project with two environments and shows a key of each once", async () => {
    const reply = await service.request("POST", "/projects", { by: owner, body: { name: "Acme app", slug: "app" } });
    expect(reply.status).toBe(201);
    expect(reply.body).toEqual({
      project: { slug: "app", name: "Acme app", createdAt: timestamp },
      keys: {
        test: expect.stringMatching(/^svc_test_[0-9a-f]{48}$/) as unknown,
        live: expect.stringMatching(/^svc_live_[0-9a-f]{48}$/) as unknown,
      },
    });
    const { keys } = reply.body as { keys: { test: string; live: string } };
    const rows = await service.db.sql`
      select e.name, k.key_hash, k.hint, b.tokens
      from svc.api_keys as k
      join svc.environments as e on e.environment_id = k.environment_id
      join svc.key_usage as b on b.key_hash = k.key_hash
      order by e.name desc`;
    expect(rows.map((row) => ({ ...row }))).toEqual([
      { name: "test", key_hash: sha256(keys.test), hint: keys.test.slice(0, 13), tokens: 100_000 },
      { name: "live", key_hash: sha256(keys.live), hint: keys.live.slice(0, 13), tokens: 100_000 },
    ]);
  });

  it("answers SLUG_TAKEN for a slug that the organization has, and lets another one have it", async () => {
    const body = { name: "Again", slug: "again" };
    expect((await service.request("POST", "/projects", { by: owner, body })).status).toBe(201);
    const reply = await service.request("POST", "/projects", { by: owner, body });
    expect(reply.status).toBe(409);
    expect(reply.body).toEqual(
      envelope("SLUG_TAKEN", 'This organization already has a project "again".', {
        field: "slug",
        value: "again",
        fix: "Choose another slug.",
      }),
    );
    const other = await service.owner("other");
    expect((await service.request("POST", "/projects", { by: other, body })).status).toBe(201);
  });

  it("creates one project of a slug however many ask at once", async () => {
    const requests = Array.from({ length: 8 }, () =>
      service.request("POST", "/projects", { by: owner, body: { name: "Race", slug: "race" } }),
    );
    const statuses = (await Promise.all(requests)).map((reply) => reply.status);
    expect(statuses.sort()).toEqual([201, 409, 409, 409, 409, 409, 409, 409]);
  });

  it("lists everything that is wrong with a body", async () => {
    const reply = await service.request("POST", "/projects", { by: owner, body: { slug: "-No", colour: "red" } });
    expect(reply.status).toBe(400);
    const says = (path: string, message: string) => ({ code: "INVALID_STRUCTURE", path, message });
    expect((reply.body as { error: { diagnostics: unknown[] } }).error.diagnostics).toEqual(
      expect.arrayContaining([
        says("name", "`name` is required."),
        says("colour", "`colour` is not known here."),
        says(
          "slug",
          "`slug` must be 1 to 63 lower-case letters, digits and hyphens, and must not begin with a hyphen.",
        ),
      ]),
    );
    expect(reply.body).toMatchObject({ error: { code: "VALIDATION_ERROR", requestId: "req" } });
  });

  it.each([
    ["not an object", [], "The body must be an object."],
    ["an empty name", { name: "", slug: "a" }, "`name` must not be empty."],
    ["a name that is too long", { name: "n".repeat(257), slug: "a" }, "`name` must have at most 256 characters."],
    ["a slug that is too long", { name: "n", slug: "a".repeat(64) }, /^`slug` must be 1 to 63/],
    ["a name of another type", { name: 1, slug: "a" }, "`name` must be a string."],
  ])("refuses %s", async (_what, body, message) => {
    const reply = await service.request("POST", "/projects", { by: owner, body });
    expect(reply).toMatchObject({ status: 400, body: { error: { code: "VALIDATION_ERROR" } } });
    expect((reply.body as { error: { message: string } }).error.message).toMatch(message);
  });

  it.each([
    ["U+0000", '{"name":"a\\u0000b","slug":"nul"}', "\\u0000"],
    ["half of a surrogate pair", '{"name":"\\ud800","slug":"half"}', "\\ud800"],
  ])("refuses %s in text", async (_what, body, value) => {
    const reply = await service.request("POST", "/projects", { by: owner, body });
    expect(reply).toMatchObject({ status: 400, body: { error: { code: "VALIDATION_ERROR", value } } });
  });

  it.each(["\n", "\u001b[2J", "\u202e", "\u2028"])("refuses the character %j in a name", async (character) => {
    const body = { name: `App${character}`, slug: "forged" };
    const reply = await service.request("POST", "/projects", { by: owner, body });
    expect(reply).toMatchObject({ status: 400, body: { error: { code: "VALIDATION_ERROR", field: "name" } } });
  });

  it("keeps any other name exactly", async () => {
    const name = `<b>"𝒳"'); drop table svc.projects; --`;
    const reply = await service.request("POST", "/projects", { by: owner, body: { name, slug: "names" } });
    expect(reply).toMatchObject({ status: 201, body: { project: { name } } });
  });
});

describe("GET /projects", () => {
  it("lists the organization's projects in the order of their slugs, in pages", async () => {
    const by = await service.owner("lists");
    const other = await service.owner("lists-not");
    const add = (slug: string, actor = by) =>
      service.request("POST", "/projects", { by: actor, body: { name: `The ${slug}`, slug } });
    for (const slug of ["b", "d", "a"]) await add(slug);
    await add("foreign", other);
    const get = async (query: string) => {
      const reply = await service.request("GET", `/projects${query}`, { by });
      expect(reply.status).toBe(200);
      return reply.body as { data: unknown[]; nextCursor: string | null };
    };
    const none = { activeVersion: null, activatedAt: null };
    const project = (slug: string) => ({
      slug,
      name: `The ${slug}`,
      createdAt: timestamp,
      environments: { test: none, live: none },
    });
    const first = await get("?limit=2");
    expect(first).toEqual({ data: [project("a"), project("b")], nextCursor: expect.any(String) as string });
    // What is added before the position and after it moves nothing.
    await add("aa");
    await add("c");
    expect(await get(`?limit=2&cursor=${first.nextCursor}`)).toEqual({
      data: [project("c"), project("d")],
      nextCursor: null,
    });
  });
});

describe("GET /projects/:project", () => {
  it("shows what is active in each environment, and since when", async () => {
    await service.request("POST", "/projects", { by: owner, body: { name: "Shown", slug: "shown" } });
    const deployed = await service.request("POST", "/projects/shown/config-versions", {
      by: owner,
      body: { snapshot: snapshot() },
    });
    expect(deployed.status).toBe(201);
    const reply = await service.request("GET", "/projects/shown", { by: owner });
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      slug: "shown",
      name: "Shown",
      createdAt: timestamp,
      environments: {
        test: { activeVersion: "v1", activatedAt: timestamp },
        live: { activeVersion: null, activatedAt: null },
      },
    });
  });

  it("does not know a project that is not there, or another organization's", async () => {
    const other = await service.owner("stranger");
    for (const [by, slug] of [
      [owner, "absent"],
      [other, "shown"],
    ] as const) {
      const reply = await service.request("GET", `/projects/${slug}`, { by });
      expect(reply.status).toBe(404);
      expect(reply.body).toEqual(
        envelope("PROJECT_NOT_FOUND", `There is no project "${slug}" in this organization.`, {
          fix: "Check the slug and the organization; GET /projects lists its projects.",
        }),
      );
    }
  });
});

describe("GET /whoami", () => {
  it("shows the user, the organization and the role", async () => {
    const reply = await service.request("GET", "/whoami", { by: owner });
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      user: { email: "owner@acme.example" },
      organization: { id: owner.organizationId, slug: "acme", role: "owner" },
    });
  });
});

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
