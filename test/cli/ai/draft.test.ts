import { existsSync } from "node:fs";
import { readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";

import { draftIn, draftMistakes } from "../../../src/cli/commands/ai/draft.js";
import { checkTypes } from "../../../src/dsl-compiler/index.js";
import { compiled, project } from "../../dsl-compiler/project.js";
import { useDirectory } from "../../support/directory.js";

/** A valid draft with `statement` inserted. */
const draft = (statement = "", condition = "login.happened()") =>
  `import { all, defineModel, event, number, segment } from "svc-success";
const login = event("login", { seats: number() });
${statement}
export default defineModel({ events: [login], segments: [segment("active", { when: ${condition} })] });
`;

const folder = await useDirectory();
let marker: string;
beforeAll(async () => {
  marker = path.join(folder, "executed");
  await writeFile(path.join(folder, "secret.ts"), 'export const secret = "s3cret";\n');
  await writeFile(path.join(folder, "secret.json"), '{ "s3cret": 1 }');
});

/** The mistakes of a draft, one line each. */
const mistakesIn = async (source: string) =>
  (await draftMistakes(source)).map(({ code, line, column, message }) => `${line}:${column} ${code}: ${message}`);

describe("draftIn", () => {
  const one = "export default defineModel({ events: [e1] });\n";
  const fenced = (code: string, language = "ts", fence = "```") => `${fence}${language}\n${code}${fence}\n`;
  const quoted = "const a = `\n```\n`;\n" + one;
  it.each([
    ["the first of two", `Here:\n${fenced(one)}or\n${fenced(one.replace("e1", "e2"))}`, one],
    ["one after another language", fenced("{}\n", "json") + fenced(one, "typescript"), one],
    ["one with a title and line breaks of Windows", fenced(one, "ts svc.config.ts").replaceAll("\n", "\r\n"), one],
    ["one in a longer fence", fenced(quoted, "ts", "````"), quoted],
    ["none without a fence", one, null],
    ["none of another language", fenced(one, "tsx-like") + fenced(one, "js"), null],
    ["none without an end", `\`\`\`ts\n${one}`, null],
    ["none without a model", fenced("const a = 1;\n"), null],
    ["none with another default", fenced("export default {};\n"), null],
    ["none that is too large", fenced(`${one}${"a".repeat(65_536)}\n`), null],
  ])("takes %s", (_, text, expected) => {
    expect(draftIn(text)?.source ?? null).toBe(expected);
  });

  it("keeps the text around it, even if the block is indented", () => {
    const after = "It is short.\n```ts\nconst b = 2;\n```";
    expect(draftIn(`Here:\n  \`\`\`ts\n  ${one}     \`\`\`\n${after}\n`)?.notes).toBe(`Here:\n\n${after}`);
  });

  it("scans an answer of many megabytes that opens blocks and closes none", () => {
    expect(draftIn("```js\n```ts\n".repeat(500_000))).toBe(null);
  });
});

describe("draftMistakes", () => {
  it("finds none in a model, and leaves no directory behind", async () => {
    const own = await project({});
    vi.stubEnv("TMPDIR", own);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await mistakesIn(draft('const größe = "naïve 👩‍👩‍👧"; // of other languages'))).toEqual([]);
    expect(await readdir(own)).toEqual([]);
  });

  it("reports type errors with position and source line", async () => {
    expect(await draftMistakes(draft("", "login.count().atLeast('3')"))).toMatchObject([
      { typescript: "TS2345", file: "svc.config.ts", line: 4, source: [expect.stringContaining("atLeast('3')")] },
    ]);
  });

  it.each([
    ["eval", (code: string) => `export const a: unknown = eval(${JSON.stringify(code)});`],
    ["a constructor", (code: string) => `login.constructor.constructor(${JSON.stringify(code)})();`],
    ["a statement", (code: string) => `(globalThis as any).${code};`],
  ])("does not run the draft, which would have an effect: %s", async (_, statement) => {
    const write = `process.getBuiltinModule("fs").writeFileSync(${JSON.stringify(marker)}, "")`;
    const source = draft(statement(write));
    await draftMistakes(source);
    expect(existsSync(marker)).toBe(false);
    expect(await compiled(source)).toMatchObject({ ok: true });
    expect(existsSync(marker)).toBe(true);
    await rm(marker);
  });

  it.each([
    ["a file", (file: string) => `import { secret } from "${file}.ts";\nexport const a: never = secret;`],
    ["JSON", (file: string) => `import secret from "${file}.json";\nexport const a: never = secret;`],
    ["a type", (file: string) => `export const a: never = {} as typeof import("${file}.ts").secret;`],
    ["import()", (file: string) => `export const a: never = (await import(\`${file}.ts\`)).secret;`],
    ["import =", (file: string) => `import b = require("${file}.ts");\nexport const a: never = b.secret;`],
    ["a comment", (file: string) => `/** @type {import("${file}.ts").secret} */\nexport const a: never = 1 as number;`],
    ["a reference", (file: string) => `/// <reference path="${file}.ts" />\nexport const a: never = secret;`],
  ])("reads no other file and reveals nothing of it: %s", async (_, statement) => {
    const source = statement(path.join(folder, "secret")) + draft();
    expect(JSON.stringify(await draftMistakes(source))).not.toContain("s3cret");
    expect(await draftMistakes(source)).not.toEqual([]);
  });

  it("would read other files without sealing", async () => {
    const statement = `import { secret } from "${path.join(folder, "secret")}.ts";\nexport const a: never = secret;`;
    const directory = await project({ "svc.config.ts": draft(statement) });
    expect(JSON.stringify(await checkTypes(directory, { sealed: false }))).toContain("s3cret");
    expect(JSON.stringify(await checkTypes(directory, { sealed: true }))).not.toContain("s3cret");
  });

  it.each([
    ["Node.js", 'import { writeFileSync } from "node:fs";'],
    ["its process", "process.exit();"],
    ["the network", 'fetch("https://example.com");'],
    ["what is no part of the language", 'import { compile } from "svc-success";'],
  ])("knows nothing outside the language: %s", async (_, statement) => {
    expect(await mistakesIn(draft(statement))).not.toEqual([]);
  });

  it.each([
    ["a character that reorders the text", 'const a = "\u202e";', "3:12 DRAFT_NOT_ALLOWED: a character here cannot be"],
    ["an invisible character", "const a\u200b = 1;", "3:8 DRAFT_NOT_ALLOWED: a character here cannot be seen"],
    ["an unusual line break", "// nothing\rlogin;", "3:11 DRAFT_NOT_ALLOWED: a character here cannot be seen"],
    [
      "a comment that controls the type checker",
      "// @ts-ignore\nnone;",
      "3:4 DRAFT_NOT_ALLOWED: a comment keeps types from being",
    ],
    ["another", "/* @ts-nocheck */ none;", "3:4 DRAFT_NOT_ALLOWED: a comment keeps types from being checked"],
    ["endless nesting", `const a = ${"(".repeat(30_000)}1;`, ""],
    ["endlessly nested functions", `const a = ${"a=>".repeat(20_000)}1;`, ""],
  ])("refuses %s", async (_, statement, expected) => {
    expect((await mistakesIn(draft(statement)))[0]).toContain(expected);
  });

  it("reports at most twenty mistakes", async () => {
    const unknown = Array.from({ length: 1_000 }, (_, n) => `none${n};`);
    expect(await mistakesIn(draft(unknown.join("\n")))).toHaveLength(20);
  });

  it("stops when it is aborted", async () => {
    await expect(draftMistakes(draft(), AbortSignal.abort())).rejects.toThrow();
  });
});
