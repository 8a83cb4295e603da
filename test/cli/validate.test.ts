import { writeFile } from "node:fs/promises";
import path from "node:path";
import { PassThrough } from "node:stream";
import picocolors from "picocolors";
import { describe, expect, test } from "vitest";

import { confirmation } from "../../src/cli/output/confirmation.js";
import { countDiagnostics, showDiagnostics } from "../../src/cli/output/diagnostics.js";
import { project } from "../dsl-compiler/project.js";
import { cannedServer, json } from "./support/canned-server.js";
import { ended, start } from "./support/program.js";
import { type RunOptions, svc } from "./support/run-svc.js";

const plain = picocolors.createColors(false);

const BROKEN = `import { defineModel, event, segment } from "svc-success";
const paid = event("paid");
export default defineModel({
  events: { paid },
  segments: [segment("payers", { when: paid.hapened() }), segment("payers", { when: paid.happened().within("1.5d") })],
});
`;

const WITH_WARNING = `
  import { defineModel, event } from "svc-success";
  export default defineModel({ events: [event("paid")] });`;

describe("svc validate", () => {
  test("shows each mistake with its position, the marked line and what to do, and counts them", async () => {
    const cwd = await project({ "svc.config.ts": BROKEN });
    expect(await svc(["validate"], { cwd })).toMatchInlineSnapshot(`
      exit 1
      ! error UNKNOWN_MEMBER the event "paid" has no method "hapened"; did you mean "happened"?
      !   svc.config.ts:5:45
      !   5 |   segments: [segment("payers", { when: paid.hapened() }), segment("payers", { when: paid.happened().within("1.…
      !     |                                             ^^^^^^^
      !   fix: write "happened"
      !
      ! error DUPLICATE_SEGMENT there is another segment "payers"
      !   svc.config.ts:5:67
      !   5 |   segments: [segment("payers", { when: paid.hapened() }), segment("payers", { when: paid.happened().within("1.…
      !     |                                                                   ^^^^^^^^
      !   fix: give one of the segments another id
      !
      ! error INVALID_DURATION "1.5d" is no duration: write a whole number and m, h, d or w, such as "12h" or "30d", up to "3650d"
      !   svc.config.ts:5:108
      !   5 | … when: paid.happened().within("1.5d") })],
      !     |                                ^^^^^^
      !   fix: write a duration such as "15m", "12h", "7d" or "4w"
      !
      ! error [CONFIG_INVALID]: The model has 3 errors. Run svc validate --fix, which corrects one of them.
    `);
  });

  test("prints one JSON document with all problems", async () => {
    const cwd = await project({ "svc.config.ts": BROKEN });
    const { code, stdout, stderr } = await svc(["validate", "--json"], { cwd });
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({
      error: {
        code: "CONFIG_INVALID",
        problems: [
          { code: "UNKNOWN_MEMBER", typescript: "TS2551", file: "svc.config.ts", line: 5, column: 45, endColumn: 52 },
          { code: "DUPLICATE_SEGMENT", line: 5 },
          { code: "INVALID_DURATION", line: 5 },
        ],
      },
    });
  });

  test("shows warnings and exits with 0, or with 1 under --strict", async () => {
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
  });

  test("reports a folder without a model", async () => {
    const cwd = await project({});
    const { code, stderr } = await svc(["validate"], { cwd });
    expect({ code, stderr: stderr.replaceAll(cwd, "<directory>"), stdout: "" }).toMatchInlineSnapshot(`
      exit 1
      ! error CONFIG_MISSING there is no svc.config.ts in <directory>
      !   fix: run the command in a project's folder, or make a project: svc init
      ! error [CONFIG_INVALID]: The model has 1 error.
    `);
  });

  test("escapes model output so that it cannot rewrite the terminal", async () => {
    const cwd = await project({
      "svc.config.ts": `import { defineModel } from "svc-success";\nconsole.log("\\u001b[2Jgone");\nexport default defineModel({});\n`,
    });
    const { code, stderr } = await svc(["validate"], { cwd });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "\\u001b[2Jgone\n" });
  });
});

/** Deploys to a service that accepts it. changes.test.ts covers the confirmation. */
async function deploy(argv: string[], env: RunOptions["env"] = {}) {
  const deployed = { version: "v3", hash: "0123456789abcdef", environment: "test", created: true, warnings: [] };
  const { url, seen } = await cannedServer(({ method }) =>
    method === "GET" ? json({ data: [], nextCursor: null }) : json(deployed, 201),
  );
  const cwd = await project({ "svc.config.ts": WITH_WARNING, ".kite/config.json": '{"project":"shop"}' });
  return { ...(await svc(["deploy", "--yes", ...argv], { at: url, cwd, env })), requests: seen };
}

describe("svc deploy", () => {
  test("is blocked by warnings, and shows them with --force, in addition to the document of --json", async () => {
    const warned = await deploy([]);
    const asked = warned.requests.map(({ method, url }) => `${method} ${url}`);
    expect({ code: warned.code, asked }).toEqual({ code: 1, asked: ["POST /projects/shop/config-checks?env=test"] });
    expect(warned.stderr).toMatch(
      /\nerror \[CONFIG_WARNINGS\]: The model has 1 warning\. Correct them, or deploy despite them with --force\.\n$/,
    );
    const { code, stdout, stderr } = await deploy(["--force", "--json"]);
    expect({ code, stdout, stderr }).toMatchInlineSnapshot(`
      ! warning UNUSED_EVENT no condition reads the event "paid"
      !   svc.config.ts:3:47
      !   3 |   export default defineModel({ events: [event("paid")] });
      !     |                                               ^^^^^^
      !   fix: use it in a condition, mark it with .recordOnly() if only people read it, or remove it
      !
      {"version":"v3","hash":"0123456789abcdef","environment":"test","created":true,"warnings":[]}
    `);
  });

  // For GitHub, see test/spec/endpoints/command-line-client.test.ts.
  test.each([
    [
      "GitLab",
      { GITLAB_CI: "true", CI_PROJECT_PATH: "acme/shop", CI_COMMIT_SHA: "abc", CI_PIPELINE_ID: "7" },
      { repository: "acme/shop", commit: "abc", run: "7" },
    ],
    ["no CI", {}, undefined],
  ])("sends its CI provenance: %s", async (_what, env, expected) => {
    const { requests } = await deploy(["--force"], env);
    expect(JSON.parse(requests.at(-1)?.body ?? "").provenance).toEqual(expected);
  });
});

test("does not wait for standard input that stays open and silent", async () => {
  const stdin = new PassThrough();
  const io = { stdin, stderr: new PassThrough(), stdout: new PassThrough() };
  const asked = confirmation({ io } as never, { action: "deploying to live", yes: true, word: "live" });
  await expect(asked).rejects.toThrow('needs the word "live"');
  stdin.destroy();
});

describe("a code frame", () => {
  const show = (found: object) => showDiagnostics([{ code: "CODE", message: "message", ...found }], plain);

  test("aligns marks under double-width characters and tabs", () => {
    const source = ["\tconst 名前 = wrong;"];
    expect(show({ file: "a.ts", line: 7, column: 13, endLine: 7, endColumn: 18, source })).toBe(
      ["error CODE message", "  a.ts:7:13", "  7 |  const 名前 = wrong;", "    |               ^^^^^", ""].join("\n"),
    );
  });

  test("of several lines marks the affected part of each line", () => {
    const source = ["a(1,", "  2,", ");"];
    expect(show({ severity: "warning", file: "a.ts", line: 9, column: 3, endLine: 11, endColumn: 2, source })).toBe(
      [
        "warning CODE message",
        "  a.ts:9:3",
        "   9 | a(1,",
        "     |   ^^",
        "  10 |   2,",
        "     |   ^^",
        "  11 | );",
        "     | ^",
        "",
      ].join("\n"),
    );
  });
});

test("diagnostics are counted by severity", () => {
  const counted = (...all: ("error" | "warning")[]) => countDiagnostics(all.map((severity) => ({ severity })));
  expect(counted("warning", "error", "error")).toBe("2 errors, 1 warning");
  expect(counted("warning", "warning")).toBe("2 warnings");
});

/** Runs the built program in a directory, as authors do. */
const built = (cwd: string, ...options: string[]) => ended(start(["validate", ...options], { cwd }));

test("the built program checks the types of a folder that contains only the model, and says where it throws an exception", async () => {
  const cwd = await project({
    "svc.config.ts": `import { defineModel } from "svc-success";\nimport { quiet } from "./segments.js";\nexport default defineModel({ segments: [quiet] });\n`,
    "segments.ts": `import { inactiveFor, segment } from "svc-success";\nexport const quiet = segment("quiet", {\n  when: inactiveFor("3 days"),\n});\nexport const limit: number = "3";\n`,
  });
  const { code, stdout, stderr } = await built(cwd);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain(
    '  segments.ts:3:21\n  3 |   when: inactiveFor("3 days"),\n    |                     ^^^^^^^^\n',
  );
  expect(stderr).toContain("error TYPE_ERROR expected a number, but this is a text\n  segments.ts:5:14\n");
  expect(stderr).toMatch(/The model has 2 errors\.\n$/);

  await writeFile(
    path.join(cwd, "segments.ts"),
    'throw new Error("not yet");\nexport const quiet = undefined as never;\n',
  );
  const failed = JSON.parse((await built(cwd, "--json")).stdout) as { error: { problems: unknown[] } };
  expect(failed.error.problems).toMatchObject([{ code: "MODEL_FAILED", file: "segments.ts", line: 1, column: 7 }]);
});
