import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";

import { compileProject } from "../../src/dsl-compiler/index.js";
import { diagnose, inOneLine, project } from "./project.js";

const EMPTY = `import { defineModel } from "svc-success";\nexport default defineModel({});\n`;

/** The code of each diagnostic, with its position. */
async function codes(files: string | Record<string, string>): Promise<string[]> {
  const found = await diagnose(files, { types: true });
  for (const { message, fix } of found) {
    expect(message).not.toMatch(/\n|\bat .*:\d+:\d+/);
    expect(fix).toEqual(expect.any(String));
  }
  return found.map(({ code, file, line }) => (file === undefined ? code : `${code} ${file}:${line}`));
}

test.each<[string, string | Record<string, string>, string[]]>([
  [
    "a missing file that only types are imported from",
    `import type { A } from "./a.js";\nexport default 1 as A;\n`,
    ["NOT_A_MODEL svc.config.ts:1", "MODULE_NOT_FOUND svc.config.ts:1"],
  ],
  ["an exception", `\nthrow new Error("first\\n    at second (x.js:1:1)");\n`, ["MODEL_FAILED svc.config.ts:2"]],
  ["a thrown value that is not an error", `throw { no: "error" };\n`, ["MODEL_FAILED"]],
  [
    "an exception where stacks have another form",
    `Object.assign(Error, { prepareStackTrace: () => [] });\nthrow new Error("first");\n`,
    ["MODEL_FAILED svc.config.ts:2"],
  ],
  [
    "a mistake where stacks have another form",
    `import { defineModel, segment } from "svc-success";\nObject.assign(Error, { prepareStackTrace: () => [] });\nexport default defineModel({ segments: [segment("A B")] });\n`,
    ["INVALID_NAME svc.config.ts:3"],
  ],
  [
    "an exception whose stack had another form when it was read",
    `Object.assign(Error, { prepareStackTrace: () => [] });\nconst first = new Error("first");\nvoid first.stack;\nthrow first;\n`,
    ["MODEL_FAILED"],
  ],
  [
    "an exception without texts",
    `throw Object.assign(new Error("first"), { name: 1, message: {}, stack: {} });\n`,
    ["MODEL_FAILED"],
  ],
  [
    "a mistake where stacks have another form for good",
    `import { defineModel, segment } from "svc-success";\nObject.defineProperty(Error, "prepareStackTrace", { value: () => [], configurable: false });\nexport default defineModel({ segments: [segment("A B")] });\n`,
    ["INVALID_NAME"],
  ],
  ["a rejection at import", `await Promise.reject(new RangeError("far"));\n`, ["MODEL_FAILED svc.config.ts:1"]],
  ["an empty file", "", ["NOT_A_MODEL svc.config.ts:1"]],
])("%s is a diagnostic", async (_, files, expected) => {
  expect(await codes(files)).toEqual(expected);
});

test("a model that begins with a byte order mark and keeps timers open is compiled", async () => {
  expect(await codes(`\ufeffsetInterval(() => undefined, 10);\n${EMPTY}`)).toEqual([]);
});

test("a model with huge output is compiled, and the end of its output is passed on", async () => {
  const directory = await project({
    "svc.config.ts": `for (let n = 0; n < 5; n++) console.log("x".repeat(1e6));\nconsole.log("last");\n${EMPTY}`,
  });
  let output = "";
  const result = await compileProject(directory, { types: true, onOutput: (text) => (output += text) });
  expect(result).toMatchObject({ ok: true });
  expect(output.length).toBeLessThan(100_000);
  expect(output.endsWith("last\n")).toBe(true);
});

test.each([
  ["UTF-16", Buffer.from(`\ufeff${EMPTY}`, "utf16le")],
  ["Latin-1", Buffer.from('export const name = "Caf\u00e9";\n', "latin1")],
])("a file in %s is reported only as not UTF-8", async (_, bytes) => {
  const directory = await project({ "svc.config.ts": `import "./names.js";\n${EMPTY}` });
  await writeFile(path.join(directory, "names.ts"), bytes);
  const result = await compileProject(directory, { types: true });
  expect(result.ok ? [] : result.diagnostics.map(inOneLine)).toEqual([
    "names.ts:1:1-1 NOT_UTF8: the file is not UTF-8; save the file as UTF-8",
  ]);
});

test("a folder named svc.config.ts is not a model", async () => {
  const directory = await project({ "svc.config.ts/model.ts": EMPTY });
  expect(await compileProject(directory, { types: true })).toMatchObject({
    ok: false,
    diagnostics: [{ code: "CONFIG_MISSING" }],
  });
});

test("modules that need each other's values while they load get a fix", async () => {
  const found = await diagnose(
    {
      "svc.config.ts": `
        import { defineModel } from "svc-success";
        import { a } from "./a.js";
        import { b } from "./b.js";
        export default defineModel({ segments: [a, b] });`,
      "a.ts": `
        import { segment } from "svc-success";
        import { b } from "./b.js";
        export const a = segment("a", { when: b.has() });`,
      "b.ts": `
        import { not, segment } from "svc-success";
        import { a } from "./a.js";
        export const b = segment("b", { when: not(a.has()) });`,
    },
    { types: true },
  );
  expect(found).toMatchObject([{ code: "MODEL_FAILED", file: "b.ts", line: 4 }]);
  expect(found[0]!.fix).toContain("as a function, () => …");
});

test("columns are counted in UTF-16 units, as in editors, and the same sources give the same bytes", async () => {
  const source = `const a = "é😀", b: number = "x";\n/* é */ import "./nowhere.js";\n${EMPTY}void [a, b];\n`;
  const directory = await project({ "svc.config.ts": source });
  const [first, second] = [
    await compileProject(directory, { types: true }),
    await compileProject(directory, { types: true }),
  ];
  expect(JSON.stringify(second)).toBe(JSON.stringify(first));
  const found = first.ok ? [] : first.diagnostics;
  expect(found.map(({ line, column, endLine, endColumn }) => [line, column, endLine, endColumn])).toEqual([
    [1, 18, 1, 19],
    [2, 16, 2, 30],
  ]);
});
