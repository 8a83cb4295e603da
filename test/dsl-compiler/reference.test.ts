import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import * as svc from "svc-success";
import { describe, expect, it } from "vitest";

import { compileProject, type CompileResult } from "../../src/dsl-compiler/index.js";
import { ApiError } from "../../src/http/errors.js";
import { TestClock } from "../../src/local/clock.js";
import { LocalEngine, type LocalModel, type RequestOperation } from "../../src/local/engine.js";
import { parseDuration } from "../../src/model/snapshot/duration.js";
import { LIMITS } from "../../src/model/snapshot/limits.js";
import { declarationsOf, exportsOf } from "./declarations.js";
import { project } from "./project.js";

const PAGE = fileURLToPath(new URL("../../docs/dsl.md", import.meta.url));
// To update the page after a change of the language: REFERENCE=write npx vitest run test/dsl-compiler/reference.test.ts && npx oxfmt docs/dsl.md
const WRITE = process.env["REFERENCE"] === "write";

let page = await readFile(PAGE, "utf8");
const exported = exportsOf();
const [prelude = "", ...examples] = [
  ...page.replace(/<!-- declarations: [^\n]* -->\n\n```ts\n.*?```/gs, "").matchAll(/^```ts\n(.*?)^```$/gms),
].map(([, code]) => code!);

/** Compares a part of the page with the expected text, or replaces it. */
async function check(part: string, expected: string): Promise<void> {
  if (!WRITE) {
    expect(plain(part)).toBe(plain(expected));
    return;
  }
  page = page.replace(part, () => expected);
  await writeFile(PAGE, page);
}

/** The text without the alignment of tables. */
function plain(text: string): string {
  return text
    .split("\n")
    .map((line) => (line.startsWith("|") ? line.replace(/ +\|/g, " |").replace(/-+/g, "-") : line))
    .join("\n")
    .trim();
}

/** The table with these column heads: its text, and its rows cell by cell. */
function table(...heads: string[]): { text: string; rows: string[][] } {
  const head = heads.map((name) => `\\| ${name.replace(/[()?."]/g, "\\$&")} +`).join("");
  const match = new RegExp(`^${head}\\|\\n\\|[-| ]+\\|\\n((?:\\|.*\\n)+)`, "m").exec(page);
  if (!match) throw new Error(`docs/dsl.md has no table of ${heads.join(", ")}`);
  const text = match[1]!;
  const rows = text.trimEnd().split("\n");
  return {
    text,
    rows: rows.map((row) =>
      row
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    ),
  };
}

const SETTINGS = { environment: "test" as const, configVersion: null, settleMs: 30_000 };
const rowOf = (cells: readonly string[]) => `| ${cells.join(" | ")} |\n`;
const codeOf = (cell: string) => /^`(.*)`$/.exec(cell)![1]!;
const codesOf = (cell: string) => [...cell.matchAll(/`(.*?)`/g)].map(([, code]) => code!);

/** A model of the prelude and more code: declarations join the model, and anything else is the condition of a segment. */
function moduleOf(code: string): string {
  const declared = [...(prelude + code).matchAll(/^const (\w+) = (\w+)?/gm)].map(([, name, builder]) => ({
    name: name!,
    builder,
  }));
  const of = (builder: string) => declared.filter((one) => one.builder === builder).map(({ name }) => name);
  const builders = /^(event|traits|lifecycle|journey|segment|health|rule|signal|display|tracking)$/;
  const conditions = declared.filter(({ name, builder }) => !builders.test(builder ?? "") && name !== "large");
  const segments = conditions.map(({ name }, n) => `segment("example_${n}", { when: ${name} })`);
  return `import { ${exported.values.join(", ")} } from "svc-success";
${prelude}${code}
export default defineModel({
  strictSchema: true,
  events: [${of("event").join(", ")}],
  traits: customer,
  lifecycle: ${of("lifecycle").at(-1)},
  journeys: [${of("journey").join(", ")}],
  segments: [${[...of("segment"), ...segments].join(", ")}],
  health: ${of("health").at(-1)},
  rules: [${of("rule").join(", ")}],
  signals: [${of("signal").join(", ")}],
  ${["display", "tracking"].flatMap((part) => of(part).map((name) => `${part}: ${name},`)).join("")}
});
`;
}

async function compile(code: string): Promise<CompileResult> {
  return compileProject(await project({ "svc.config.ts": moduleOf(code) }));
}

async function compiled(code: string): Promise<LocalModel> {
  const result = await compile(code);
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  return result;
}

describe("the names", () => {
  it("every function of svc has a heading with its declaration below", () => {
    const words = (pattern: RegExp) => [...page.matchAll(pattern)].flatMap(([, names]) => names!.split(", "));
    const headings = words(/^### ([a-z]\w*(?:, [a-z]\w*)*|ModelError)$/gm);
    expect(headings.sort()).toEqual([...exported.values].sort());
    const declared = words(/^<!-- declarations: (.*?) -->$/gm);
    expect(exported.values.filter((name) => name !== "ModelError" && !declared.includes(name))).toEqual([]);
    expect(new Set(declared).size).toBe(declared.length);
  });

  it("every type of svc is in the table of types", () => {
    expect(
      table("type", "what it is")
        .rows.flatMap(([names]) => codesOf(names!))
        .sort(),
    ).toEqual([...exported.types].sort());
  });

  it("declarations match the sources", async () => {
    const marks = [...page.matchAll(/<!-- declarations: (.*?) -->\n(?:\n```ts\n.*?```\n)?/gs)];
    for (const [text, names] of marks) {
      const declarations = names!.split(", ").map((name) => declarationsOf(name));
      await check(text, `<!-- declarations: ${names} -->\n\n\`\`\`ts\n${declarations.join("\n\n")}\n\`\`\`\n`);
    }
  });
});

describe("the examples", () => {
  it("have the right types", async () => {
    const modules = examples.map((code, n) => [`example-${n}.ts`, moduleOf(code)]);
    const imports = modules.map(([, code], n) => (code === "" ? "" : `import "./example-${n}.js";\n`)).join("");
    const config = `import { defineModel } from "svc-success";\n${imports}export default defineModel({});\n`;
    const directory = await project({ "svc.config.ts": config, ...Object.fromEntries(modules) });
    expect(await compileProject(directory, { types: true })).toMatchObject({ ok: true });
  });

  it("compile without a warning", async () => {
    expect(examples.length).toBeGreaterThan(10);
    for (const code of ["", ...examples]) expect(await compile(code), code).toMatchObject({ ok: true, warnings: [] });
  });
});

describe("the tables", () => {
  it("the conditions on each kind of field", async () => {
    const { text, rows } = table("declared", "property and latest value", "a trait also");
    const fields: Record<string, svc.AnyField> = {
      "string()": svc.string(),
      'oneOf("a", "b")': svc.oneOf("a", "b"),
      "number()": svc.number(),
      "boolean()": svc.boolean(),
      "date()": svc.date(),
      "array(string())": svc.array(svc.string()),
    };
    const expected = rows.map(([declared]) => {
      const field = fields[codeOf(declared!)]!;
      const trait = Object.keys(svc.traits({ it: field }).it);
      let property: string[] = [];
      const asked = svc.event("e", { it: field });
      asked.where((p) => {
        property = Object.keys(p.it);
        return p.it.exists();
      });
      expect(Object.keys(asked.latest("it")).filter((name) => !["within", "since"].includes(name))).toEqual(
        expect.arrayContaining(property.filter((name) => name !== "within")),
      );
      const list = (names: string[]) => names.map((name) => `\`${name}\``).join(", ");
      return rowOf([declared!, list(property), list(trait.filter((name) => !property.includes(name)))]);
    });
    await check(text, expected.join(""));
  });

  it("the effect of strictSchema on operations", async () => {
    const model = await compiled("");
    const { text, rows } = table("sent", "`strictSchema: true`", "`false`");
    const expected = rows.map(([cell]) => {
      const sent = JSON.parse(codeOf(cell!)) as object;
      const operation = {
        ...("traits" in sent ? { type: "identify" } : {}),
        customerId: "globex",
        ...sent,
      } as RequestOperation;
      return rowOf([cell!, ...[true, false].map((strictSchema) => outcome(model, strictSchema, operation))]);
    });
    await check(text, expected.join(""));
  });

  it("the length of durations", () => {
    const length = (text: string) => {
      try {
        return String(parseDuration(text));
      } catch {
        return "refused";
      }
    };
    const { rows } = table("text", "length");
    expect(rows).toEqual(rows.map(([text]) => [text, length(JSON.parse(codeOf(text!)) as string)]));
  });

  it("when conditions hold", async () => {
    const { text, rows } = table("condition", "from", "until");
    const code = rows.map(([cell], n) => `const row${n} = segment("row_${n}", { when: ${codeOf(cell!)} });\n`);
    const model = await compiled(code.join(""));
    const clock = TestClock.at("2026-03-01T09:00:00Z");
    const engine = new LocalEngine(model, { clock, ...SETTINGS });
    const login = { customerId: "globex", event: "login", properties: { user: "ada" } };
    engine.accept([login, { type: "identify", customerId: "globex", traits: { renewsOn: "2026-04-01" } }], "batch");
    clock.moveTo(Date.parse("2027-03-01T09:00:00Z"));
    engine.advance();
    const instants = (type: string, segment: string) =>
      engine.population
        .timeline("globex")
        .filter((entry) => entry.type === type && entry.metadata["segment"] === segment)
        .map(({ at }) => at.slice(5, 16).replace("T", " "));
    const expected = rows.map(([cell], n) => {
      const [from, ...again] = instants("segment.entered", `row_${n}`);
      const [until] = instants("segment.exited", `row_${n}`);
      expect(again).toEqual([]);
      return rowOf([cell!, from!, until ?? ""]);
    });
    await check(text, expected.join(""));
  });

  it("the limits", async () => {
    const { text, rows } = table("limit", "value", "of what");
    expect(rows.flatMap(([names]) => codesOf(names!)).sort()).toEqual(Object.keys(LIMITS).sort());
    const expected = rows.map(([names, , what]) => {
      const values = new Set(codesOf(names!).map((name) => LIMITS[name as keyof typeof LIMITS]));
      expect(values.size, names).toBe(1);
      return rowOf([names!, [...values][0]!.toLocaleString("en"), what!]);
    });
    await check(text, expected.join(""));
  });

  it("the messages for mistakes", async () => {
    const { text, rows } = table("written", "code", "message");
    const warnings = rows.length - 10;
    const reported = async (cell: string, index: number) => {
      const code = codeOf(cell);
      const result = await compile(`const ${code.includes("fond.has()") ? "fond" : "mistake"} = ${code};\n`);
      const [first] = result.ok ? result.warnings : result.diagnostics;
      expect([cell, first?.severity]).toEqual([cell, index < warnings ? "error" : "warning"]);
      return rowOf([cell, `\`${first!.code}\``, first!.message.replaceAll("|", "\\|")]);
    };
    const expected: string[] = [];
    // Two at a time, since each compilation waits for a separate process.
    for (let n = 0; n < rows.length; n += 2) {
      const pair = rows.slice(n, n + 2).map(([cell], index) => reported(cell!, n + index));
      expected.push(...(await Promise.all(pair)));
    }
    await check(text, expected.join(""));
  });

  it("the type errors of conditions", async () => {
    const { text, rows } = table("condition", "code", "what to do", "`--fix`");
    const code = rows.map(([cell], n) => `const mistake${n} = segment("mistake_${n}", { when: ${codeOf(cell!)} });\n`);
    const source = moduleOf(code.join(""));
    const result = await compileProject(await project({ "svc.config.ts": source }), { types: true });
    if (result.ok) throw new Error("the mistakes compile");
    const lines = source.split("\n");
    const expected = rows.map(([cell], n) => {
      const line = lines.findIndex((one) => one.startsWith(`const mistake${n} `)) + 1;
      const found = result.diagnostics.filter((one) => one.line === line);
      expect([cell, found.length]).toEqual([cell, 1]);
      const { code: reported, fix = "", edits } = found[0]!;
      return rowOf([cell!, `\`${reported}\``, fix, edits ? "yes" : ""]);
    });
    await check(text, expected.join(""));
  });
});

function outcome({ snapshot, hash }: LocalModel, strictSchema: boolean, operation: RequestOperation): string {
  const clock = TestClock.at("2026-03-01T09:00:00Z");
  const engine = new LocalEngine({ snapshot: { ...snapshot, strictSchema }, hash }, { clock, ...SETTINGS });
  try {
    const { diagnostics } = engine.accept([operation], "batch");
    return ["accepted", ...diagnostics.map(({ code }) => `counted as \`${code}\``)].join(", ");
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return `422 \`${error.code}\``;
  }
}
