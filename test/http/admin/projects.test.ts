import { beforeAll, describe, expect, it } from "vitest";
import { hashCredential } from "../../../src/http/request/credentials.js";
import { snapshot } from "../../support/service.js";
import { INSTANT, invalid, type Page, pages, refused, useApi } from "./support/api.js";

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
    const stored = (key: string) => ({ key_hash: hashCredential(key), hint: key.slice(0, 13), tokens: 100_000 });
    expect([...rows]).toEqual([
      { name: "test", ...stored(keys.test) },
      { name: "live", ...stored(keys.live) },
    ]);
  });

  it("creates one project per slug in concurrent requests, and lets another organization use the slug", async () => {
    const body = { name: "Race", slug: "race" };
    const replies = await Promise.all(Array.from({ length: 8 }, () => create(body)));
    const message = 'This organization already has a project "race".';
    const taken = refused(409, "SLUG_TAKEN", { message, field: "slug", value: "race" });
    const sorted = replies.toSorted((a, b) => a.status - b.status);
    expect(sorted).toMatchObject([{ status: 201 }, ...Array<object>(7).fill(taken)]);
    expect(await create(body, await api.service.owner("other"))).toMatchObject({ status: 201 });
  });

  it("lists everything that is wrong with a body", async () => {
    const slug = "must be 1 to 63 lower-case letters, digits and hyphens, and must not begin with a hyphen.";
    const wrong = Object.entries({ name: "is required.", colour: "is not known here.", slug });
    const found = wrong.map(([path, what]) => ({ code: "INVALID_STRUCTURE", path, message: `\`${path}\` ${what}` }));
    const problems = expect.arrayContaining(found) as unknown;
    const reply = await create({ slug: "-No", colour: "red" });
    expect(reply).toMatchObject(refused(400, "VALIDATION_ERROR", { problems, requestId: "req" }));
  });

  it("refuses invalid names and slugs, and text that cannot be stored or shown", async () => {
    const wrong: [body: unknown, field: string | undefined, message?: string | RegExp][] = [
      [[], undefined, "The body must be an object."],
      [{ name: "", slug: "a" }, "name", "`name` must not be empty."],
      [{ name: "n".repeat(257), slug: "a" }, "name", "`name` must have at most 256 characters."],
      [{ name: "n", slug: "a".repeat(64) }, "slug", /^`slug` must be 1 to 63/],
      [{ name: 1, slug: "a" }, "name", "`name` must be a string."],
      ...["\n", "\u001b[2J", "\u202e", "\u2028"].map((c): [object, string] => [{ name: `App${c}`, slug: "f" }, "name"]),
    ];
    for (const [body, field, message] of wrong)
      expect(await create(body), JSON.stringify(body)).toMatchObject(invalid(field, message));
    for (const value of ["\\u0000", "\\ud800"])
      expect(await create(`{"name":"a${value}b","slug":"nul"}`)).toMatchObject(
        refused(400, "VALIDATION_ERROR", { value }),
      );
    // Any other name is kept exactly.
    const name = `<b>"𝒳"'); drop table svc.projects; --`;
    expect(await create({ name, slug: "names" })).toMatchObject({ status: 201, body: { project: { name } } });
  });
});

it("GET /projects lists the organization's projects by slug, in stable pages", async () => {
  const by = await api.service.owner("lists");
  const add = (slug: string) => create({ name: `The ${slug}`, slug }, by);
  for (const slug of ["b", "d", "a"]) await add(slug);
  await create({ name: "Not theirs", slug: "foreign" });
  const read = async (query: string) => {
    const reply = await api.service.request("GET", `/projects?${query}`, { by });
    // Additions before and after the position shift nothing.
    if (query === "limit=2") for (const slug of ["aa", "c"]) await add(slug);
    return reply.body as Page<object>;
  };
  const environments = { test: NONE, live: NONE };
  const project = (slug: string) => ({ slug, name: `The ${slug}`, createdAt: INSTANT, environments });
  const { items, sizes } = await pages(read, "", 2);
  expect([items, sizes]).toEqual([["a", "b", "c", "d"].map(project), [2, 2]]);
});

it("GET /projects/:project shows the active version of each environment, and since when", async () => {
  expect(await api.post("/config-versions", { snapshot: snapshot() })).toMatchObject({ status: 201 });
  const environments = { test: { activeVersion: "v1", activatedAt: INSTANT }, live: NONE };
  expect(await api.read("")).toEqual({ slug: "app", name: "App", createdAt: INSTANT, environments });
});

describe("GET /projects/:project/overview", () => {
  beforeAll(() => api.newProject("overviewed"));
  const overview = () => api.read("/overview?env=test");

  it("is all zero before anything happened", async () => {
    expect(await overview()).toEqual({
      ...{ environment: "test", configVersion: null, customers: 0, customersDue: 0, customersSetAside: 0 },
      ...{ lifecycle: [], segments: [], emissions: {} },
      events: { accepted: 0, pending: 0, ahead: 0 },
      webhooks: { delivered: 0, pending: 0, failed: 0 },
    });
  });

  it("counts everything, the funnel in the author's order and by the present history", async () => {
    await api.post("/config-versions", { snapshot: snapshot() });
    const { sql } = api;
    const id = await api.environmentId();
    await sql`insert into svc.ingest_batches (environment_id, batch_seq, batch_id, accepted_at, tracked, identified, late)
      values (${id}, 1, gen_random_uuid(), now(), 7, 2, false), (${id}, 2, gen_random_uuid(), now(), 1, 0, true)`;
    await sql`insert into svc.inbox (environment_id, customer_id, seq, not_before)
      values (${id}, 'a', 1024, null), (${id}, 'a', 1025, '2999-01-01Z'), (${id}, 'd', 1026, 'infinity')`;
    await sql`insert into svc.customers (environment_id, customer_id, created_at, lifecycle, next_due_at, set_aside_at, generation)
      values (${id}, 'a', now(), 'active', now(), null, 0), (${id}, 'b', now(), 'new', '2026-01-01Z', null, 1),
        (${id}, 'c', now(), 'retired', '2999-01-01Z', null, 0), (${id}, 'd', now(), null, now(), now(), 0),
        (${id}, 'e', now(), null, null, null, 1)`;
    // b was active before a recompute changed that; one of e's histories had a model without a lifecycle.
    await sql`insert into svc.lifecycle_transitions (
        environment_id, customer_id, from_state, to_state, transitioned_at, cause_type, generation
      )
      values
        (${id}, 'a', null, 'new', now(), 'event', 0), (${id}, 'a', 'new', 'active', now(), 'event', 0),
        (${id}, 'b', null, 'new', now(), 'event', 0), (${id}, 'b', 'new', 'active', now(), 'event', 0),
        (${id}, 'b', null, 'new', now(), 'job', 1), (${id}, 'c', null, 'retired', now(), 'event', 0),
        (${id}, 'e', null, 'new', now(), 'event', 0), (${id}, 'e', 'new', 'active', now(), 'event', 0)`;
    await sql`insert into svc.segment_memberships (environment_id, segment_id, customer_id, entered_at, exited_at)
      values (${id}, 'paying', 'a', now(), null), (${id}, 'paying', 'b', now(), now()), (${id}, 'old', 'c', now(), null)`;
    await sql`insert into svc.webhooks (environment_id, webhook_id, url, event_types, sealed_secret)
      values (${id}, 'whk_1', 'https://example.com', '{*}', '')`;
    await sql`insert into svc.emissions (
        environment_id, emission_seq, customer_id, event_type, source, metadata, emitted_at, cause_type
      )
      select ${id}, n, 'a', 'customer.active', 'lifecycle', '{}', now(), 'event' from generate_series(1, 4) as n`;
    await sql`insert into svc.deliveries (environment_id, webhook_id, emission_seq, status, finished_at)
      values (${id}, 'whk_1', 1, 'delivered', now()), (${id}, 'whk_1', 2, 'delivered', now()),
        (${id}, 'whk_1', 3, 'failed', now()), (${id}, 'whk_1', 4, 'pending', null)`;

    expect(await overview()).toEqual({
      ...{ environment: "test", configVersion: "v1", customers: 5, customersDue: 2, customersSetAside: 1 },
      events: { accepted: 8, pending: 3, ahead: 1 },
      lifecycle: [
        { state: "new", customers: 1, everEntered: 2 },
        { state: "active", customers: 1, everEntered: 1 },
        { state: "retired", customers: 1, everEntered: 1 },
      ],
      segments: [
        { segment: "paying", members: 1 },
        { segment: "chosen", members: 0 },
        { segment: "old", members: 1 },
      ],
      webhooks: { delivered: 2, pending: 1, failed: 1 },
      emissions: { "customer.active": 4 },
    });
  });
});
