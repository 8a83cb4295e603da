import { beforeAll, describe, expect, it } from "vitest";
import { dataOf } from "../../examples/tools/story.js";
import { compileProject, type CompileResult } from "../../src/dsl-compiler/index.js";
import { EXAMPLES, readData, readExpected, writeData, writeExpected } from "./support/examples.js";
import { expectedOf, type Expected } from "./support/expected.js";
import { playLocally, type Played } from "./support/local.js";
import { declaredIn, reachedBy } from "./support/reached.js";

// For whoever changes a model or a story: EXAMPLES=write npx vitest run test/examples/examples.test.ts
const WRITE = process.env["EXAMPLES"] === "write";

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

  it("has the data that its stories tell", () => {
    expect(data).toBe(dataOf(example.stories));
  });

  it("leaves the customers as expected.json says", async () => {
    expect(stand(played, example.end)).toEqual(await readExpected(example));
  });

  it("shows every part of its model at work", () => {
    const reached = reachedBy(data, played);
    expect(declaredIn(compiled.snapshot).filter((part) => !reached.has(part))).toEqual([]);
  });
});

function stand({ engine }: Played, end: string): Expected {
  const customers = engine.customerIds.map(
    (id) => [id, expectedOf(engine.document(id)!, engine.timeline(id))] as const,
  );
  return { at: end, customers: Object.fromEntries(customers) };
}
