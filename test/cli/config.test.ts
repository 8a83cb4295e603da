import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";

import { EMPTY_SNAPSHOT } from "../../src/model/snapshot/types.js";
import { project } from "../dsl-compiler/project.js";
import { environmentId } from "../support/service.js";
import { cannedServer, json } from "./support/canned-server.js";
import { useOwner } from "./support/owner.js";
import { type RunOptions, steady } from "./support/run-svc.js";

/** A model; its versions replace parts of it. */
const model = (threshold: number, more = "", states = "new: { to: { customer: paid.happened() } }, customer: {}") => `
  import { defineModel, event, lifecycle, not, number, segment } from "svc-success";
  const paid = event("paid", { amount: number() });
  const login = event("login");
  const stages = lifecycle({ initial: "new", states: { ${states} } });
  export default defineModel({
    events: { paid, login },
    lifecycle: stages,
    segments: [segment("regulars", { when: login.count().atLeast(${threshold}).within("30d") })${more}],
  });`;
const V1 = model(3);
const V2 = model(5, ', segment("payers", { when: paid.happened() })');
const V3 = model(
  5,
  ', segment("payers", { when: paid.happened().within("90d") })',
  "new: { to: { customer: paid.happened() } }, customer: { to: { lost: not(paid.happened()) } }, lost: {}",
);

const service = useOwner();
beforeAll(async () => {
  for (const slug of ["shop", "empty"]) await service.addProject(slug);
});

/** Runs a command as the owner, in a directory with that model; replaces what differs from run to run. */
async function run(argv: string[], { source, ...options }: RunOptions & { source?: string } = {}) {
  const model = source === undefined ? undefined : { "svc.config.ts": source };
  const cwd = options.cwd ?? (await project({ ".kite/config.json": '{"project":"shop"}', ...model }));
  return steady(await service.svc(argv, { ...options, cwd }), [
    [cwd, "<directory>"],
    [/\([0-9a-f]{12}\)/g, "(<hash>)"],
    [/[0-9a-f]{64}/g, "<hash>"],
    [/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+\d\d:\d\d/g, "<local time>"],
  ]);
}

describe("svc config diff", () => {
  test("of two versions, also as JSON; the second is the latest unless given", async () => {
    for (const source of [V1, V2]) expect((await run(["deploy", "--yes"], { source })).code).toBe(0);
    expect(await run(["config", "diff", "v1", "v2"])).toMatchInlineSnapshot(`
      From v1 to v2, 2 differences: 1 added, 1 changed.

      segments
        ~ segment regulars: threshold of count of "login" within 30d: 3 → 5
        + segment payers: count of "paid" at least 1
    `);
    const { stdout } = await run(["config", "diff", "v1", "--json"]);
    const changes = [
      { kind: "changed", id: "regulars" },
      { kind: "added", id: "payers" },
    ];
    expect(JSON.parse(stdout)).toMatchObject({ from: "v1", to: "v2", changes });
  });

  test("of the local model against the latest version, on a terminal of 80 columns and as JSON", async () => {
    expect(await run(["config", "diff"], { source: V3, terminal: true })).toMatchInlineSnapshot(`
      From v2 of shop (the latest, active in test) to the local model, 3 differences: 2 added, 1 changed.

      [1mlifecycle[22m
        [32m+ transition customer → lost: not (count of "paid" at least 1)[39m
        [32m+ state lost: without transitions[39m

      [1msegments[22m
        [33m~ segment payers: window of count of "paid": none → 90d[39m
    `);
    const { stdout } = await run(["config", "diff", "--json"], { source: V1 });
    const changes = [
      { before: 5, after: 3 },
      { kind: "removed", id: "payers" },
    ];
    expect(JSON.parse(stdout)).toMatchObject({ from: "v2", to: "local", changes });
  });

  test("of the display traits, with the other differences", async () => {
    const shown = `traits: traits({ plan: string() }), display: display({ name: traits({ plan: string() }).plan }),`;
    const source = V2.replace("events: {", `${shown} events: {`).replace(
      "import {",
      "import { display, string, traits,",
    );
    expect(await run(["config", "diff"], { source })).toMatchInlineSnapshot(`
      From v2 of shop (the latest, active in test) to the local model, 2 differences: 1 added, 1 changed.

      traits
        + trait plan: string()

      display
        ~ name: none → plan
    `);
  });

  test("no differences", async () => {
    expect(await run(["config", "diff"], { source: V2 })).toMatchInlineSnapshot(`
      No differences between v2 of shop (the latest, active in test) and the local model.
    `);
    expect(await run(["config", "diff", "v2", "latest"])).toMatchInlineSnapshot(`
      No differences between v2 and v2.
    `);
  });

  test("the local model if nothing is deployed yet, and a version that does not exist", async () => {
    const { stdout } = await run(["config", "diff", "--project", "empty"], { source: V1 });
    expect(stdout).toMatch(
      /^From nothing, as empty has no version yet, to the local model, 6 differences: 6 added\.\n/,
    );
    expect((await run(["config", "diff", "v1", "v9"])).stderr).toContain("error [VERSION_NOT_FOUND]");
  });
});

describe("svc config promote", () => {
  const promote = (version: string, ...argv: string[]) => ["config", "promote", "--version", version, ...argv];

  test("promotes the first version to live, then another with its differences; repeating that does nothing", async () => {
    expect(await run(promote("v1"), { input: "live\n" })).toMatchInlineSnapshot(`
      ! Nothing is active in live yet. v1 has 2 events, 2 lifecycle states, 1 segment.
      !
      v1 is active in live of shop now (<hash>).
    `);
    expect(await run(promote("v2"), { input: "live\n" })).toMatchInlineSnapshot(`
      ! From v1 (active in live) to v2, 2 differences: 1 added, 1 changed.
      !
      ! segments
      !   ~ segment regulars: threshold of count of "login" within 30d: 3 → 5
      !   + segment payers: count of "paid" at least 1
      !
      v2 is active in live of shop now, instead of v1 (<hash>).
    `);
    expect(await run(promote("v2"), { input: "live\n" })).toMatchInlineSnapshot(`
      v2 is active in live of shop already; nothing was changed.
    `);
    const { stdout } = await run(promote("v1", "--json"), { input: "live\n" });
    expect(JSON.parse(stdout)).toMatchObject({ version: "v1", environment: "live", activated: true, warnings: [] });
    expect((await run(promote("v9"), { input: "live\n" })).stderr).toContain("error [VERSION_NOT_FOUND]");
  });

  test("a version that was never active in test is refused, and says what to do first", async () => {
    const deployed = await run(["deploy", "--env", "live"], { source: V3, input: "live\n" });
    expect(deployed.code).toBe(0);
    const back = await run(["config", "rollback", "--version", "v1", "--env", "live", "--yes"]);
    expect(back.code).toBe(0);
    const { code, stderr } = await run(promote("v3"), { input: "live\n" });
    expect(code).toBe(1);
    expect(stderr.trimEnd().split("\n").at(-1)).toBe(
      "error [VERSION_CONFLICT]: v3 was never active in test. Deploy the model to test first, then promote its version; `svc config activations --env test` shows what was active.",
    );
  });
});

describe("svc config rollback", () => {
  const rollback = (version: string, ...argv: string[]) => ["config", "rollback", "--version", version, ...argv];

  test("--yes suffices, in live too, and if there are customers it says how to recompute", async () => {
    const environment = await environmentId(service.db.sql, "shop", "live");
    await service.db.sql`
      insert into svc.customers (environment_id, customer_id, created_at) values (${environment}, 'globex', now())`;
    const { code, stdout } = await run(rollback("v2", "--env", "live", "--yes"));
    expect({ code, stdout }).toMatchInlineSnapshot(`
      v2 is active in live of shop now, instead of v1 (<hash>).
      Customers keep their present state until something happens to them, or they are recomputed:
        svc recompute --all --env live --dry-run   shows what that would change
        svc recompute --all --env live             does it
    `);
    const json = await run(rollback("v1", "--yes", "--json"));
    expect(JSON.parse(json.stdout)).toMatchObject({ version: "v1", environment: "test", hasCustomers: false });
    expect((await run(rollback("v3", "--yes"))).stderr).toMatch(
      /\nerror \[VERSION_CONFLICT\]: v3 was never active in test\. Choose one of `svc config activations --env test`\.\n$/,
    );
  });

  test("data that it would strand is reported, and --force continues", async () => {
    await service.db.sql`
      insert into svc.segment_memberships (environment_id, segment_id, customer_id, entered_at)
      values (${await environmentId(service.db.sql, "shop", "live")}, 'payers', 'globex', now())`;
    const refused = await run(rollback("v1", "--env", "live", "--yes"));
    expect(refused.code).toBe(1);
    expect(refused.stderr.split("\n").slice(-4)).toEqual([
      'warning SEGMENT_REMOVED The segment "payers" is removed, and 1 customer is in it.',
      "  segments[1]",
      "error [CONFIG_WARNINGS]: This version would strand data: 1 warning. Proceed despite them with --force.",
      "",
    ]);
    const forced = await run(rollback("v1", "--env", "live", "--yes", "--force"));
    expect(forced.code).toBe(0);
    expect(forced.stderr).toMatch(/\nwarning SEGMENT_REMOVED .*\n {2}segments\[1\]\n$/);
  });

  test("a version that another person activated in the meantime is not replaced unseen", async () => {
    const conflict = {
      message: "v3 is active in test, but v2 was expected.",
      reason: "Somebody activated it meanwhile.",
    };
    const { url, seen } = await cannedServer(({ method, url: path }) => {
      if (method === "POST") return json({ error: { code: "VERSION_CONFLICT", field: "expected", ...conflict } }, 409);
      if (path.includes("activations")) return json({ data: [{ version: "v2" }], nextCursor: null });
      return json({ from: "v2", to: "v1", changes: [] });
    });
    const { stderr } = await run(rollback("v1", "--yes"), { at: url });
    expect(seen.at(-1)?.body).toBe('{"expected":"v2"}');
    expect(stderr).toBe(
      "v1 is the same model as v2.\n\n" +
        "error [VERSION_CONFLICT]: v3 is active in test, but v2 was expected. Somebody activated it meanwhile. Run the command again: it compares with the version that is active now.\n",
    );
  });
});

test("svc deploy does not replace a version that somebody activated since it compared with the active one", async () => {
  const cwd = await project({ ".kite/config.json": '{"project":"shop"}', "svc.config.ts": V1 });
  const { url, seen } = await cannedServer(({ method, url: path }) => {
    const conflict = {
      code: "VERSION_CONFLICT",
      field: "expected",
      message: "v3 is active in test, but v2 was expected.",
    };
    if (method === "POST") return json({ error: conflict }, 409);
    if (path.includes("activations")) return json({ data: [{ version: "v2" }], nextCursor: null });
    return json({ version: "v2", hash: "0123", active: ["test"], snapshot: EMPTY_SNAPSHOT });
  });
  const { code, stderr } = await run(["deploy", "--yes"], { cwd, at: url });
  expect(code).toBe(1);
  expect(JSON.parse(seen.at(-1)!.body)).toMatchObject({ expected: "v2" });
  expect(stderr).toMatch(/^From v2 \(active in test\) to the local model, \d+ differences/);
  expect(stderr).toContain("Run the command again: it compares with the version that is active now.\n");
});

test("svc deploy replaces a version that this svc cannot read, without its differences", async () => {
  const cwd = await project({ ".kite/config.json": '{"project":"shop"}', "svc.config.ts": V1 });
  const { url } = await cannedServer(({ method, url: path }) => {
    if (method === "POST") return json({ version: "v3", hash: "0123456789abcdef", created: true, warnings: [] }, 201);
    if (path.includes("activations")) return json({ data: [{ version: "v2" }], nextCursor: null });
    return json({ version: "v2", hash: "0123", active: ["test"], snapshot: { formatVersion: 99 } });
  });
  const { code, stdout, stderr } = await run(["deploy", "--yes"], { cwd, at: url });
  expect(code).toBe(0);
  expect(stderr).toMatch(/^The changes from v2 cannot be shown: .* cannot read/);
  expect(stdout).toMatch(/^Deployed v3 to test of shop, instead of v2: /);
});

test("svc config activations lists what was active, to choose from", async () => {
  const { stdout } = await run(["config", "activations", "--env", "live"]);
  expect(stdout).toMatch(/^Version +Instead of +By +At +Who\nv1 +v2 +rollback +<local time> +owner@acme\.example\n/);
  expect(await run(["config", "activations", "--project", "empty"])).toMatchInlineSnapshot(`
    Nothing was active in test yet.
  `);
});

describe("svc config pull", () => {
  test("writes the latest version, sorted and indented, and touches nothing else", async () => {
    const cwd = await project({ ".kite/config.json": '{"project":"shop"}', "svc.config.ts": V1 });
    expect(await run(["config", "pull"], { cwd })).toMatchInlineSnapshot(`
      Wrote v3 of shop to .kite/pulled-config.json: 2 events, 3 lifecycle states, 2 segments (<hash>).
      It is the compiled model, for reading and comparing; svc never reads it, and the sources are unchanged.
    `);
    expect(await readdir(path.join(cwd, ".kite"))).toEqual(["config.json", "pulled-config.json"]);
    expect(await readFile(path.join(cwd, "svc.config.ts"), "utf8")).toBe(V1);
    const text = await readFile(path.join(cwd, ".kite", "pulled-config.json"), "utf8");
    expect(text).toMatch(/^\{\n {2}"events": \{\n {4}"login": \{[^]*\n {4}"paid": \{[^]*\n {2}"formatVersion": 1,\n/);
    const deployed = await service.ask("GET", "/projects/shop/config-versions/latest");
    expect(JSON.parse(text)).toEqual((deployed.body as { snapshot: object }).snapshot);
  });

  test("a given version replaces the file, as JSON; the folder is created if it does not exist", async () => {
    const cwd = await project({ "README.md": "" });
    expect((await run(["config", "pull", "--project", "shop"], { cwd })).code).toBe(0);
    expect(await run(["config", "pull", "--project", "shop", "--version", "v1", "--json"], { cwd }))
      .toMatchInlineSnapshot(`
      {"version":"v1","hash":"<hash>","file":"<directory>/.kite/pulled-config.json"}
    `);
    const text = await readFile(path.join(cwd, ".kite", "pulled-config.json"), "utf8");
    expect(JSON.parse(text)).not.toHaveProperty("segments.1");
  });

  test("a failed write leaves what was there", async () => {
    const cwd = await project({ ".kite/config.json": '{"project":"shop"}' });
    await mkdir(path.join(cwd, ".kite", "pulled-config.json"));
    await writeFile(path.join(cwd, ".kite", "pulled-config.json", "mine"), "");
    expect(await run(["config", "pull"], { cwd })).toMatchInlineSnapshot(`
      exit 1
      ! error [FILE_NOT_WRITTEN]: <directory>/.kite/pulled-config.json could not be written (EISDIR); nothing was left there. Make room, or name a place that you may write to.
    `);
    expect(await readdir(path.join(cwd, ".kite"))).toEqual(["config.json", "pulled-config.json"]);
  });

  test("a version in a later format is refused, and so is a project without a version", async () => {
    const latest = { version: "v4", hash: "0".repeat(64), active: [], snapshot: { formatVersion: 2 } };
    const { url } = await cannedServer(json(latest));
    expect((await run(["config", "pull"], { at: url })).stderr).toBe(
      "error [UNEXPECTED_ANSWER]: <service> has a v4 that this version of svc cannot read: formatVersion: this version reads the format 1 only. Use the svc of the service's version.\n",
    );
    for (const argv of [["pull"], ["diff", "latest"]]) {
      expect((await run(["config", ...argv, "--project", "empty"])).stderr).toBe(
        "error [NOTHING_DEPLOYED]: Nothing was deployed to project empty yet. Deploy a model first: `svc deploy --project empty`.\n",
      );
    }
  });
});

describe("svc deploy that would strand data", () => {
  /** A model without the segment "payers", which has a member. */
  const source = `
    import { defineModel, event, segment } from "svc-success";
    const paid = event("paid");
    export default defineModel({ events: [paid], segments: [segment("buyers", { when: paid.happened() })] });`;
  const deploy = (...argv: string[]) => run(["deploy", "--yes", "--project", "stranded", ...argv], { source });

  beforeAll(async () => {
    await service.addProject("stranded");
    const snapshot = { ...EMPTY_SNAPSHOT, segments: [{ id: "buyers" }, { id: "payers" }] };
    expect((await service.ask("POST", "/projects/stranded/config-versions", { snapshot })).status).toBe(201);
    await service.db.sql`
      insert into svc.segment_memberships (environment_id, segment_id, customer_id, entered_at)
      values (${await environmentId(service.db.sql, "stranded", "test")}, 'payers', 'globex', now())`;
  });

  test("warns of that also if the model has another warning", async () => {
    const unused = await run(["deploy", "--yes", "--project", "stranded"], {
      source: source.replace("events: [paid]", 'events: [paid, event("unused")]'),
    });
    expect(unused).toMatchInlineSnapshot(`
      exit 1
      ! warning UNUSED_EVENT no condition reads the event "unused"
      !   svc.config.ts:4:55
      !   4 |     export default defineModel({ events: [paid, event("unused")], segments: [segment("buyers", { when: paid.ha…
      !     |                                                       ^^^^^^^^
      !   fix: use it in a condition, mark it with .recordOnly() if only people read it, or remove it
      !
      ! warning SEGMENT_REMOVED The segment "payers" is removed, and 1 customer is in it.
      !   segments[1]
      !
      ! error [CONFIG_WARNINGS]: The model has 1 warning, and would strand data: 1 warning. Correct them, or deploy despite them with --force.
    `);
  });

  test("is refused, and says why and how to continue: with --force, which still shows the warnings", async () => {
    expect(await deploy()).toMatchInlineSnapshot(`
      exit 1
      ! From v1 (active in test) to the local model, 3 differences: 1 added, 1 changed, 1 removed.
      !
      ! events
      !   + event paid: without properties
      !
      ! segments
      !   ~ segment buyers: when: none → count of "paid" at least 1
      !   - segment payers: filled by rules
      !
      ! warning SEGMENT_REMOVED The segment "payers" is removed, and 1 customer is in it.
      !   segments[1]
      ! error [CONFIG_WARNINGS]: This version would strand data: 1 warning. Keep in the model what they name, or proceed despite them with --force.
    `);
    const { code, stdout, stderr } = await deploy("--json");
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({
      error: {
        code: "CONFIG_WARNINGS",
        warnings: [{ severity: "warning", code: "SEGMENT_REMOVED", path: "segments[1]" }],
      },
    });
    expect(await deploy("--force")).toMatchInlineSnapshot(`
      ! From v1 (active in test) to the local model, 3 differences: 1 added, 1 changed, 1 removed.
      !
      ! events
      !   + event paid: without properties
      !
      ! segments
      !   ~ segment buyers: when: none → count of "paid" at least 1
      !   - segment payers: filled by rules
      !
      ! warning SEGMENT_REMOVED The segment "payers" is removed, and 1 customer is in it.
      !   segments[1]
      Deployed v2 to test of stranded, instead of v1: 1 event, 1 segment (<hash>).
    `);
  });
});
