import { cp, writeFile } from "node:fs/promises";
import path from "node:path";
import picocolors from "picocolors";
import { describe, expect, test } from "vitest";

import { countDiagnostics, showDiagnostics } from "../../src/cli/output/diagnostics.js";
import { project } from "../dsl-compiler/project.js";
import { ended, start } from "./support/program.js";
import { svc } from "./support/run-svc.js";

const plain = picocolors.createColors(false);

const BROKEN = `import { defineModel, event, segment } from "svc";
const paid = event("paid");
export default defineModel({
  events: { paid },
  segments: [segment("payers", { when: paid.hapened() }), segment("payers", { when: paid.happened().within("1.5d") })],
});
`;

describe("svc validate", () => {
  test("shows each mistake with its place, the line, a mark and what to do, and counts them", async () => {
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
      ! error [CONFIG_INVALID]: The model has 3 errors.
    `);
  });

  test("prints one JSON document with all diagnostics", async () => {
    const cwd = await project({ "svc.config.ts": BROKEN });
    const { code, stdout, stderr } = await svc(["validate", "--json"], { cwd });
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({
      error: {
        code: "CONFIG_INVALID",
        diagnostics: [
          { code: "UNKNOWN_MEMBER", typescript: "TS2551", file: "svc.config.ts", line: 5, column: 45, endColumn: 52 },
          { code: "DUPLICATE_SEGMENT", line: 5 },
          { code: "INVALID_DURATION", line: 5 },
        ],
      },
    });
  });

  test("a mistaken option exits with 2", async () => {
    expect((await svc(["validate", "--strikt"])).code).toBe(2);
  });

  test("what a model prints cannot rewrite the terminal", async () => {
    const cwd = await project({
      "svc.config.ts": `import { defineModel } from "svc";\nconsole.log("\\u001b[2Jgone");\nexport default defineModel({});\n`,
    });
    const { code, stderr } = await svc(["validate"], { cwd });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "\\u001b[2Jgone\n" });
  });
});

describe("a frame", () => {
  const show = (found: object) => showDiagnostics([{ code: "CODE", message: "message", ...found }], plain);

  test("marks under characters of two columns, and under tabs", () => {
    const source = ["\tconst 名前 = wrong;"];
    expect(show({ file: "a.ts", line: 7, column: 13, endLine: 7, endColumn: 18, source })).toBe(
      ["error CODE message", "  a.ts:7:13", "  7 |  const 名前 = wrong;", "    |               ^^^^^", ""].join("\n"),
    );
  });

  test("of several lines marks what belongs to it in each", () => {
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

  test("of a long line shows the part around the mark", () => {
    const source = [`${"x".repeat(500)}wrong${"y".repeat(500)}`];
    const [, , line, mark] = show({ file: "a.ts", line: 1, column: 501, endLine: 1, endColumn: 506, source }).split(
      "\n",
    );
    expect(line!.length).toBeLessThan(125);
    expect(line!.slice(mark!.indexOf("^"), mark!.lastIndexOf("^") + 1)).toBe("wrong");
  });
});

test.each([
  [[{ severity: "error" }], "1 error"],
  [[{ severity: "warning" }, { severity: "error" }, { severity: "error" }], "2 errors, 1 warning"],
  [[{ severity: "warning" }, { severity: "warning" }], "2 warnings"],
])("%j are counted as %s", (diagnostics, counted) => {
  expect(countDiagnostics(diagnostics)).toBe(counted);
});

/** Runs the built program in a folder, as authors do. */
const built = (cwd: string, ...options: string[]) => ended(start(["validate", ...options], { cwd }));

test("the built program checks the types of a folder that holds nothing but the model", async () => {
  const cwd = await project({
    "svc.config.ts": `import { defineModel } from "svc";\nimport { quiet } from "./segments.js";\nexport default defineModel({ segments: [quiet] });\n`,
    "segments.ts": `import { inactiveFor, segment } from "svc";\nexport const quiet = segment("quiet", {\n  when: inactiveFor("3 days"),\n});\nexport const limit: number = "3";\n`,
  });
  const { code, stdout, stderr } = await built(cwd);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain(
    '  segments.ts:3:21\n  3 |   when: inactiveFor("3 days"),\n    |                     ^^^^^^^^\n',
  );
  expect(stderr).toContain("error TYPE_ERROR expected a number, but this is a text\n  segments.ts:5:14\n");
  expect(stderr).toMatch(/The model has 2 errors\.\n$/);
});

test("the built program accepts the example, and tells an exception in a copy of it at its place", async () => {
  const cwd = await project({});
  await cp(path.resolve(import.meta.dirname, "../../examples/saas"), cwd, { recursive: true });
  expect(await built(cwd, "--strict")).toMatchObject({ code: 0, stderr: "" });

  await writeFile(
    path.join(cwd, "model/traits.ts"),
    'throw new Error("not yet");\nexport const account = undefined as never;\n',
  );
  const { code, stdout } = await built(cwd, "--json");
  expect(code).toBe(1);
  expect((JSON.parse(stdout) as { error: { diagnostics: unknown[] } }).error.diagnostics).toContainEqual(
    expect.objectContaining({ code: "MODEL_FAILED", file: "model/traits.ts", line: 1, column: 7 }),
  );
});
