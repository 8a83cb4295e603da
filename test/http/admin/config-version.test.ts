import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canonicalJson, hashSnapshot } from "../../../src/model/snapshot/canonical.js";
import type { Snapshot } from "../../../src/model/snapshot/types.js";
import { envelope, snapshot, startService, type Actor, type Service } from "../../support/service.js";
import { createProject, named, TIMESTAMP, type TestProject } from "./support/project.js";

let service: Service;
let owner: Actor;
let project: TestProject;
beforeAll(async () => {
  service = await startService();
  owner = await service.owner("acme");
  project = await createProject(service, owner);
  await project.deploy(named("a"), "test", { provenance: { repository: "acme/shop", commit: "abc", run: "7" } });
  await project.deploy(named("b"));
  await project.promote("v1");
});
afterAll(() => service.stop());

describe("GET /projects/:project/config-versions/:version", () => {
  it("shows a version with its snapshot, where it was built, and where it is active", async () => {
    const reply = await project.get("/config-versions/v1");
    expect(reply.status).toBe(200);
    const model = snapshot(named("a"));
    expect(reply.body).toEqual({
      version: "v1",
      hash: hashSnapshot(model),
      author: "owner@acme.example",
      createdAt: TIMESTAMP,
      provenance: { repository: "acme/shop", commit: "abc", run: "7" },
      active: ["live"],
      snapshot: model,
    });
  });

  it("shows the snapshot byte by byte, so that its hash can be taken again", async () => {
    const response = await fetch(`${service.url}/projects/${project.slug}/config-versions/v2`, {
      headers: { Authorization: `Bearer ${owner.token}`, "X-Svc-Organization": owner.organizationId },
    });
    expect(await response.text()).toContain(canonicalJson(snapshot(named("b"))));
  });

  it("takes latest for the newest, which need not be active", async () => {
    await project.rollback("v1");
    const {
      version,
      active,
      snapshot: model,
    } = (await project.get("/config-versions/latest")).body as {
      version: string;
      active: string[];
      snapshot: Snapshot;
    };
    expect({ version, active, model }).toEqual({ version: "v2", active: [], model: snapshot(named("b")) });
  });

  it.each(["v3", "v0", "v01", "vv1", "v99999999999", "V1", "1", "LATEST", "v1%20", "..%2Fv1"])(
    "finds no version %s",
    async (version) => {
      const reply = await project.get(`/config-versions/${version}`);
      expect(reply.status).toBe(404);
      expect(reply.body).toEqual(
        envelope(
          "VERSION_NOT_FOUND",
          `There is no configuration version "${decodeURIComponent(version)}" in this project.`,
          {
            fix: "Versions are called v1, v2 and so on; the list of configuration versions shows what there is.",
          },
        ),
      );
    },
  );

  it("finds no latest before the first deploy", async () => {
    const empty = await createProject(service, owner);
    expect(await empty.get("/config-versions/latest")).toMatchObject({
      status: 404,
      body: { error: { code: "VERSION_NOT_FOUND" } },
    });
  });
});

describe("GET /projects/:project/config-diff", () => {
  const added = { kind: "added", subject: "segment", id: "b", path: "segments[0]", message: "filled by rules" };
  const removed = { kind: "removed", subject: "segment", id: "a", path: "segments[0]", message: "filled by rules" };
  const changes = [
    { ...added, before: null, after: { id: "b" } },
    { ...removed, before: { id: "a" }, after: null },
  ];

  it.each([
    ["", { from: "v1", to: "v2", changes }],
    ["?from=v1", { from: "v1", to: "v2", changes }],
    ["?to=v2", { from: "v1", to: "v2", changes }],
    ["?from=v1&to=latest", { from: "v1", to: "v2", changes }],
    ["?from=v2&to=v2", { from: "v2", to: "v2", changes: [] }],
  ])("compares two versions: %s", async (query, body) => {
    const reply = await project.get(`/config-diff${query}`);
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual(body);
  });

  it("compares backwards", async () => {
    const { body } = await project.get("/config-diff?from=v2&to=v1");
    expect(body).toMatchObject({
      from: "v2",
      to: "v1",
      changes: [
        { kind: "added", id: "a" },
        { kind: "removed", id: "b" },
      ],
    });
  });

  it("compares the first version with nothing", async () => {
    const { body } = await project.get("/config-diff?to=v1");
    expect(body).toMatchObject({ from: null, to: "v1" });
    const { changes } = body as { changes: { kind: string; subject: string; id: string }[] };
    expect(changes.map(({ kind, subject, id }) => `${kind} ${subject} ${id}`)).toEqual([
      "changed setting strictSchema",
      "added event login",
      "added trait plan",
      "added setting initial",
      "added state new",
      "added state active",
      "added segment a",
    ]);
  });

  it.each(["from=v3", "to=v3", "from=v1&to=v3", "from=v99&to=v1"])("finds no version: %s", async (query) => {
    expect(await project.get(`/config-diff?${query}`)).toMatchObject({
      status: 404,
      body: { error: { code: "VERSION_NOT_FOUND" } },
    });
  });

  it.each(["from=v0", "from=v01", "from=vv1", "to=v99999999999", "to=V1", "to=1", "from=", "to=v1&to=v2", "env=test"])(
    "refuses ?%s",
    async (query) => {
      const field = query.split("=")[0];
      expect(await project.get(`/config-diff?${query}`)).toMatchObject({
        status: 400,
        body: { error: { code: "VALIDATION_ERROR", field } },
      });
    },
  );
});
