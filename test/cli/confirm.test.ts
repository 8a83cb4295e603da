import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";

import { project } from "../dsl-compiler/project.js";
import { cannedServer, json } from "./support/canned-server.js";
import { type RunOptions, svc } from "./support/run-svc.js";

const MODEL = `
  import { defineModel, event, segment } from "svc";
  const paid = event("paid");
  export default defineModel({ events: { paid }, segments: [segment("payers", { when: paid.happened() })] });`;
const WITH_WARNING = `
  import { defineModel, event } from "svc";
  export default defineModel({ events: [event("paid")] });`;

const DEPLOYED = json(
  { version: "v3", hash: "0123456789abcdef", environment: "test", activated: true, created: true, warnings: [] },
  201,
);

async function deploy(argv: string[], options: RunOptions = {}, model = MODEL) {
  const { url, seen } = await cannedServer(DEPLOYED);
  const cwd = await project({ "svc.config.ts": model, ".kite/config.json": '{"project":"shop"}' });
  const env = { NO_COLOR: "1", ...options.env };
  return { ...(await svc(["deploy", ...argv], { ...options, at: url, cwd, env })), requests: seen };
}

describe("to test", () => {
  test("--yes is enough", async () => {
    const { code, stdout, requests } = await deploy(["--yes"]);
    expect({ code, stdout }).toMatchInlineSnapshot(`
      Deployed v3 to test of shop: 1 event, 1 segment (0123456789ab).
    `);
    expect(requests.map(({ url }) => url)).toEqual(["/projects/shop/config-versions?env=test"]);
  });

  test("without it and without a terminal it is refused at once; on one it asks, and y goes on", async () => {
    const { stderr, requests } = await deploy([]);
    expect(stderr).toMatch(/^error \[CONFIRMATION_REQUIRED\]: Deploying to test needs a confirmation/);
    expect(requests).toEqual([]);
    const asked = await deploy([], { terminal: true, input: "y\n" });
    expect(asked.code).toBe(0);
    expect(asked.stderr).toContain("Deploy 1 event, 1 segment to test of project shop at <service>? (y/N)");
  });

  test.each([
    ["n", "n\n"],
    ["nothing but Enter", "\n"],
    ["Ctrl+C", "\u0003"],
    ["Ctrl+D", "\u0004"],
    ["a closed terminal", ""],
  ])("on a terminal, %s leaves all as it was", async (_what, input) => {
    const { code, stderr, requests } = await deploy([], { terminal: true, input });
    expect({ code, requests }).toEqual({ code: 1, requests: [] });
    expect(stderr).toContain("error [CANCELLED]: Cancelled, nothing was changed.\n");
  });
});

describe("to live the word is needed, with or without --yes", () => {
  test.each([[["--yes"]], [[]]])("piped it is accepted %j", async (options) => {
    const { code, requests } = await deploy(["--env", "live", ...options], { input: "live\n" });
    expect(code).toBe(0);
    expect(requests.map(({ url }) => url)).toEqual(["/projects/shop/config-versions?env=live"]);
  });

  test.each(["", "yes\n", "LIVE\n", "alive\n"])("%j instead of it is refused", async (input) => {
    const { code, stderr, requests } = await deploy(["--env", "live", "--yes"], { input });
    expect({ code, requests }).toEqual({ code: 1, requests: [] });
    expect(stderr).toBe(
      'error [CONFIRMATION_REQUIRED]: Deploying to live needs the word "live" on standard input, also with --yes. ' +
        "Pipe it: echo live | svc …\n",
    );
  });

  test("standard input that stays open and silent is not waited for", async () => {
    const { confirmation } = await import("../../src/cli/output/change.js");
    const stdin = new PassThrough();
    const io = { stdin, stderr: new PassThrough(), stdout: new PassThrough() };
    const asked = confirmation({ io } as never, { action: "deploying to live", yes: true, word: "live" });
    await expect(asked).rejects.toThrow('needs the word "live"');
    stdin.destroy();
  });

  test.each([
    ["live\n", 0],
    ["y\n", 1],
  ])("typed on a terminal, %j exits with %i", async (input, code) => {
    const result = await deploy(["--env", "live", "--yes"], { terminal: true, input });
    expect(result.code).toBe(code);
    expect(result.requests).toHaveLength(code === 0 ? 1 : 0);
  });
});

describe("diagnostics", () => {
  test("errors block, also with --force, and warnings without it", async () => {
    const broken = MODEL.replace('segment("payers"', 'segment("payers", { when: paid.happened() }), segment("payers"');
    const { code, stdout, stderr, requests } = await deploy(["--yes", "--force"], {}, broken);
    expect({ code, stdout, requests }).toEqual({ code: 1, stdout: "", requests: [] });
    expect(stderr).toMatch(/^error DUPLICATE_SEGMENT [^]*\nerror \[CONFIG_INVALID\]: The model has 1 error\.\n$/);
    const warned = await deploy(["--yes"], {}, WITH_WARNING);
    expect({ code: warned.code, requests: warned.requests }).toEqual({ code: 1, requests: [] });
    expect(warned.stderr).toMatch(
      /\nerror \[CONFIG_WARNINGS\]: The model has 1 warning\. Correct them, or deploy despite them with --force\.\n$/,
    );
  });

  test("warnings are shown with --force, beside the one document of --json", async () => {
    const { code, stdout, stderr } = await deploy(["--yes", "--force", "--json"], {}, WITH_WARNING);
    expect({ code, stdout, stderr }).toMatchInlineSnapshot(`
      ! warning UNUSED_EVENT no condition reads the event "paid"
      !   svc.config.ts:3:47
      !   3 |   export default defineModel({ events: [event("paid")] });
      !     |                                               ^^^^^^
      !   fix: use it in a condition, or remove it if nothing will
      !
      {"version":"v3","hash":"0123456789abcdef","environment":"test","activated":true,"created":true,"warnings":[]}
    `);
  });

  test("svc validate shows them and exits with 0, or with 1 under --strict", async () => {
    const cwd = await project({ "svc.config.ts": WITH_WARNING });
    const shown = await svc(["validate"], { cwd });
    expect(shown).toMatchObject({ code: 0, stderr: "" });
    expect(shown.stdout).toMatch(
      /^warning UNUSED_EVENT [^]*\n\n1 warning\nThe model is valid: 1 event\.\nState of one /,
    );
    const strict = await svc(["validate", "--strict"], { cwd });
    expect(strict).toMatchObject({ code: 1, stdout: "" });
    expect(strict.stderr).toMatch(
      /^warning UNUSED_EVENT [^]*\nerror \[CONFIG_WARNINGS\]: The model has 1 warning\. Correct them, or leave out --strict\.\n$/,
    );
    const { code, stdout } = await svc(["validate", "--json"], { cwd });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      valid: true,
      diagnostics: [{ severity: "warning", file: "svc.config.ts" }],
    });
  });

  test("a folder without a model is told as such", async () => {
    const cwd = await project({});
    const { code, stderr } = await svc(["validate"], { cwd });
    expect(code).toBe(1);
    expect(stderr.replaceAll(cwd, "<directory>")).toMatchInlineSnapshot(`
      "error CONFIG_MISSING there is no svc.config.ts in <directory>
        fix: run the command in a project's folder, or make a project: svc init
      error [CONFIG_INVALID]: The model has 1 error.
      "
    `);
  });
});

// Of GitHub: test/spec/endpoints/command-line-client.test.ts.
test.each([
  [
    "GitLab",
    { GITLAB_CI: "true", CI_PROJECT_PATH: "acme/shop", CI_COMMIT_SHA: "abc", CI_PIPELINE_ID: "7" },
    { repository: "acme/shop", commit: "abc", run: "7" },
  ],
  ["no CI", {}, undefined],
])("a deploy says where it came from: %s", async (_what, env, expected) => {
  const { requests } = await deploy(["--yes"], { env });
  expect(JSON.parse(requests[0]?.body ?? "").provenance).toEqual(expected);
});
