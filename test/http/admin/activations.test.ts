import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { hashSnapshot } from "../../../src/model/snapshot/canonical.js";
import { envelope, snapshot, startService, type Actor, type Service } from "../../support/service.js";
import { createProject, named, TIMESTAMP, type TestProject } from "./support/project.js";
import { cursorOf } from "./support/cursors.js";

let service: Service;
let owner: Actor;
let project: TestProject;
beforeAll(async () => {
  service = await startService();
  owner = await service.owner("acme");
});
afterAll(() => service.stop());
beforeEach(async () => {
  project = await createProject(service, owner);
});

const hashOf = (id: string) => hashSnapshot(snapshot(named(id)));
const audit = async () => {
  const rows = await service.db.sql`
    select action, environment, target, details, actor, request_id from iam.audit_log
    where project = ${project.slug} and action like 'config.%' order by audit_seq`;
  return rows.map((row) => ({ ...row }));
};
/** Everything that an activation writes. */
const written = async () => {
  const [row] = await service.db.sql`
    select
      (select count(*) from svc.config_activations)::integer as activations,
      (select count(*) from svc.config_versions)::integer as versions,
      (select count(*) from iam.audit_log)::integer as audit,
      (select json_agg(active_version order by environment_id) from svc.environments) as active`;
  return { ...row };
};
/** Refused, with nothing written. */
async function refused(request: () => Promise<{ status: number; body: unknown }>, status: number, body: unknown) {
  const before = await written();
  const reply = await request();
  expect(reply.status).toBe(status);
  expect(reply.body).toEqual(body);
  expect(await written()).toEqual(before);
}

const GARBAGE = [
  "v0",
  "v01",
  "vv1",
  "v99999999999",
  "v9999999999999999999999",
  "V1",
  "1",
  "v1.0",
  "v-1",
  "%20v1",
  "v1%0a",
  "latest",
];

describe("POST /projects/:project/config-versions/:version/promote", () => {
  it("makes a version that was active in test the active one of live", async () => {
    await project.deploy(named("a"));
    await project.deploy(named("b"));
    const reply = await project.promote("v1");
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      version: "v1",
      hash: hashOf("a"),
      environment: "live",
      activated: true,
      hasCustomers: false,
      warnings: [],
    });
    expect((await project.get("")).body).toMatchObject({
      environments: { test: { activeVersion: "v2" }, live: { activeVersion: "v1", activatedAt: TIMESTAMP } },
    });
  });

  it("answers what is active already and writes nothing", async () => {
    await project.deploy(named("a"));
    await project.promote("v1");
    const before = await written();
    const reply = await project.promote("v1");
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      version: "v1",
      hash: hashOf("a"),
      environment: "live",
      activated: false,
      hasCustomers: false,
      warnings: [],
    });
    expect(await written()).toEqual(before);
  });

  it("refuses a version that was never active in test", async () => {
    await project.deploy(named("a"));
    await project.deploy(named("b"), "live");
    await project.deploy(named("c"), "live");
    await refused(
      () => project.promote("v2"),
      409,
      envelope("VERSION_CONFLICT", "v2 was never active in test.", {
        fix: "Deploy the model to test first, then promote its version.",
      }),
    );
  });

  it("is written down with who did it and what was active before", async () => {
    await project.deploy(named("a"));
    await project.deploy(named("b"));
    await project.promote("v1");
    await project.promote("v2");
    expect((await audit()).slice(2)).toEqual([
      {
        action: "config.promoted",
        environment: "live",
        target: "v1",
        details: { previousVersion: null },
        actor: "owner@acme.example",
        request_id: "req",
      },
      {
        action: "config.promoted",
        environment: "live",
        target: "v2",
        details: { previousVersion: "v1" },
        actor: "owner@acme.example",
        request_id: "req",
      },
    ]);
  });

  it.each(GARBAGE)("finds no version %s", async (version) => {
    await project.deploy(named("a"));
    await refused(
      () => project.promote(version),
      404,
      envelope(
        "VERSION_NOT_FOUND",
        `There is no configuration version "${decodeURIComponent(version)}" in this project.`,
        {
          fix: "Versions are called v1, v2 and so on; the list of configuration versions shows what there is.",
        },
      ),
    );
  });

  it("finds neither another organization's project nor its versions", async () => {
    await project.deploy(named("a"));
    const stranger = await service.owner(`stranger-${project.slug}`);
    expect(await project.promote("v1", {}, stranger)).toMatchObject({
      status: 404,
      body: { error: { code: "PROJECT_NOT_FOUND" } },
    });
    await service.request("POST", "/projects", { by: stranger, body: { name: "Same", slug: project.slug } });
    expect(await project.promote("v1", {}, stranger)).toMatchObject({
      status: 404,
      body: { error: { code: "VERSION_NOT_FOUND" } },
    });
  });
});

describe("POST /projects/:project/config-versions/:version/rollback", () => {
  it("activates a version again, and the next deploy is numbered after all that there are", async () => {
    await project.deploy(named("a"));
    await project.deploy(named("b"));
    const reply = await project.rollback("v1");
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      version: "v1",
      hash: hashOf("a"),
      environment: "test",
      activated: true,
      hasCustomers: false,
      warnings: [],
    });
    expect((await project.deploy(named("c"))).body).toMatchObject({ version: "v3", created: true });
    expect(await project.activated()).toEqual(["v3", "v1", "v2", "v1"]);
  });

  it("refuses a version that was never active in this environment", async () => {
    await project.deploy(named("a"));
    await project.deploy(named("b"));
    await project.promote("v2");
    await refused(
      () => project.rollback("v1", "live"),
      409,
      envelope("VERSION_CONFLICT", "v1 was never active in live.", {
        fix: "Choose a version of the activation log of this environment; promote brings a version of test to live.",
      }),
    );
  });

  it("answers what is active already and writes nothing", async () => {
    await project.deploy(named("a"));
    await project.deploy(named("b"));
    const before = await written();
    const reply = await project.rollback("v2");
    expect(reply).toMatchObject({ status: 200, body: { version: "v2", activated: false, warnings: [] } });
    expect(await written()).toEqual(before);
  });

  it("is written down as a rollback", async () => {
    await project.deploy(named("a"));
    await project.deploy(named("b"));
    await project.rollback("v1");
    expect((await audit()).at(-1)).toEqual({
      action: "config.rolled_back",
      environment: "test",
      target: "v1",
      details: { previousVersion: "v2" },
      actor: "owner@acme.example",
      request_id: "req",
    });
  });

  it.each(GARBAGE)("finds no version %s", async (version) => {
    expect(await project.rollback(version)).toMatchObject({
      status: 404,
      body: { error: { code: "VERSION_NOT_FOUND" } },
    });
  });

  it("changes what ingestion checks at once", async () => {
    const created = await service.request("POST", `/projects/${project.slug}/keys`, { by: owner, body: { name: "k" } });
    const { secret } = created.body as { secret: string };
    const send = () =>
      service.request("POST", "/v1/events", {
        headers: { Authorization: `Bearer ${secret}` },
        body: { customerId: "c", event: "renamed" },
      });
    await project.deploy({ events: { renamed: { properties: {} } }, lifecycle: null });
    await project.deploy();
    expect(await send()).toMatchObject({ status: 422, body: { error: { code: "UNKNOWN_EVENT" } } });
    await project.rollback("v1");
    expect(await send()).toMatchObject({ status: 202 });
  });
});

describe("`expected`", () => {
  const conflict = (message: string, value: string | null) =>
    envelope("VERSION_CONFLICT", message, {
      field: "expected",
      ...(value === null ? {} : { value }),
      reason: "Somebody activated another version meanwhile.",
      fix: "Compare the two versions, then send the request again and expect the one that is active now.",
    });

  it("lets pass what expects the version that is active", async () => {
    expect(await project.deploy(named("a"), "test", { expected: null })).toMatchObject({ status: 201 });
    expect(await project.deploy(named("b"), "test", { expected: "v1" })).toMatchObject({ status: 201 });
    expect(await project.rollback("v1", "test", { expected: "v2" })).toMatchObject({ status: 200 });
    expect(await project.promote("v1", { expected: null })).toMatchObject({ status: 200 });
    expect(await project.promote("v2", { expected: "v1" })).toMatchObject({ status: 200 });
  });

  it("refuses to deploy over another version", async () => {
    await project.deploy(named("a"));
    await project.deploy(named("b"));
    await refused(
      () => project.deploy(named("c"), "test", { expected: "v1" }),
      409,
      conflict("v2 is active in test, but v1 was expected.", "v1"),
    );
    await refused(
      () => project.deploy(named("c"), "test", { expected: null }),
      409,
      conflict("v2 is active in test, but none was expected.", null),
    );
  });

  it("refuses to promote and to roll back over another version", async () => {
    await project.deploy(named("a"));
    await project.deploy(named("b"));
    await refused(
      () => project.promote("v1", { expected: "v1" }),
      409,
      conflict("No version is active in live, but v1 was expected.", "v1"),
    );
    await refused(
      () => project.rollback("v1", "test", { expected: "v999999999" }),
      409,
      conflict("v2 is active in test, but v999999999 was expected.", "v999999999"),
    );
  });

  it("does not matter where what is asked for is active already, so that a lost answer can be asked for again", async () => {
    await project.deploy(named("a"), "test", { expected: null });
    expect(await project.deploy(named("a"), "test", { expected: null })).toMatchObject({
      status: 200,
      body: { version: "v1", created: false, activated: false },
    });
  });

  it("lets one of two deploys at once win", async () => {
    await project.deploy(named("a"));
    const replies = await Promise.all(
      ["b", "c", "d", "e"].map((id) => project.deploy(named(id), "test", { expected: "v1" })),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    expect(await project.activated()).toEqual(["v2", "v1"]);
    for (const { status, body } of replies)
      if (status === 409) expect(body).toEqual(conflict("v2 is active in test, but v1 was expected.", "v1"));
  });

  it("lets one of a deploy and a rollback at once win", async () => {
    await project.deploy(named("a"));
    await project.deploy(named("b"));
    const replies = await Promise.all([
      project.deploy(named("c"), "test", { expected: "v2" }),
      project.rollback("v1", "test", { expected: "v2" }),
    ]);
    expect(replies.filter(({ status }) => status === 409)).toHaveLength(1);
    expect(await project.activated()).toHaveLength(3);
  });
});

describe("bodies of the wrong shape", () => {
  it.each([
    ["a list", [], ""],
    ["a text", '"v1"', ""],
    ["null", "null", ""],
    ["an unknown member", { why: "because" }, "why"],
    ["expected: a number", { expected: 1 }, "expected"],
    ["expected: no version", { expected: "latest" }, "expected"],
    ["expected: v0", { expected: "v0" }, "expected"],
    ["expected: too many digits", { expected: "v9999999999" }, "expected"],
    ["expected: a list", { expected: ["v1"] }, "expected"],
    ["force: a text", { force: "true" }, "force"],
    ["force: null", { force: null }, "force"],
  ])("%s", async (_what, body, field) => {
    await project.deploy(named("a"));
    await project.deploy(named("b"));
    const before = await written();
    for (const reply of [await project.promote("v1", body), await project.rollback("v1", "test", body)]) {
      expect(reply).toMatchObject({ status: 400, body: { error: { code: "VALIDATION_ERROR" } } });
      if (field !== "") expect(reply).toMatchObject({ body: { error: { field } } });
    }
    if (typeof body === "object" && !Array.isArray(body)) {
      expect(await project.deploy(named("c"), "test", body)).toMatchObject({ status: 400 });
    }
    expect(await written()).toEqual(before);
  });
});

it("a promotion of which nothing more is to be said needs no body", async () => {
  await project.deploy(named("a"));
  const path = `/projects/${project.slug}/config-versions/v1/promote`;
  expect(await service.request("POST", path, { by: owner })).toMatchObject({ status: 200 });
});

describe("GET /projects/:project/activations", () => {
  it("lists what became active, the newest first, in pages that do not move", async () => {
    await project.deploy(named("a"), "test", { provenance: { commit: "abc" } });
    await project.deploy(named("b"));
    await project.rollback("v1");
    const entry = (version: string, previousVersion: string | null, kind: string) => ({
      version,
      previousVersion,
      kind,
      actor: "owner@acme.example",
      at: TIMESTAMP,
    });
    const first = await project.get("/activations?limit=2");
    expect(first.status).toBe(200);
    expect(first.body).toEqual({
      data: [entry("v1", "v2", "rollback"), entry("v2", "v1", "deploy")],
      nextCursor: expect.any(String) as string,
    });
    await project.rollback("v2");
    const { nextCursor } = first.body as { nextCursor: string };
    expect((await project.get(`/activations?limit=2&cursor=${nextCursor}`)).body).toEqual({
      data: [entry("v1", null, "deploy")],
      nextCursor: null,
    });
  });

  it("keeps the environments apart", async () => {
    await project.deploy(named("a"));
    await project.promote("v1");
    expect((await project.get("/activations?env=live")).body).toMatchObject({
      data: [{ version: "v1", previousVersion: null, kind: "promote" }],
      nextCursor: null,
    });
    expect(await project.activated()).toEqual(["v1"]);
  });

  it.each(["", "x", "1.5", "-1", "9999999999999999999"])("refuses a cursor that was forged as %j", async (position) => {
    const cursor = await cursorOf(service.db.sql, "activations", position);
    expect(await project.get(`/activations?cursor=${cursor}`)).toMatchObject({
      status: 400,
      body: { error: { code: "VALIDATION_ERROR", field: "cursor" } },
    });
  });
});

describe("roles", () => {
  it("let only administrators promote and roll back, and everybody read", async () => {
    await project.deploy(named("a"));
    await project.deploy(named("b"));
    const developer = await service.member(owner, "developer");
    const viewer = await service.member(owner, "viewer");
    for (const by of [developer, viewer]) {
      expect(await project.promote("v1", {}, by)).toMatchObject({ status: 403 });
      expect(await project.rollback("v1", "test", {}, by)).toMatchObject({ status: 403 });
      for (const path of ["", "/activations", "/config-versions/v1", "/config-diff"])
        expect(await project.get(path, by)).toMatchObject({ status: 200 });
    }
  });
});
