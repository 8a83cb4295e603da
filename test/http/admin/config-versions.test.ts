import { describe, expect, it } from "vitest";
import { stateBudget } from "../../../src/engine/index.js";
import { canonicalJson, hashSnapshot } from "../../../src/model/snapshot/canonical.js";
import { EMPTY_SNAPSHOT, type Snapshot } from "../../../src/model/snapshot/types.js";
import { snapshot } from "../../support/service.js";
import { INSTANT, invalid, refused, TEXT } from "./support/api.js";
import { named, useConfig } from "./support/config.js";

const { api, deploy, deployAll, promote, rollback } = useConfig();
const { get, post, read } = api;

const modelOf = (segment: string) => snapshot(named(segment));
const NOT_FOUND = refused(404, "VERSION_NOT_FOUND");
/** The answer to a deploy of this snapshot. */
const deployed = (created: boolean) => {
  const version = { version: "v1", hash: hashSnapshot(snapshot()), environment: "test" };
  return { ...version, activated: created, created, hasCustomers: false, warnings: [] };
};

describe("POST /projects/:project/config-versions", () => {
  it("stores the canonical snapshot as v1 and activates it; repeated, it creates nothing", async () => {
    // Another order of keys is the same model.
    const shuffled = Object.fromEntries(Object.entries(snapshot()).reverse());
    const first = await post("/config-versions?env=test", { snapshot: shuffled, provenance: { commit: "abc123" } });
    expect([first.status, first.body]).toEqual([201, deployed(true)]);
    const [row] = await api.sql`
      select encode(sha256(convert_to(v.snapshot::text, 'UTF8')), 'hex') as hash, v.author, v.provenance, e.active_version, a.kind, a.actor
      from svc.config_versions as v
      join svc.projects as p on p.project_id = v.project_id
      join svc.environments as e on e.project_id = p.project_id and e.name = 'test'
      join svc.config_activations as a on a.environment_id = e.environment_id
      where p.slug = ${api.slug}`;
    const by = "owner@acme.example";
    const version = { hash: hashSnapshot(snapshot()), author: by, provenance: { commit: "abc123" } };
    expect(row).toEqual({ ...version, active_version: 1, kind: "deploy", actor: by });
    const again = await deploy();
    expect([again.status, again.body]).toEqual([200, deployed(false)]);
    expect(await read("/config-versions")).toMatchObject({ data: [{ version: "v1" }], nextCursor: null });
  });

  it("numbers versions consecutively however many are deployed at once", async () => {
    const replies = await Promise.all(["a", "b", "c", "d", "e", "f"].map((segment) => deploy(named(segment))));
    const versions = replies.map(({ body }) => (body as { version: string }).version);
    expect(versions.sort()).toEqual(["v1", "v2", "v3", "v4", "v5", "v6"]);
  });

  it("lists every problem of a snapshot as CONFIG_INVALID, and refuses unknown provenance", async () => {
    const broken = { ...snapshot(), segments: [{ id: "a", when: { kind: "segment", segment: "gone" } }], health: 1 };
    const shape = { code: "INVALID_SHAPE", path: "health", message: TEXT };
    const invalidConfig = refused(422, "CONFIG_INVALID", { problems: expect.arrayContaining([shape]) as unknown });
    expect(await post("/config-versions", { snapshot: broken })).toMatchObject(invalidConfig);
    expect(await deploy({}, "test", { provenance: { secret: "x" } })).toMatchObject(invalid("provenance.secret"));
  });

  it("compiles the schema for ingestion, a thousand properties and enum values included", async () => {
    const properties = Object.fromEntries(
      Array.from({ length: 1000 }, (_, index) => [`p${index}`, { type: "number" as const, optional: true as const }]),
    );
    const values = Array.from({ length: 1000 }, (_, index) => `value ${index}`);
    const choice = { properties: { one: { type: "string" as const, enum: values } } };
    expect(await deploy({ events: { wide: { properties }, choice }, lifecycle: null })).toMatchObject({ status: 201 });
    const rows = await api.sql`
      select c.event,
        svc.payload_conforms(jsonb_build_object('one', 'value 999'), c.names, c.predicate) as enum_holds,
        svc.payload_conforms(jsonb_build_object('one', 'value 1000'), c.names, c.predicate) as enum_fails,
        svc.payload_conforms(jsonb_build_object('p0', 1, 'p999', 2), c.names, c.predicate) as wide_holds,
        svc.payload_conforms(jsonb_build_object('p0', 1, 'q', 2), c.names, c.predicate) as wide_fails
      from svc.payload_checks as c join svc.projects as p on p.project_id = c.project_id
      where p.slug = ${api.slug} order by c.event`;
    expect(rows.map((row) => ({ ...row }))).toMatchObject([
      { event: "" },
      { event: "choice", enum_holds: true, enum_fails: false },
      { event: "wide", wide_holds: true, wide_fails: false },
    ]);
  });
});

describe("GET /projects/:project/config-versions", () => {
  it("lists versions newest first with where they are active, in pages, and shows each with its snapshot", async () => {
    await deploy(named("a"), "test", { provenance: { ref: "main" } });
    await deploy(named("b"), "live");
    await deploy(named("c"));
    const version = (n: number, segment: string, active: string[], provenance: unknown = null) => {
      const hash = hashSnapshot(modelOf(segment));
      return { version: `v${n}`, hash, active, provenance, author: "owner@acme.example", createdAt: INSTANT };
    };
    const oldest = version(1, "a", [], { ref: "main" });
    const all = [version(3, "c", ["test"]), version(2, "b", ["live"]), oldest];
    expect(await api.readAll("/config-versions", 2)).toEqual({ items: all, sizes: [2, 1] });
    expect(await read("/config-versions/v1")).toEqual({ ...oldest, snapshot: modelOf("a") });
    // Byte for byte, so that its hash can be recomputed.
    expect(await api.text("/config-versions/v2")).toContain(canonicalJson(modelOf("b")));
  });

  it("finds latest as the newest version, active or not, and nothing by other names", async () => {
    expect(await get("/config-versions/latest")).toMatchObject(NOT_FOUND);
    await deployAll("a", "b");
    await rollback("v1");
    const latest = { version: "v2", active: [], snapshot: modelOf("b") };
    expect(await read("/config-versions/latest")).toMatchObject(latest);
    for (const name of ["v3", "v0", "v01", "vv1", "v99999999999", "V1", "1", "LATEST", "v1%20", "..%2Fv1"])
      expect(await get(`/config-versions/${name}`), name).toMatchObject(NOT_FOUND);
  });

  it("reports what is wrong with a query", async () => {
    const twice = invalid("limit", "`limit` is given more than once.");
    expect(await get("/config-versions?limit=1&limit=2")).toMatchObject(twice);
    const nameless = invalid(undefined, "A parameter of the query has no name.");
    expect(await get("/config-versions?=1")).toMatchObject(nameless);
    expect(await get("/config-versions?env=")).toMatchObject(invalid("env", "`env` must be one of test, live."));
  });
});

describe("GET /projects/:project/config-diff", () => {
  const what = { subject: "segment", path: "segments[0]", message: "filled by rules" };
  const added = (id: string) => ({ kind: "added", id, ...what, before: null, after: { id } });
  const removed = (id: string) => ({ kind: "removed", id, ...what, before: { id }, after: null });

  it("compares two versions, and refuses unknown and invalid ones", async () => {
    await deployAll("a", "b");
    await promote("v1");
    const forwards = { from: "v1", to: "v2", changes: [added("b"), removed("a")] };
    for (const query of ["", "?from=v1", "?to=v2", "?from=v1&to=latest"])
      expect(await read(`/config-diff${query}`), query).toEqual(forwards);
    expect(await read("/config-diff?from=v2&to=v2")).toEqual({ from: "v2", to: "v2", changes: [] });
    const backwards = { from: "v2", to: "v1", changes: [added("a"), removed("b")] };
    expect(await read("/config-diff?from=v2&to=v1")).toEqual(backwards);
    for (const query of ["from=v3", "to=v3"])
      expect(await get(`/config-diff?${query}`), query).toMatchObject(NOT_FOUND);
    for (const query of ["from=v01", "to=v99999999999", "to=V1", "from="])
      expect(await get(`/config-diff?${query}`), query).toMatchObject(invalid(query.split("=")[0]));
  });

  it("compares the first version with nothing", async () => {
    await deployAll("a");
    type Diff = { from: null; to: string; changes: { kind: string; subject: string; id: string }[] };
    const { from, to, changes } = await read<Diff>("/config-diff?to=v1");
    expect([from, to, ...changes.map(({ kind, subject, id }) => `${kind} ${subject} ${id}`)]).toEqual([
      ...[null, "v1", "changed setting strictSchema", "added event login", "added trait plan", "added setting initial"],
      ...["added state new", "added state active", "added segment a"],
    ]);
  });
});

/** A model with this many windows over the distinct users of one event. */
function busy(windows: number, users: number): Snapshot {
  const when = { kind: "distinct", of: { event: "login" }, property: "user", operator: "gte", value: users } as const;
  const segments = Array.from({ length: windows }, (_, i) => ({ id: `s${i}`, when: { ...when, within: `${i + 1}d` } }));
  const small = { kind: "count", of: { event: "login" }, operator: "gte", value: 3, within: "1d" } as const;
  return {
    ...EMPTY_SNAPSHOT,
    events: { login: { properties: { user: { type: "string" } } } },
    segments: [{ id: "small", when: small }, ...segments],
  };
}

it("a model that can store more per customer than the plan allows, to the byte, is refused with its largest parts", async () => {
  const message = "The model may remember up to 4 MiB for one customer, and the plan allows 1 MiB.";
  const most = { message: "remembers up to 4 MiB, which 400 conditions share", path: "segments[1].when" };
  const least = { message: "remembers up to 149 bytes", path: "segments[0].when" };
  const problems = [most, least].map((part) => ({ code: "STATE_TOO_LARGE", ...part }));
  for (const what of ["config-versions", "previews"]) {
    const reply = await post(`/${what}?env=test`, { snapshot: busy(400, 9_900) });
    expect(reply, what).toMatchObject(refused(422, "STATE_TOO_LARGE", { message, problems }));
  }
  const { bytes } = stateBudget(busy(2, 3_000));
  for (const [limit, status] of [
    [bytes - 1, 422],
    [bytes, 201],
  ] as const) {
    await api.sql`update iam.plans set state_bytes = ${limit}`;
    expect(await post("/config-versions", { snapshot: busy(2, 3_000) })).toMatchObject({ status });
  }
  await api.sql`update iam.plans set state_bytes = default`;
});
