import { cp, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";

import { project } from "../dsl-compiler/project.js";
import { ended, start } from "./support/program.js";

const root = path.resolve(import.meta.dirname, "../..");

/** Runs the built program in a folder, as authors do. */
const validate = (cwd: string, ...options: string[]) => ended(start(["validate", ...options], { cwd }));

test("the built program checks the types of a folder that holds nothing but the model", async () => {
  const cwd = await project({
    "svc.config.ts": `import { defineModel } from "svc";\nimport { quiet } from "./segments.js";\nexport default defineModel({ segments: [quiet] });\n`,
    "segments.ts": `import { inactiveFor, segment } from "svc";\nexport const quiet = segment("quiet", {\n  when: inactiveFor("3 days"),\n});\nexport const limit: number = "3";\n`,
  });
  const { code, stdout, stderr } = await validate(cwd);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain(
    '  segments.ts:3:21\n  3 |   when: inactiveFor("3 days"),\n    |                     ^^^^^^^^\n',
  );
  expect(stderr).toContain("error TYPE_ERROR expected a number, but this is a text\n  segments.ts:5:14\n");
  expect(stderr).toMatch(/The model has 2 errors\.\n$/);
});

test("the built program accepts the example, and tells an exception in a copy of it at its place", async () => {
  const cwd = await project({});
  await cp(path.join(root, "examples/saas"), cwd, { recursive: true });
  expect(await validate(cwd, "--strict")).toMatchObject({ code: 0, stderr: "" });

  await writeFile(
    path.join(cwd, "model/traits.ts"),
    'throw new Error("not yet");\nexport const account = undefined as never;\n',
  );
  const { code, stdout } = await validate(cwd, "--json");
  expect(code).toBe(1);
  expect((JSON.parse(stdout) as { error: { diagnostics: unknown[] } }).error.diagnostics).toContainEqual(
    expect.objectContaining({ code: "MODEL_FAILED", file: "model/traits.ts", line: 1, column: 7 }),
  );
});
