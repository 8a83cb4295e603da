import { describe, expect, it } from "vitest";
import { hashCredential } from "../../../src/http/request/credentials.js";
import { snapshot } from "../../support/service.js";
import { INSTANT, invalid, pages, refused, useApi, type Page } from "./support/api.js";

const api = useApi();
const create = (body: unknown, by = api.owner) => api.service.request("POST", "/projects", { by, body });
const NONE = { activeVersion: null, activatedAt: null };

describe("POST /projects", () => {
  it("creates a project with two environments and shows a key of each once", async () => {
    const { status, body } = await create({ name: "Acme app", slug: "acme-app" });
    const { keys } = body as { keys: { test: string; live: string } };
    const project = { slug: "acme-app", name: "Acme app", createdAt: INSTANT };
    expect([status, body]).toEqual([201, { project, keys }]);
    for (const env of ["test", "live"] as const) expect(keys[env]).toMatch(new RegExp(`^svc_${env}_[0-9a-f]{48}$`));
    const rows = await api.sql`
      select e.name, k.key_hash, k.hint, b.tokens
      from svc.api_keys as k
      join svc.environments as e on e.environment_id = k.environment_id
      join svc.projects as p on p.project_id = e.project_id
      join svc.key_usage as b on b.key_hash = k.key_hash
      where p.slug = 'acme-app'
      order by e.name desc`;
    expect([...rows]).toEqual(
      (["test", "live"] as const).map((name) => ({
        name,
        key_hash: hashCredential(keys[name]),
        hint: keys[name].slice(0, 13),
        tokens: 100_000,
      })),
    );
  });

  it("answers SLUG_TAKEN for a slug that the organization has, and lets another one have it", async () => {
    const body = { name: "Again", slug: "again" };
    expect(await create(body)).toMatchObject({ status: 201 });
    const message = 'This organization already has a project "again".';
    expect(await create(body)).toMatchObject(refused(409, "SLUG_TAKEN", { message, field: "slug", value: "again" }));
    expect(await create(body, await api.service.owner("other"))).toMatchObject({ status: 201 });
  });

  it("creates one project of a slug however many ask at once", async () => {
    const replies = await Promise.all(Array.from({ length: 8 }, () => create({ name: "Race", slug: "race" })));
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409, 409, 409]);
  });

  it("lists everything that is wrong with a body", async () => {
    const slug = "must be 1 to 63 lower-case letters, digits and hyphens, and must not begin with a hyphen.";
    const wrong = { name: "is required.", colour: "is not known here.", slug };
    const diagnostics = expect.arrayContaining(
      Object.entries(wrong).map(([path, what]) => ({
        code: "INVALID_STRUCTURE",
        path,
        message: `\`${path}\` ${what}`,
      })),
    ) as unknown;
    const reply = await create({ slug: "-No", colour: "red" });
    expect(reply).toMatchObject(refused(400, "VALIDATION_ERROR", { diagnostics, requestId: "req" }));
  });

  it.each([
    ["not an object", [], "The body must be an object."],
    ["an empty name", { name: "", slug: "a" }, "`name` must not be empty."],
    ["a name that is too long", { name: "n".repeat(257), slug: "a" }, "`name` must have at most 256 characters."],
    ["a slug that is too long", { name: "n", slug: "a".repeat(64) }, /^`slug` must be 1 to 63/],
    ["a name of another type", { name: 1, slug: "a" }, "`name` must be a string."],
  ])("refuses %s", async (_what, body, message) => {
    expect(await create(body)).toMatchObject(invalid(undefined, message));
  });

  it.each([
    ["U+0000", '{"name":"a\\u0000b","slug":"nul"}', "\\u0000"],
    ["half of a surrogate pair", '{"name":"\\ud800","slug":"half"}', "\\ud800"],
  ])("refuses %s in text", async (_what, body, value) => {
    expect(await create(body)).toMatchObject(refused(400, "VALIDATION_ERROR", { value }));
  });

  it.each(["\n", "\u001b[2J", "\u202e", "\u2028"])("refuses the character %j in a name", async (character) => {
    expect(await create({ name: `App${character}`, slug: "forged" })).toMatchObject(invalid("name"));
  });

  it("keeps any other name exactly", async () => {
    const name = `<b>"𝒳"'); drop table svc.projects; --`;
    expect(await create({ name, slug: "names" })).toMatchObject({ status: 201, body: { project: { name } } });
  });
});

it("GET /projects lists the organization's projects in the order of their slugs, in pages that do not move", async () => {
  const by = await api.service.owner("lists");
  const add = (slug: string) => create({ name: `The ${slug}`, slug }, by);
  for (const slug of ["b", "d", "a"]) await add(slug);
  await create({ name: "Not theirs", slug: "foreign" });
  const read = async (query: string) => {
    const reply = await api.service.request("GET", `/projects?${query}`, { by });
    // What is added before the position and after it moves nothing.
    if (query === "limit=2") for (const slug of ["aa", "c"]) await add(slug);
    return reply.body as Page<object>;
  };
  const project = (slug: string) => ({
    slug,
    name: `The ${slug}`,
    createdAt: INSTANT,
    environments: { test: NONE, live: NONE },
  });
  const { items, sizes } = await pages(read, "", 2);
  expect([items, sizes]).toEqual([["a", "b", "c", "d"].map(project), [2, 2]]);
});

it("GET /projects/:project shows what is active in each environment, and since when", async () => {
  expect(await api.post("/config-versions", { snapshot: snapshot() })).toMatchObject({ status: 201 });
  const environments = { test: { activeVersion: "v1", activatedAt: INSTANT }, live: NONE };
  expect(await api.read("")).toEqual({ slug: "app", name: "App", createdAt: INSTANT, environments });
});

it("GET /whoami shows the user, the organization and the role", async () => {
  const { organizationId: id } = api.owner;
  const { body } = await api.service.request("GET", "/whoami", { by: api.owner });
  const organization = { id, slug: "acme", role: "owner" };
  expect(body).toEqual({ user: { email: "owner@acme.example" }, organization });
});
