import { describe, expect, it } from "vitest";
import { hashSnapshot } from "../../../src/model/snapshot/canonical.js";
import { snapshot, type Reply } from "../../support/service.js";
import { INSTANT, invalid, refused, TEXT, type Page } from "./support/api.js";
import { named, useConfig } from "./support/config.js";

const { api, deploy, deployAll, promote, rollback, activated } = useConfig();
const { ask, read, audit, entry } = api;

const hashOf = (id: string) => hashSnapshot(snapshot(named(id)));
/** The answer for a version of the model with this segment. */
const activation = (version: string, segment: string, more: object) => ({
  status: 200,
  body: { version, hash: hashOf(segment), hasCustomers: false, warnings: [], ...more },
});
/** Everything that an activation writes. */
const written = async () => {
  const [row] = await api.sql`
    select
      (select count(*) from svc.config_activations)::integer as activations,
      (select count(*) from svc.config_versions)::integer as versions,
      (select count(*) from iam.audit_log)::integer as audit,
      (select json_agg(active_version order by environment_id) from svc.environments) as active`;
  return { ...row };
};
/** Expects this answer, and that nothing is written. */
async function writesNothing(request: () => Promise<Reply>, expected: object): Promise<void> {
  const before = await written();
  expect(await request()).toMatchObject(expected);
  expect(await written()).toEqual(before);
}
const conflict = (message: string, more: object = {}) => refused(409, "VERSION_CONFLICT", { message, ...more });

describe("POST /projects/:project/config-versions/:version/promote", () => {
  it("activates in live a version that was active in test, once, recorded with the previous version", async () => {
    await deployAll("a", "b");
    const live = { environment: "live", activated: true };
    expect(await promote("v1")).toMatchObject(activation("v1", "a", live));
    expect(await read("")).toMatchObject({
      environments: { test: { activeVersion: "v2" }, live: { activeVersion: "v1", activatedAt: INSTANT } },
    });
    await writesNothing(() => promote("v1"), activation("v1", "a", { ...live, activated: false }));
    // The body can be omitted.
    expect(await ask("POST", "/config-versions/v2/promote")).toMatchObject({ status: 200 });
    expect((await audit("config")).slice(2)).toEqual([
      entry("config.promoted", "v1", { previousVersion: null }, "live"),
      entry("config.promoted", "v2", { previousVersion: "v1" }, "live"),
    ]);
  });

  it("refuses a version that was never active in test", async () => {
    await deployAll("a");
    await deploy(named("b"), "live");
    await deploy(named("c"), "live");
    const fix = "Deploy the model to test first, then promote its version.";
    await writesNothing(() => promote("v2"), conflict("v2 was never active in test.", { fix }));
  });
});

describe("POST /projects/:project/config-versions/:version/rollback", () => {
  it("activates a version again, once, and the next deploy continues the numbering", async () => {
    await deployAll("a", "b");
    const test = { environment: "test", activated: true };
    await writesNothing(() => rollback("v2"), activation("v2", "b", { ...test, activated: false }));
    expect(await rollback("v1")).toMatchObject(activation("v1", "a", test));
    expect((await audit("config")).at(-1)).toEqual(entry("config.rolled_back", "v1", { previousVersion: "v2" }));
    expect((await deploy(named("c"))).body).toMatchObject({ version: "v3", created: true });
    expect(await activated()).toEqual(["v3", "v1", "v2", "v1"]);
  });

  it("refuses a version that was never active in this environment", async () => {
    await deployAll("a", "b");
    await promote("v2");
    const fix = "Choose a version of the activation log of this environment; promote brings a version of test to live.";
    await writesNothing(() => rollback("v1", "live"), conflict("v1 was never active in live.", { fix }));
  });

  it("changes the schema that ingestion checks at once", async () => {
    const headers = { Authorization: `Bearer ${api.keys.test}` };
    const send = () =>
      api.service.request("POST", "/v1/events", { headers, body: { customerId: "c", event: "renamed" } });
    await deploy({ events: { renamed: { properties: {} } }, lifecycle: null });
    await deploy();
    expect(await send()).toMatchObject(refused(422, "UNKNOWN_EVENT"));
    await rollback("v1");
    expect(await send()).toMatchObject({ status: 202 });
  });
});

it("a version cannot be promoted or rolled back to under another name", async () => {
  await deployAll("a");
  const before = await written();
  for (const version of ["v0", "v01", "v99999999999", "V1", "1", "%20v1", "v1%0a", "latest"])
    for (const activate of [promote, rollback])
      expect(await activate(version), version).toMatchObject(refused(404, "VERSION_NOT_FOUND"));
  expect(await written()).toEqual(before);
});

describe("`expected`", () => {
  const unexpected = (message: string, value?: string) =>
    conflict(message, { field: "expected", ...(value !== undefined && { value }) });

  it("accepts a change that expects the active version, or whose version is active already", async () => {
    expect(await deploy(named("a"), "test", { expected: null })).toMatchObject({ status: 201 });
    // A request whose answer was lost can be repeated.
    const again = { version: "v1", created: false, activated: false };
    expect(await deploy(named("a"), "test", { expected: null })).toMatchObject({ status: 200, body: again });
    expect(await deploy(named("b"), "test", { expected: "v1" })).toMatchObject({ status: 201 });
    expect(await rollback("v1", "test", { expected: "v2" })).toMatchObject({ status: 200 });
    expect(await promote("v1", { expected: null })).toMatchObject({ status: 200 });
    expect(await promote("v2", { expected: "v1" })).toMatchObject({ status: 200 });
  });

  it("refuses to deploy, to promote and to roll back over another version", async () => {
    await deployAll("a", "b");
    const over = (expected: unknown) => () => deploy(named("c"), "test", { expected });
    await writesNothing(over("v1"), unexpected("v2 is active in test, but v1 was expected.", "v1"));
    await writesNothing(over(null), unexpected("v2 is active in test, but none was expected."));
    const none = unexpected("No version is active in live, but v1 was expected.", "v1");
    await writesNothing(() => promote("v1", { expected: "v1" }), none);
    const other = unexpected("v2 is active in test, but v999999999 was expected.", "v999999999");
    await writesNothing(() => rollback("v1", "test", { expected: "v999999999" }), other);
  });

  it("lets one of several concurrent deploys win, and one of a deploy and a rollback", async () => {
    await deployAll("a");
    const replies = await Promise.all(["b", "c", "d", "e"].map((id) => deploy(named(id), "test", { expected: "v1" })));
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    expect(await activated()).toEqual(["v2", "v1"]);
    const lost = unexpected("v2 is active in test, but v1 was expected.", "v1");
    for (const reply of replies.filter(({ status }) => status === 409)) expect(reply).toMatchObject(lost);
    const expected = "v2";
    const both = await Promise.all([deploy(named("f"), "test", { expected }), rollback("v1", "test", { expected })]);
    expect(both.filter(({ status }) => status === 409)).toHaveLength(1);
    expect(await activated()).toHaveLength(3);
  });
});

it("refuses a deploy, a promotion and a rollback with invalid members", async () => {
  await deployAll("a", "b");
  const before = await written();
  const expected = [1, "latest", "v0", "v9999999999", ["v1"]].map((version) => ({ expected: version }));
  for (const body of [{ why: "because" }, ...expected, { force: "true" }, { force: null }]) {
    const [field] = Object.keys(body);
    for (const reply of [await promote("v1", body), await rollback("v1", "test", body), await deploy({}, "test", body)])
      expect(reply, JSON.stringify(body)).toMatchObject(invalid(field));
  }
  expect(await written()).toEqual(before);
});

it("GET /projects/:project/activations lists the activations of the environment, newest first, in stable pages", async () => {
  await deployAll("a", "b");
  await rollback("v1");
  const entryOf = (version: string, previousVersion: string | null, kind: string) => {
    return { version, previousVersion, kind, actor: "owner@acme.example", at: INSTANT };
  };
  const first = await read<Page<object>>("/activations?limit=2");
  const data = [entryOf("v1", "v2", "rollback"), entryOf("v2", "v1", "deploy")];
  expect(first).toEqual({ data, nextCursor: TEXT });
  await rollback("v2");
  const rest = { data: [entryOf("v1", null, "deploy")], nextCursor: null };
  expect(await read(`/activations?limit=2&cursor=${first.nextCursor}`)).toEqual(rest);
  await promote("v1");
  const live = { data: [entryOf("v1", null, "promote")], nextCursor: null };
  expect(await read("/activations?env=live")).toEqual(live);
  expect(await activated()).toEqual(["v2", "v1", "v2", "v1"]);
});
