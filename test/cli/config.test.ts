import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { project } from "../dsl-compiler/project.js";
import type { Actor, Service } from "../support/service.js";
import { environmentId, startService } from "../support/service.js";
import { cannedServer, json } from "./support/canned-server.js";
import type { RunOptions } from "./support/run-svc.js";
import { svc } from "./support/run-svc.js";

/** A model; the parts that its versions differ in are replaced. */
const model = (threshold: number, more = "", states = "new: { to: { customer: paid.happened() } }, customer: {}") => `
  import { defineModel, event, lifecycle, not, number, segment } from "svc";
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

let service: Service;
let owner: Actor;

beforeAll(async () => {
  service = await startService();
  owner = await service.owner("acme");
  for (const slug of ["shop", "empty"]) {
    await service.request("POST", "/projects", { by: owner, body: { name: slug, slug } });
  }
});
afterAll(() => service.stop());

/** Runs a command as the owner, in a folder with that model; what differs from run to run is replaced. */
async function run(argv: string[], { source, ...options }: RunOptions & { source?: string } = {}) {
  const files = {
    ".kite/config.json": '{"project":"shop"}',
    ...(source === undefined ? {} : { "svc.config.ts": source }),
  };
  const cwd = options.cwd ?? (await project(files));
  const session = { SVC_ACCESS_TOKEN: owner.token, SVC_ORGANIZATION: owner.organizationId, SVC_API_URL: service.url };
  const result = await svc(argv, { ...options, cwd, env: { ...session, ...options.env } });
  const shown = (text: string) =>
    text
      .replaceAll(service.url, "<service>")
      .replaceAll(cwd, "<directory>")
      .replaceAll(/\([0-9a-f]{12}\)/g, "(<hash>)")
      .replaceAll(/[0-9a-f]{64}/g, "<hash>")
      .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+\d\d:\d\d/g, "<local time>");
  // Where a question puts the cursor depends on the length of the address.
  // eslint-disable-next-line no-control-regex
  const stderr = shown(result.stderr).replaceAll(/\u001b\[\d*[GJ]/g, "");
  return { code: result.code, stdout: shown(result.stdout), stderr };
}

describe("svc config diff", () => {
  test.each([
    ["v1", V1],
    ["v2", V2],
  ])("of %s, which is deployed", async (version, source) => {
    const { code, stdout } = await run(["deploy", "--yes"], { source });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(`Deployed ${version}`) as string });
  });

  test("two versions", async () => {
    expect(await run(["config", "diff", "v1", "v2"])).toMatchInlineSnapshot(`
      From v1 to v2, 2 differences: 1 added, 1 changed.

      segments
        ~ segment regulars: threshold of count of "login" within 30d: 3 → 5
        + segment payers: count of "paid" at least 1
    `);
  });

  test("one version against the latest, as JSON", async () => {
    expect(await run(["config", "diff", "v1", "--json"])).toMatchInlineSnapshot(`
      {"from":"v1","to":"v2","changes":[{"kind":"changed","subject":"segment","id":"regulars","path":"segments[0].when.value","message":"threshold of count of \\"login\\" within 30d: 3 → 5","before":3,"after":5},{"kind":"added","subject":"segment","id":"payers","path":"segments[1]","message":"count of \\"paid\\" at least 1","before":null,"after":{"id":"payers","when":{"kind":"count","of":{"event":"paid"},"operator":"gte","value":1}}}]}
    `);
  });

  test("the local model against the latest version, on a terminal of 80 columns", async () => {
    expect(await run(["config", "diff"], { source: V3, terminal: true })).toMatchInlineSnapshot(`
      From v2 of shop (the latest, active in test) to the local model, 3 differences: 2 added, 1 changed.

      [1mlifecycle[22m
        [32m+ transition customer → lost: not (count of "paid" at least 1)[39m
        [32m+ state lost: without transitions[39m

      [1msegments[22m
        [33m~ segment payers: window of count of "paid": none → 90d[39m
    `);
  });

  test("the local model as JSON", async () => {
    expect(await run(["config", "diff", "--json"], { source: V1 })).toMatchInlineSnapshot(`
      {"from":"v2","to":"local","changes":[{"kind":"changed","subject":"segment","id":"regulars","path":"segments[0].when.value","message":"threshold of count of \\"login\\" within 30d: 5 → 3","before":5,"after":3},{"kind":"removed","subject":"segment","id":"payers","path":"segments[1]","message":"count of \\"paid\\" at least 1","before":{"id":"payers","when":{"kind":"count","of":{"event":"paid"},"operator":"gte","value":1}},"after":null}]}
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

  test("the local model where nothing was deployed yet", async () => {
    expect(await run(["config", "diff", "--project", "empty"], { source: V1 })).toMatchInlineSnapshot(`
      From nothing, as empty has no version yet, to the local model, 6 differences: 6 added.

      events
        + event login: without properties
        + event paid: with "amount"

      lifecycle
        + initial state: new
        + state new: to customer
        + state customer: without transitions

      segments
        + segment regulars: count of "login" within 30d at least 3
    `);
  });

  test("versions that are none, and that are not there", async () => {
    expect(await run(["config", "diff", "3"])).toMatchInlineSnapshot(`
      exit 2
      ! error [USAGE]: <from> is "3"; did you mean v3? Give a version such as v3, or latest; \`svc config versions\` shows what there is.
    `);
    expect(await run(["config", "diff", "v1", "v9"])).toMatchInlineSnapshot(`
      exit 1
      ! error [VERSION_NOT_FOUND]: There is no configuration version "v9" in this project. Check its name; \`svc config versions\` shows what there is.
    `);
    expect(await run(["config", "diff", "v1", "v2", "v3"])).toMatchInlineSnapshot(`
      exit 2
      ! error [USAGE]: The argument "v3" is one too many. See \`svc config diff --help\`.
    `);
  });
});

describe("svc config promote", () => {
  const promote = (version: string, ...argv: string[]) => ["config", "promote", "--version", version, ...argv];

  test("without the word, also with --yes, it is refused at once", async () => {
    expect(await run(promote("v1", "--yes"))).toMatchInlineSnapshot(`
      exit 1
      ! error [CONFIRMATION_REQUIRED]: Promoting to live needs the word "live" on standard input, also with --yes. Pipe it: echo live | svc …
    `);
  });

  test("piped, the word brings the first version to live", async () => {
    expect(await run(promote("v1"), { input: "live\n" })).toMatchInlineSnapshot(`
      ! Nothing is active in live yet. v1 has 2 events, 2 lifecycle states, 1 segment.
      !
      v1 is active in live of shop now (<hash>).
    `);
  });

  test("on a terminal it shows what is different and asks; another word leaves all as it was", async () => {
    expect(
      await run(promote("v2"), {
        input: "yes\n",
        terminal: true,
        env: { NO_COLOR: "1" },
      }),
    ).toMatchInlineSnapshot(`
      exit 1
      ! From v1, active in live, to v2, 2 differences: 1 added, 1 changed.
      !
      ! segments
      !   ~ segment regulars: threshold of count of "login" within 30d: 3 → 5
      !   + segment payers: count of "paid" at least 1
      !
      ! Promote v2 to live of project shop at <service>, instead of v1?
      ! Type live to go on: yes
      ! error [CANCELLED]: Cancelled, nothing was changed.
    `);
  });

  test("the word typed, it is promoted", async () => {
    const { code, stdout } = await run(promote("v2"), { input: "live\n", terminal: true, env: { NO_COLOR: "1" } });
    expect({ code, stdout }).toMatchInlineSnapshot(`
      v2 is active in live of shop now, instead of v1 (<hash>).
    `);
  });

  test("what is active already is not asked about a second time, and nothing is done", async () => {
    expect(await run(promote("v2"), { input: "live\n" })).toMatchInlineSnapshot(`
      v2 is active in live of shop already; nothing was changed.
    `);
  });

  test("as JSON", async () => {
    const { code, stdout } = await run(promote("v1", "--json"), { input: "live\n" });
    expect({ code, stdout }).toMatchInlineSnapshot(`
      {"version" : "v1", "hash" : "<hash>", "environment" : "live", "activated" : true, "warnings" : [], "hasCustomers" : false}
    `);
  });

  test("a version that is not there, that is none, and none at all", async () => {
    expect(await run(promote("v9"), { input: "live\n" })).toMatchInlineSnapshot(`
      exit 1
      ! error [VERSION_NOT_FOUND]: There is no configuration version "v9" in this project. Check its name; \`svc config versions\` shows what there is.
    `);
    expect(await run(promote("1"), { input: "live\n" })).toMatchInlineSnapshot(`
      exit 2
      ! error [USAGE]: --version is "1"; did you mean v1? Give a version such as v3; \`svc config versions\` shows what there is.
    `);
    expect(await run(["config", "promote"], { input: "live\n" })).toMatchInlineSnapshot(`
      exit 2
      ! error [USAGE]: Missing --version. See \`svc config promote --help\`.
    `);
  });

  test("a version that was never active in test is refused, and says what to do first", async () => {
    const deployed = await run(["deploy", "--env", "live"], { source: V3, input: "live\n" });
    expect(deployed.code).toBe(0);
    const back = await run(["config", "rollback", "--version", "v1", "--env", "live", "--yes"]);
    expect(back.code).toBe(0);
    const { code, stderr } = await run(promote("v3"), { input: "live\n" });
    expect({ code, error: stderr.trimEnd().split("\n").at(-1) }).toMatchInlineSnapshot(`
      {
        "code": 1,
        "error": "error [VERSION_CONFLICT]: v3 was never active in test. Deploy the model to test first, then promote its version; \`svc config activations --env test\` shows what was.",
      }
    `);
  });
});

describe("svc config rollback", () => {
  const rollback = (version: string, ...argv: string[]) => ["config", "rollback", "--version", version, ...argv];

  test("asks, and n leaves all as it was", async () => {
    expect(
      await run(rollback("v1"), {
        terminal: true,
        input: "n\n",
        env: { NO_COLOR: "1" },
      }),
    ).toMatchInlineSnapshot(`
      exit 1
      ! From v2, active in test, to v1, 2 differences: 1 changed, 1 removed.
      !
      ! segments
      !   ~ segment regulars: threshold of count of "login" within 30d: 5 → 3
      !   - segment payers: count of "paid" at least 1
      !
      ! Roll test of project shop at <service> back to v1, instead of v2? Nothing is recomputed by that. (y/N) n
      ! error [CANCELLED]: Cancelled, nothing was changed.
    `);
  });

  test("--yes suffices, in live too, and where there are customers it says how to recompute", async () => {
    const environment = await environmentId(service.db.sql, "shop", "live");
    await service.db.sql`
      insert into svc.customers (environment_id, customer_id, created_at) values (${environment}, 'globex', now())`;
    expect(await run(rollback("v2", "--env", "live", "--yes"))).toMatchInlineSnapshot(`
      ! From v1, active in live, to v2, 2 differences: 1 added, 1 changed.
      !
      ! segments
      !   ~ segment regulars: threshold of count of "login" within 30d: 3 → 5
      !   + segment payers: count of "paid" at least 1
      !
      v2 is active in live of shop now, instead of v1 (<hash>).
      Customers keep the state that they have until something happens to them, or they are recomputed:
        svc recompute --all --dry-run --env live   what that would change
        svc recompute --all --env live             do it
    `);
  });

  test("as JSON", async () => {
    const { code, stdout } = await run(rollback("v1", "--yes", "--json"));
    expect({ code, stdout }).toMatchInlineSnapshot(`
      {"version" : "v1", "hash" : "<hash>", "environment" : "test", "activated" : true, "warnings" : [], "hasCustomers" : false}
    `);
  });

  test("without a terminal and without --yes it is refused at once", async () => {
    expect(await run(rollback("v2"))).toMatchInlineSnapshot(`
      exit 1
      ! error [CONFIRMATION_REQUIRED]: Rolling test back needs a confirmation, and there is no terminal to ask on. Add --yes.
    `);
  });

  test("a version that was not active there is refused, and says where to look", async () => {
    const { code, stderr } = await run(rollback("v3", "--yes"));
    expect({ code, error: stderr.trimEnd().split("\n").at(-1) }).toMatchInlineSnapshot(`
      {
        "code": 1,
        "error": "error [VERSION_CONFLICT]: v3 was never active in test. Choose one of \`svc config activations --env test\`.",
      }
    `);
  });

  test("data that it would strand is told, and --force goes on", async () => {
    await service.db.sql`
      insert into svc.segment_memberships (environment_id, segment_id, customer_id, entered_at)
      values (${await environmentId(service.db.sql, "shop", "live")}, 'payers', 'globex', now())`;
    const refused = await run(rollback("v1", "--env", "live", "--yes"));
    expect({ code: refused.code, stderr: refused.stderr }).toMatchInlineSnapshot(`
      {
        "code": 1,
        "stderr": "From v2, active in live, to v1, 2 differences: 1 changed, 1 removed.

      segments
        ~ segment regulars: threshold of count of "login" within 30d: 5 → 3
        - segment payers: count of "paid" at least 1

      warning SEGMENT_REMOVED The segment "payers" is removed, and 1 customer is in it.
        segments[1]
      error [CONFIG_WARNINGS]: This version would strand data: 1 warning. Go on despite them with --force.
      ",
      }
    `);
    const forced = await run(rollback("v1", "--env", "live", "--yes", "--force"));
    expect({ code: forced.code, stderr: forced.stderr }).toMatchInlineSnapshot(`
      {
        "code": 0,
        "stderr": "From v2, active in live, to v1, 2 differences: 1 changed, 1 removed.

      segments
        ~ segment regulars: threshold of count of "login" within 30d: 5 → 3
        - segment payers: count of "paid" at least 1

      warning SEGMENT_REMOVED The segment "payers" is removed, and 1 customer is in it.
        segments[1]
      ",
      }
    `);
  });

  test("where somebody else activates another version meanwhile, nothing is replaced unseen", async () => {
    const conflict = {
      code: "VERSION_CONFLICT",
      message: "v3 is active in test, but v2 was expected.",
      field: "expected",
    };
    const { url, seen } = await cannedServer({
      ...json({ error: { ...conflict, reason: "Somebody activated another version meanwhile.", requestId: "r" } }, 409),
      respond: ({ method, url: asked }) => {
        if (method === "POST")
          return json({ error: { ...conflict, reason: "Somebody activated another version meanwhile." } }, 409);
        if (asked.includes("activations")) return json({ data: [{ version: "v2" }], nextCursor: null });
        return json({ from: "v2", to: "v1", changes: [] });
      },
    });
    const { code, stderr } = await run(rollback("v1", "--yes"), { env: { SVC_API_URL: url } });
    expect({ code, stderr, body: seen.at(-1)?.body }).toMatchInlineSnapshot(`
      {
        "body": "{"expected":"v2"}",
        "code": 1,
        "stderr": "v1 is the same model as v2.

      error [VERSION_CONFLICT]: v3 is active in test, but v2 was expected. Somebody activated another version meanwhile. Run the command again: it shows what is different from that one.
      ",
      }
    `);
  });
});

test("svc config activations tells what was active, to choose from", async () => {
  expect(await run(["config", "activations", "--env", "live"])).toMatchInlineSnapshot(`
    Version  Instead of  By        At                          Who
    v1       v2          rollback  <local time>  owner@acme.example
    v2       v1          rollback  <local time>  owner@acme.example
    v1       v3          rollback  <local time>  owner@acme.example
    v3       v1          deploy    <local time>  owner@acme.example
    v1       v2          promote   <local time>  owner@acme.example
    v2       v1          promote   <local time>  owner@acme.example
    v1                   promote   <local time>  owner@acme.example
  `);
  const { stdout } = await run(["config", "activations", "--limit", "1", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({ data: [{ version: "v1", previousVersion: "v2", kind: "rollback" }] });
  expect(await run(["config", "activations", "--project", "empty"])).toMatchInlineSnapshot(`
    Nothing was active in test yet.
  `);
});

describe("svc config pull", () => {
  test("writes the latest version, sorted and indented, and touches nothing else", async () => {
    const cwd = await project({ ".kite/config.json": '{"project":"shop"}', "svc.config.ts": V1 });
    expect(await run(["config", "pull"], { cwd })).toMatchInlineSnapshot(`
      Wrote v3 of shop to .kite/pulled-config.json: 2 events, 3 lifecycle states, 2 segments (<hash>).
      It is the compiled model, to read and to compare; svc reads it nowhere, and the sources are as they were.
    `);
    expect(await readdir(path.join(cwd, ".kite"))).toEqual(["config.json", "pulled-config.json"]);
    expect(await readFile(path.join(cwd, "svc.config.ts"), "utf8")).toBe(V1);
    const text = await readFile(path.join(cwd, ".kite", "pulled-config.json"), "utf8");
    expect(text.slice(0, 200)).toMatchInlineSnapshot(`
      "{
        "events": {
          "login": {
            "properties": {}
          },
          "paid": {
            "properties": {
              "amount": {
                "type": "number"
              }
            }
          }
        },
        "formatVersion": 1,
        "he"
    `);
    const deployed = await service.request("GET", "/projects/shop/config-versions/latest", { by: owner });
    expect(JSON.parse(text)).toEqual((deployed.body as { snapshot: object }).snapshot);
  });

  test("a certain version over the one before, as JSON; the folder is made where there is none", async () => {
    const cwd = await project({ "README.md": "" });
    expect((await run(["config", "pull", "--project", "shop"], { cwd })).code).toBe(0);
    expect(await run(["config", "pull", "--project", "shop", "--version", "v1", "--json"], { cwd }))
      .toMatchInlineSnapshot(`
      {"version":"v1","hash":"<hash>","file":"<directory>/.kite/pulled-config.json"}
    `);
    const text = await readFile(path.join(cwd, ".kite", "pulled-config.json"), "utf8");
    expect(JSON.parse(text)).not.toHaveProperty("segments.1");
  });

  test("what cannot be written leaves what was there", async () => {
    const cwd = await project({ ".kite/config.json": '{"project":"shop"}' });
    await mkdir(path.join(cwd, ".kite", "pulled-config.json"));
    await writeFile(path.join(cwd, ".kite", "pulled-config.json", "mine"), "");
    expect(await run(["config", "pull"], { cwd })).toMatchInlineSnapshot(`
      exit 1
      ! error [FILE_NOT_WRITTEN]: <directory>/.kite/pulled-config.json could not be written (EISDIR); nothing was left there. Make room, or name a place that you may write to.
    `);
    expect(await readdir(path.join(cwd, ".kite"))).toEqual(["config.json", "pulled-config.json"]);
  });

  test("a version of a later format is not taken for a model", async () => {
    const latest = { version: "v4", hash: "0".repeat(64), active: [], snapshot: { formatVersion: 2 } };
    const { url } = await cannedServer(json(latest));
    const { code, stderr } = await run(["config", "pull"], { env: { SVC_API_URL: url } });
    expect({ code, stderr: stderr.replaceAll(url, "<service>") }).toMatchInlineSnapshot(`
      {
        "code": 1,
        "stderr": "error [UNEXPECTED_ANSWER]: <service> holds a v4 that this version of svc cannot read: formatVersion: this version reads the format 1 only. Use the svc of the service's version.
      ",
      }
    `);
  });

  test("nothing was deployed yet, and a version that is not there", async () => {
    expect(await run(["config", "pull", "--project", "empty"])).toMatchInlineSnapshot(`
      exit 1
      ! error [VERSION_NOT_FOUND]: There is no configuration version "latest" in this project. Check its name; \`svc config versions\` shows what there is.
    `);
    expect(await run(["config", "pull", "--version", "v9"])).toMatchInlineSnapshot(`
      exit 1
      ! error [VERSION_NOT_FOUND]: There is no configuration version "v9" in this project. Check its name; \`svc config versions\` shows what there is.
    `);
  });
});
