import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hashSnapshot } from "../../../src/model/snapshot/canonical.js";
import { envelope, environmentId, snapshot, startService, type Actor, type Service } from "../../support/service.js";

let service: Service;
let owner: Actor;
beforeAll(async () => {
  service = await startService();
  owner = await service.owner("acme");
});
afterAll(() => service.stop());

/** A new project; returns what posts to and reads its versions. */
async function project(slug: string) {
  await service.request("POST", "/projects", { by: owner, body: { name: slug, slug } });
  const path = `/projects/${slug}/config-versions`;
  return {
    deploy: (env: string, body: unknown) => service.request("POST", `${path}?env=${env}`, { by: owner, body }),
    list: (query = "") => service.request("GET", `${path}${query}`, { by: owner }),
  };
}

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown;

describe("POST /projects/:project/config-versions", () => {
  it("stores the canonical snapshot as v1 and activates it", async () => {
    const { deploy } = await project("first");
    const model = snapshot();
    // Another order of keys is the same model.
    const shuffled = Object.fromEntries(Object.entries(model).reverse());
    const reply = await deploy("test", { snapshot: shuffled, provenance: { commit: "abc123" } });
    expect(reply.status).toBe(201);
    const hash = hashSnapshot(model);
    expect(reply.body).toEqual({
      version: "v1",
      hash,
      environment: "test",
      activated: true,
      hasCustomers: false,
      created: true,
      warnings: [],
    });
    const [row] = await service.db.sql`
      select v.snapshot::text as snapshot, encode(sha256(convert_to(v.snapshot::text, 'UTF8')), 'hex') as hash,
        v.author, v.provenance, e.active_version, a.kind, a.actor
      from svc.config_versions as v
      join svc.projects as p on p.project_id = v.project_id
      join svc.environments as e on e.project_id = p.project_id and e.name = 'test'
      join svc.config_activations as a on a.environment_id = e.environment_id
      where p.slug = 'first'`;
    expect(row).toMatchObject({
      hash,
      author: "owner@acme.example",
      provenance: { commit: "abc123" },
      active_version: 1,
      kind: "deploy",
      actor: "owner@acme.example",
    });
  });

  it("says whether the environment has customers, whose state stays as it is", async () => {
    const { deploy } = await project("peopled");
    const environment = await environmentId(service.db.sql, "peopled", "live");
    await service.db.sql`
      insert into svc.customers (environment_id, customer_id, created_at) values (${environment}, 'globex', now())`;
    expect((await deploy("test", { snapshot: snapshot() })).body).toMatchObject({ hasCustomers: false });
    expect((await deploy("live", { snapshot: snapshot() })).body).toMatchObject({ hasCustomers: true });
  });

  it("says that what is active already is active, and creates nothing", async () => {
    const { deploy, list } = await project("twice");
    await deploy("test", { snapshot: snapshot() });
    const reply = await deploy("test", { snapshot: snapshot() });
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      version: "v1",
      hash: hashSnapshot(snapshot()),
      environment: "test",
      activated: false,
      hasCustomers: false,
      created: false,
      warnings: [],
    });
    expect((await list()).body).toMatchObject({ data: [{ version: "v1" }], nextCursor: null });
  });

  it("numbers versions one after the other however many are deployed at once", async () => {
    const { deploy } = await project("race");
    const models = Array.from({ length: 6 }, (_, index) => snapshot({ segments: [{ id: `s${index}` }] }));
    const replies = await Promise.all(models.map((model) => deploy("test", { snapshot: model })));
    expect(replies.map((reply) => (reply.body as { version: string }).version).sort()).toEqual([
      "v1",
      "v2",
      "v3",
      "v4",
      "v5",
      "v6",
    ]);
  });

  it("lists every problem of a snapshot as CONFIG_INVALID", async () => {
    const { deploy } = await project("invalid");
    const broken = { ...snapshot(), segments: [{ id: "a", when: { kind: "segment", segment: "gone" } }], health: 1 };
    const reply = await deploy("test", { snapshot: broken });
    expect(reply.status).toBe(422);
    expect(reply.body).toEqual(
      envelope("CONFIG_INVALID", "The snapshot is not a valid configuration.", {
        fix: "Correct the model and compile it again; diagnostics lists every problem.",
        diagnostics: expect.arrayContaining([
          { code: "INVALID_SHAPE", path: "health", message: expect.any(String) as string },
        ]) as unknown,
      }),
    );
  });

  it("refuses unknown provenance and an unknown environment", async () => {
    const { deploy } = await project("unknown");
    const body = { snapshot: snapshot(), provenance: { secret: "x" } };
    expect(await deploy("test", body)).toMatchObject({
      status: 400,
      body: { error: { code: "VALIDATION_ERROR", field: "provenance.secret" } },
    });
    expect(await deploy("staging", { snapshot: snapshot() })).toMatchObject({
      status: 400,
      body: { error: { code: "VALIDATION_ERROR", field: "env", message: "`env` must be one of test, live." } },
    });
  });

  it("refuses a body of more than 8 MiB, and reads it to the end so that the client sees the answer", async () => {
    const { deploy } = await project("large");
    const reply = await deploy("test", { snapshot: "x".repeat(9 * 1024 * 1024) });
    expect(reply.status).toBe(413);
    expect(reply.body).toEqual(
      envelope("PAYLOAD_TOO_LARGE", "The body is too large.", {
        reason: "At most 8388608 bytes are read.",
        fix: "Send less, in several requests if need be.",
      }),
    );
  });

  it("compiles the schema for ingestion, a thousand properties and enum values included", async () => {
    const { deploy } = await project("wide");
    const properties = Object.fromEntries(
      Array.from({ length: 1000 }, (_, index) => [`p${index}`, { type: "number" as const, optional: true as const }]),
    );
    const values = Array.from({ length: 1000 }, (_, index) => `value ${index}`);
    const model = snapshot({
      events: { wide: { properties }, choice: { properties: { one: { type: "string", enum: values } } } },
      lifecycle: null,
    });
    expect((await deploy("test", { snapshot: model })).status).toBe(201);
    const rows = await service.db.sql`
      select c.event,
        svc.payload_conforms(jsonb_build_object('one', 'value 999'), c.names, c.predicate) as enum_holds,
        svc.payload_conforms(jsonb_build_object('one', 'value 1000'), c.names, c.predicate) as enum_fails,
        svc.payload_conforms(jsonb_build_object('p0', 1, 'p999', 2), c.names, c.predicate) as wide_holds,
        svc.payload_conforms(jsonb_build_object('p0', 1, 'q', 2), c.names, c.predicate) as wide_fails
      from svc.payload_checks as c join svc.projects as p on p.project_id = c.project_id
      where p.slug = 'wide' order by c.event`;
    expect(rows.map((row) => ({ ...row }))).toMatchObject([
      { event: "" },
      { event: "choice", enum_holds: true, enum_fails: false },
      { event: "wide", wide_holds: true, wide_fails: false },
    ]);
  });
});

describe("GET /projects/:project/config-versions", () => {
  it("lists versions newest first with where they are active, in pages", async () => {
    const { deploy, list } = await project("list");
    const models = ["a", "b", "c"].map((id) => snapshot({ segments: [{ id }] }));
    await deploy("test", { snapshot: models[0], provenance: { ref: "main" } });
    await deploy("live", { snapshot: models[1] });
    await deploy("test", { snapshot: models[2] });
    const version = (n: number, active: string[], provenance: unknown = null) => ({
      version: `v${n}`,
      hash: hashSnapshot(models[n - 1]!),
      author: "owner@acme.example",
      createdAt: timestamp,
      provenance,
      active,
    });
    const first = await list("?limit=2");
    expect(first.status).toBe(200);
    expect(first.body).toEqual({
      data: [version(3, ["test"]), version(2, ["live"])],
      nextCursor: expect.any(String) as string,
    });
    const second = await list(`?limit=2&cursor=${(first.body as { nextCursor: string }).nextCursor}`);
    expect(second.body).toEqual({ data: [version(1, [], { ref: "main" })], nextCursor: null });
  });

  it.each([
    ["limit=0", "limit", "`limit` must be at least 1."],
    ["limit=201", "limit", "`limit` must be at most 200."],
    ["limit=two", "limit", "`limit` must be an integer."],
    ["limit=1&limit=2", "limit", "`limit` is given more than once."],
    ["env=", "env", "`env` must be one of test, live."],
    ["order=up", "order", "`order` is not known here."],
    ["cursor=", "cursor", "`cursor` must not be empty."],
  ])("refuses ?%s", async (query, field, message) => {
    const { list } = await project("queries");
    expect(await list(`?${query}`)).toMatchObject({
      status: 400,
      body: { error: { code: "VALIDATION_ERROR", field, message } },
    });
  });
});
