import { readFile } from "node:fs/promises";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { dataOf } from "../../examples/tools/story.js";
import { compileProject, type CompileResult } from "../../src/dsl-compiler/index.js";
import { EXAMPLES, readData, readExpected, writeData, writeExpected } from "./support/examples.js";
import { expectedOf, type Expected } from "./support/expected.js";
import { playLocally, type Played } from "./support/local.js";
import { declaredIn, reachedBy } from "./support/reached.js";

// After a change of a model or a story: EXAMPLES=write npx vitest run test/examples/examples.test.ts
const WRITE = process.env["EXAMPLES"] === "write";

const ROOT = path.resolve(import.meta.dirname, "../../examples");

describe.each(EXAMPLES)("examples/$name", (example) => {
  let compiled: CompileResult & { ok: true };
  let data: string;
  let played: Played;
  beforeAll(async () => {
    const result = await compileProject(example.directory, { types: true });
    if (!result.ok) throw new Error(JSON.stringify(result.diagnostics, null, 2));
    compiled = result;
    if (WRITE) await writeData(example);
    data = await readData(example);
    played = playLocally(compiled, data, example.end);
    if (WRITE) await writeExpected(example, stand(played, example.end));
  });

  it("is a model without warnings", () => {
    expect(compiled.warnings).toEqual([]);
  });

  it("has the data of its stories", () => {
    expect(data).toBe(dataOf(example.stories));
  });

  it("leaves customers as in expected.json", async () => {
    expect(stand(played, example.end)).toEqual(await readExpected(example));
  });

  it("uses every part of its model", () => {
    const reached = reachedBy(data, played);
    expect(declaredIn(compiled.snapshot).filter((part) => !reached.has(part))).toEqual([]);
  });

  it("names only existing customers in its README", async () => {
    const readme = await readFile(path.join(example.directory, "README.md"), "utf8");
    const named = [...readme.matchAll(/`([a-z]+(?:-[a-z]+)+)`/g)].map(([, name]) => name!);
    expect(named.length).toBeGreaterThan(3);
    const known = new Set(example.stories.map(({ customerId }) => customerId));
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });
});

it("the index names existing files with their contents", async () => {
  const index = await readFile(path.join(ROOT, "README.md"), "utf8");
  const named = [...index.matchAll(/`(\w+\/model\/\w+\.ts)`(?: \(((?:`\w+`(?:, )?)+)\))?/g)];
  expect(named.length).toBeGreaterThan(30);
  for (const [, file = "", parts = ""] of named) {
    const source = await readFile(path.join(ROOT, file), "utf8");
    for (const [, part = ""] of parts.matchAll(/`(\w+)`/g)) {
      expect(source, `${part} of ${file}`).toMatch(new RegExp(`\\b(const ${part} =|${part}:)`));
    }
  }
});

function stand({ engine }: Played, end: string): Expected {
  const customers = engine.population.customerIds.map(
    (id) => [id, expectedOf(engine.document(id)!, engine.population.timeline(id))] as const,
  );
  return { at: end, customers: Object.fromEntries(customers) };
}
