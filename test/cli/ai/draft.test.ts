import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, it, test, vi } from "vitest";

import { compileDraft, draftIn, draftMistakes } from "../../../src/cli/commands/ai/draft.js";
import { IMPORTED, MEMBERS } from "../../../src/cli/commands/ai/draft-language.js";
import { compileProject } from "../../../src/dsl-compiler/index.js";
import * as dsl from "../../../src/dsl/index.js";
import { project } from "../../dsl-compiler/project.js";
import { EXAMPLES, inOneFile } from "./examples.js";

const ROOT = path.resolve(import.meta.dirname, "../../..");

/** A sound draft, which `attack` is put into, as one more statement or another part. */
const draft = ({ statement = "", condition = "login.happened()", model = "" } = {}) =>
  `import { all, any, defineModel, event, number, segment, string, traits, traitsChanged } from "svc";
const login = event("login", { seats: number(), place: string() });
const account = traits({ plan: string() });
${statement}
const active = segment("active", { when: ${condition} });
export default defineModel({ events: [login], traits: account, segments: [active]${model} });
`;

let folder: string;
let marker: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "svc-marker-"));
  marker = path.join(folder, "executed");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A statement that leaves a trace where it is run. */
const trace = () => `process.getBuiltinModule("fs").writeFileSync(${JSON.stringify(marker)}, "")`;

/** What is told of a text, in one line each. */
const told = (source: string) =>
  draftMistakes(source).map(({ code, line, column, message, fix }) => {
    expect(fix).toEqual(expect.any(String));
    return `${line}:${column} ${code}: ${message}`;
  });

it("knows the language as it is", async () => {
  expect([...IMPORTED].sort()).toEqual(
    Object.keys(dsl)
      .filter((name) => name !== "ModelError")
      .sort(),
  );
  const files = await readdir(path.join(ROOT, "src/dsl"));
  const methods = new Set<string>();
  const asking = new Set<string>();
  const properties: [name: string, type: string][] = [];
  for (const name of files) {
    const text = await readFile(path.join(ROOT, "src/dsl", name), "utf8");
    const visit = (node: ts.Node, owner = ""): void => {
      // How operands are made, which no author sees.
      if (ts.isInterfaceDeclaration(node) && node.name.text === "Questions") return;
      const inner = ts.isInterfaceDeclaration(node) ? node.name.text : owner;
      if (ts.isMethodSignature(node)) {
        methods.add(node.name.getText());
        asking.add(inner);
      }
      if (ts.isPropertySignature(node) && node.type && ts.isTypeReferenceNode(node.type))
        properties.push([node.name.getText(), node.type.typeName.getText()]);
      node.forEachChild((child) => visit(child, inner));
    };
    visit(ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true));
  }
  const asked = properties.filter(([, type]) => asking.has(type)).map(([name]) => name);
  expect(asked).toEqual(expect.arrayContaining(["overall", "band"]));
  expect([...MEMBERS].sort()).toEqual([...new Set([...methods, ...asked])].sort());
});

describe("draftIn", () => {
  it.each([
    ["the first of two", "Here:\n```ts\nconst a = 1;\n```\nor\n```ts\nconst b = 2;\n```\n", "const a = 1;\n"],
    ["one after another language", "```json\n{}\n```\n```typescript\nconst a = 1;\n```", "const a = 1;\n"],
    ["one with a title and line breaks of Windows", "```ts svc.config.ts\r\nconst a = 1;\r\n```\r\n", "const a = 1;\n"],
    ["one in a longer fence", "````ts\nconst a = `\n```\n`;\n````\n", "const a = `\n```\n`;\n"],
    ["none without a fence", "const a = 1;", null],
    ["none of another language", "```tsx-like\nconst a = 1;\n```\n```js\nlet b;\n```", null],
    ["none without an end", "```ts\nconst a = 1;\n", null],
    ["none that is too large", `\`\`\`ts\n${"a".repeat(65_536)}\n\`\`\``, null],
    ["one that is as large as may be", `\`\`\`ts\n${"a".repeat(65_535)}\n\`\`\``, `${"a".repeat(65_535)}\n`],
  ])("takes %s", (_, text, expected) => {
    expect(draftIn(text)?.source ?? null).toBe(expected);
  });

  it("leaves what stands around it, also where the block is indented", () => {
    expect(draftIn("Here:\n  ```ts\n  const a = 1;\n     ```\nIt is short.\n```ts\nconst b = 2;\n```\n")?.notes).toBe(
      "Here:\n\nIt is short.\n```ts\nconst b = 2;\n```",
    );
  });

  it("goes through an answer of many megabytes that opens blocks and ends none", () => {
    expect(draftIn("```js\n```ts\n".repeat(500_000))).toBe(null);
  });
});

describe("what is a model", () => {
  it("is compiled, and its directory is removed", async () => {
    const own = await mkdtemp(path.join(os.tmpdir(), "svc-draft-test-"));
    vi.stubEnv("TMPDIR", own);
    try {
      expect(await compileDraft(draft())).toMatchObject({ ok: true, warnings: [] });
      expect(await readdir(own)).toEqual([]);
    } finally {
      vi.unstubAllEnvs();
      await rm(own, { recursive: true });
    }
  });

  it("has the mistakes that the compiler finds", async () => {
    const result = await compileDraft(draft({ condition: "login.count().atLeast('3')" }));
    expect(result).toMatchObject({
      ok: false,
      diagnostics: [{ typescript: "TS2345", file: "svc.config.ts", line: 5 }],
    });
  });

  it.each<[string, () => Promise<string>]>([
    ["the model of the guide", async () => /```ts\n(import \{[\s\S]*?)```/.exec(await guide())![1]!],
    ...EXAMPLES.map((name) => [`the example ${name}`, () => inOneFile(name)] as [string, () => Promise<string>]),
  ])("%s is accepted", async (_, source) => {
    const text = await source();
    expect(told(text)).toEqual([]);
    expect(await compileDraft(text)).toMatchObject({ ok: true });
  });

  test.each([
    ["a filter", { condition: "login.where((p) => all(p.seats.atLeast(5), p.place.is(`home`))).count().atLeast(-3)" }],
    ["a part that is declared later", { condition: "() => later.has()", statement: 'const other = segment("o");' }],
    [
      "words of JavaScript as members",
      { condition: 'account.plan.in("a")', statement: 'const o = { for: "7d", new: 1 };' },
    ],
    [
      "a parameter of the name of what it filters",
      { condition: "login.where((login) => login.seats.exists()).never()" },
    ],
    ["a short name", { statement: "const part = { login };" }],
    ["comments", { statement: "// process.exit()\n/** @example eval(1) */" }],
    ["letters of other languages", { statement: 'const größe = "naïve 👩‍👩‍👧";' }],
  ])("may have %s", async (name, parts) => {
    const later =
      name === "a part that is declared later" ? 'const later = segment("l", { when: login.never() });\n' : "";
    expect(told(draft(parts).replace("export default", `${later}export default`))).toEqual([]);
  });
});

const guide = () => readFile(path.join(ROOT, "docs/model.md"), "utf8");

describe("what is more than a model", () => {
  it("would run, were it not refused", async () => {
    const directory = await project({ "svc.config.ts": draft({ statement: `${trace()};` }) });
    expect(await compileProject(directory)).toMatchObject({ ok: true });
    expect(existsSync(marker)).toBe(true);
    await rm(marker);
  });

  const statements: [string, () => string][] = [
    ["a statement", () => `${trace()};`],
    ["eval", () => `const a = eval(${JSON.stringify(trace())});`],
    ["eval behind a comma", () => `const a = (0, eval)(${JSON.stringify(trace())});`],
    ["eval in escapes", () => `const a = \\u0065val(${JSON.stringify(trace())});`],
    ["eval in braced escapes", () => `const a = \\u{65}val(${JSON.stringify(trace())});`],
    ["a member in escapes", () => `const a = login.\\u0063onstructor;`],
    ["Function", () => `const a = Function(${JSON.stringify(trace())})();`],
    ["new Function", () => `const a = new Function(${JSON.stringify(trace())})();`],
    ["require", () => `const a = require("node:fs").writeFileSync(${JSON.stringify(marker)}, "");`],
    ["process", () => `const a = ${trace()};`],
    [
      "an import of a module",
      () => `import { writeFileSync } from "node:fs";\nwriteFileSync(${JSON.stringify(marker)}, "");`,
    ],
    ["an import for its effect", () => `import "data:text/javascript,${trace()}";`],
    ["an import of all", () => `import * as fs from "node:fs";`],
    ["an import of types", () => `import type { Stats } from "node:fs";`],
    ["an import of a file", () => `import { a } from "./a.js";`],
    ["an import of all of the language", () => `import * as svc from "svc";`],
    ["an import under another name", () => `import { emit as eval2 } from "svc";`],
    ["an import with attributes", () => `import { emit } from "svc" with { type: "json" };`],
    ["what is no part of the language", () => `import { ModelError } from "svc";`],
    ["import =", () => `import fs = require("node:fs");`],
    ["import() with a text", () => `const a = import("data:text/javascript,${trace()}");`],
    ["import.meta", () => `const a = import.meta;`],
    ["await", () => `const a = await login;`],
    ["an export from elsewhere", () => `export { writeFileSync } from "node:fs";`],
    ["an export of a const", () => `export const a = 1;`],
    ["globalThis", () => `const a = globalThis.process;`],
    ["this", () => `const a = this;`],
    ["arguments", () => `const a = arguments;`],
    [
      "the constructor of a constructor",
      () => `const a = login.constructor.constructor(${JSON.stringify(trace())})();`,
    ],
    ["a constructor by brackets", () => `const a = login["constructor"]["constructor"](${JSON.stringify(trace())})();`],
    ["a constructor by an array", () => `const a = [].map.constructor("");`],
    ["a constructor of a text", () => `const a = "".constructor;`],
    [
      "a trait that is called constructor",
      () => `const t = traits({ constructor: string() });\nconst a = t.constructor;`,
    ],
    ["a prototype", () => `const a = event.prototype;`],
    ["__proto__ as a member", () => `const a = { __proto__: login };`],
    ["__proto__ in quotes", () => `const a = { "__proto__": login };`],
    ["__proto__ in escapes", () => `const a = { "__pr\\u006fto__": login };`],
    ["__proto__ asked for", () => `const a = login.__proto__;`],
    ["call", () => `const a = login.count.call(login);`],
    ["apply", () => `const a = login.count.apply(login);`],
    ["bind", () => `const a = login.count.bind(login);`],
    ["toString", () => `const a = login.toString();`],
    ["a method of its own in a member", () => `const a = { toString: () => login.happened() };`],
    ["a method that nothing has", () => `const a = login.read();`],
    ["a method of texts", () => `const text = "x";\nconst a = text.repeat(900000000);`],
    [
      "a property of a text that is also a member",
      () => `const b = { repeat: 1 };\nconst text = "x";\nconst a = text.repeat(9);`,
    ],
    ["a method of a list with a function", () => `const list = [1];\nconst a = list.map((p) => p.exists());`],
    ["a tagged template", () => `const a = event\`login\`;`],
    ["a template with a hole", () => "const a = `${login}`;"],
    ["a getter", () => `const a = { get is() { return 1; } };`],
    ["a setter", () => `const a = { set is(b) { } };`],
    ["a method", () => `const a = { is() { return 1; } };`],
    ["a computed member", () => `const a = { ["a"]: 1 };`],
    ["a spread member", () => `const a = { ...login };`],
    ["a spread list", () => `const a = [...login];`],
    ["a spread argument", () => `const a = all(...login);`],
    ["a huge list", () => `const a = Array(1e9);`],
    ["a shorthand that nothing declares", () => `const a = { process };`],
    ["a default of a shorthand", () => `const a = { login = 1 };`],
    ["a default of a parameter", () => `const a = login.where((p = ${trace()}) => p.seats.exists());`],
    ["a pattern as a parameter", () => `const a = login.where(({ seats }) => seats.exists());`],
    ["a rest parameter", () => `const a = login.where((...p) => p.seats.exists());`],
    ["two parameters", () => `const a = login.where((p, q) => p.seats.exists());`],
    ["a parameter of the name of an import", () => `const a = login.where((all) => all.seats.exists());`],
    ["a type of a parameter", () => `const a = login.where((p: string) => p.seats.exists());`],
    ["an unknown property", () => `const a = login.where((p) => p.depth.exists());`],
    ["a call of a parameter", () => `const a = login.where((p) => p("a"));`],
    ["a parameter that is handed on", () => `const a = login.where((login) => all(login));`],
    ["a filter that returns its parameter", () => `const a = login.where((p) => p);`],
    ["a function with statements", () => `const a = login.where((p) => { ${trace()}; });`],
    ["a function as a value", () => `const a = () => login.happened();`],
    ["a function that calls itself", () => `const a = { when: () => a.when() };`],
    ["a call of a const", () => `const a = login("a");`],
    ["a function called at once", () => `const a = (() => ${trace()})();`],
    ["a function expression called at once", () => `const a = (function () { ${trace()}; })();`],
    ["an async function", () => `const a = login.where(async (p) => p.seats.exists());`],
    ["a function declaration", () => `function a() { ${trace()}; }`],
    ["a class", () => `class A { static { ${trace()}; } }`],
    ["a decorator", () => `@login class A {}`],
    ["an enum", () => `enum A { B = 1 }`],
    ["a namespace", () => `namespace A { export const b = 1; }`],
    ["declare", () => `declare const a: string;`],
    ["a type", () => `type A = string;`],
    ["let", () => `let a = 1;`],
    ["var", () => `var a = 1;`],
    ["using", () => `using a = login;`],
    ["await using", () => `await using a = login;`],
    ["a pattern", () => `const { happened } = login;`],
    ["a const of the name of an import", () => `const event = 1;`],
    ["a const twice", () => `const login = 1;`],
    ["a const of no value", () => `const a;`],
    ["a name before its declaration", () => `const a = active;`],
    ["an import as a value", () => `const a = [event];`],
    ["as", () => `const a = login as never;`],
    ["satisfies", () => `const a = login satisfies object;`],
    ["a type in angle brackets", () => `const a = <never>login;`],
    ["type arguments", () => `const a = event<never>("a");`],
    ["an exclamation mark", () => `const a = login!;`],
    ["optional calls", () => `const a = login?.count();`],
    ["a condition", () => `const a = login ? 1 : 2;`],
    ["an addition", () => `const a = "a" + "b";`],
    ["a comma", () => `const a = (1, 2);`],
    ["an assignment", () => `login = 1;`],
    ["an assignment in an expression", () => `const a = [login = 1];`],
    ["delete", () => `const a = delete login.count;`],
    ["typeof", () => `const a = typeof login;`],
    ["not", () => `const a = !login;`],
    ["minus of a name", () => `const a = -login;`],
    ["a regular expression", () => `const a = /(a+)+$/;`],
    ["a bigint", () => `const a = 1n;`],
    ["infinity", () => `const a = 1e999;`],
    ["null", () => `const a = null;`],
    ["undefined", () => `const a = undefined;`],
    ["a private name", () => `const a = #login in login;`],
    ["a label", () => `a: login;`],
    ["a loop", () => `for (;;) {}`],
    ["if", () => `if (login) { ${trace()}; }`],
    ["throw", () => `throw login;`],
    ["try", () => `try { ${trace()}; } finally {}`],
    ["debugger", () => `debugger;`],
    ["a directive", () => `"use strict";`],
    ["a block", () => `{ ${trace()}; }`],
    ["markup", () => `const a = <login />;`],
    ["a comment that ends early", () => `/* nothing */ ${trace()}; /* more */`],
    ["a comment that a separator ends", () => `// nothing\u2028${trace()};`],
    ["a comment that a carriage return ends", () => `// nothing\r${trace()};`],
    ["a comment of markup", () => `<!-- ${trace()}`],
    ["letters that run from right to left", () => `/* \u202e begins \u2066 */ const a = "b";`],
    ["a letter that shows nothing", () => `const a = "b\u200b";`],
    ["a null character", () => `const a = "b\u0000";`],
    ["no check of types", () => `// @ts-nocheck`],
    ["an ignored line", () => `// @ts-ignore`],
    ["a reference to a file", () => `/// <reference path="/etc/passwd" />`],
    ["a source map", () => `//# sourceMappingURL=file:///etc/passwd`],
    ["a text without an end", () => `const a = "b;`],
    ["a comment without an end", () => `/* and so on`],
    ["a list with holes", () => `const a = [, login];`],
    ["half a sentence", () => `const a = login.;`],
  ];
  it.each(statements)("%s is refused and not run", async (_, statement) => {
    const result = await compileDraft(draft({ statement: statement() }));
    const diagnostics = result.ok ? [] : result.diagnostics;
    expect(diagnostics).not.toEqual([]);
    for (const { code, severity, file, line, message, fix } of diagnostics) {
      expect(code).toMatch(/^(DRAFT_NOT_ALLOWED|SYNTAX_ERROR)$/);
      expect({ severity, file, message, fix }).toEqual({
        severity: "error",
        file: "svc.config.ts",
        message: expect.any(String),
        fix: expect.any(String),
      });
      expect(line).toBeGreaterThan(3);
    }
    expect(existsSync(marker)).toBe(false);
  });

  test.each([
    ["a shebang", `#!/usr/bin/env node\n${draft()}`],
    ["a mark of the byte order", `\ufeff${draft()}`],
    ["an assignment of exports", draft().replace("export default", "export =")],
    ["a promise of a model", draft().replace("export default", "export default await")],
  ])("%s is refused", async (_, source) => {
    expect(told(source)).not.toEqual([]);
  });

  it("is told with its place, the line and what to do", async () => {
    expect(draftMistakes(draft({ statement: "const a = globalThis.process.exit();" }))).toEqual([
      {
        code: "DRAFT_NOT_ALLOWED",
        severity: "error",
        message: 'nothing has a method "exit"',
        file: "svc.config.ts",
        line: 4,
        column: 30,
        endLine: 4,
        endColumn: 34,
        source: ["const a = globalThis.process.exit();"],
        fix: 'write the model with what "svc" exports, and nothing else',
      },
    ]);
  });

  it("is told twenty times at most", async () => {
    expect(told("?\n".repeat(1_000))).toHaveLength(20);
  });
});

describe("what is too much", () => {
  const nested = (open: string, close: string, times: number) => `${open.repeat(times)}login${close.repeat(times)}`;
  it.each([
    ["parentheses", nested("(", ")", 10_000), /^4:\d+ DRAFT_TOO_DEEP/],
    ["lists", nested("[", "]", 10_000), /^4:\d+ DRAFT_TOO_DEEP/],
    ["objects", nested("{a:", "}", 10_000), /^4:\d+ DRAFT_TOO_DEEP/],
    ["calls", nested("all(", ")", 10_000), /^4:\d+ DRAFT_TOO_DEEP/],
    ["questions", `login${".count()".repeat(5_000)}`, /^4:\d+ DRAFT_TOO_DEEP/],
    ["members", `login${".count".repeat(5_000)}`, /^4:\d+ DRAFT_TOO_DEEP/],
    ["minus", `${"- ".repeat(10_000)}1`, /DRAFT_NOT_ALLOWED|DRAFT_TOO_DEEP/],
    ["arrows", `${"a=>".repeat(10_000)}1`, /DRAFT_NOT_ALLOWED|DRAFT_TOO_DEEP/],
    ["arrows in parentheses", nested("(a=", ")=>1", 5_000), /DRAFT_TOO_DEEP/],
    ["ten megabytes", `"${"x".repeat(10_000_000)}"`, /^1:1 DRAFT_TOO_LARGE/],
    ["a list of many", `[${"1,".repeat(30_000)}]`, /^$/],
  ])("%s", async (_, value, expected) => {
    const mistakes = told(draft({ statement: `const a = ${value};` }));
    expect(mistakes[0] ?? "").toMatch(expected);
  });

  it("names that double what they stand for", async () => {
    const doubling = Array.from({ length: 40 }, (_, n) => `const a${n + 1} = all(a${n}, a${n});`).join("\n");
    const source = draft({ statement: `const a0 = login.happened();\n${doubling}`, condition: "a40" });
    expect(told(source)).toEqual([expect.stringMatching(/^46:1 DRAFT_TOO_LARGE: .* adds up to more than 100000/)]);
  });

  it("not names of parts, however often they are named", async () => {
    const listed = Array.from({ length: 400 }, () => 'account.plan.is("pro")').join();
    const wide = `const wide = segment("wide", { when: any(${listed}) });`;
    const named = Array.from({ length: 400 }, () => "wide.has()").join();
    const source = draft({ statement: wide, condition: `any(${named})`, model: "" }).replace(
      "[active]",
      "[active, wide]",
    );
    expect(told(source)).toEqual([]);
  });
});
