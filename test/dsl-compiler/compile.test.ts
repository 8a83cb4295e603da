import { rmSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

import { compileProject } from "../../src/dsl-compiler/index.js";
import { canonicalJson, hashSnapshot } from "../../src/model/snapshot/canonical.js";
import { project } from "./project.js";

const example = (name: string) => path.resolve(import.meta.dirname, "../../examples", name);

test.each(["cdnow", "fines"])(
  "the example %s compiles without a warning, with and without its types to the same bytes",
  async (name) => {
    const first = await compileProject(example(name), { types: true });
    const second = await compileProject(example(name));
    if (!first.ok || !second.ok) throw new Error(JSON.stringify([first, second], null, 2));
    expect(first.warnings).toEqual([]);
    expect(canonicalJson(second.snapshot)).toBe(canonicalJson(first.snapshot));
    expect(second.hash).toBe(first.hash);
    expect(first.hash).toBe(hashSnapshot(first.snapshot));
  },
);

test("svc.config.ts may vanish while it is compiled, as when another branch is checked out", async () => {
  const directory = await project({
    "svc.config.ts": `import { defineModel } from "svc-success"; console.log("loaded"); export default defineModel({});`,
  });
  const onOutput = () => rmSync(path.join(directory, "svc.config.ts"), { force: true });
  expect(await compileProject(directory, { types: true, onOutput })).toHaveProperty("ok");
});

test("console output of the author's code is passed on and is not part of the snapshot", async () => {
  const directory = await project({
    "svc.config.ts": `import { defineModel } from "svc-success"; console.log("loaded"); export default defineModel({});`,
  });
  const printed: string[] = [];
  expect(await compileProject(directory, { onOutput: (text) => printed.push(text) })).toMatchObject({ ok: true });
  expect(printed.join("")).toBe("loaded\n");
});

test("the time and random numbers are warned of where the author's modules ask for them, and not where a package does", async () => {
  const directory = await project({
    "svc.config.ts": `import { date, defineModel, segment, traits } from "svc-success";
import { startedAt } from "clock";
const customer = traits({ renewsOn: date() });
const cutoff = new Date(Date.now() - startedAt % 2);
const due = segment("due", { when: customer.renewsOn.before(cutoff.toISOString()) });
const fixed = segment("fixed", { when: customer.renewsOn.before(new Date(0).toISOString()) });
for (let n = 0; n < 200; n++) Math.random();
export default defineModel({ traits: customer, segments: [due, fixed] });
`,
    "node_modules/clock/package.json": `{ "name": "clock", "type": "module", "exports": "./index.js" }`,
    "node_modules/clock/index.js": `export const startedAt = Date.now();`,
  });
  const result = await compileProject(directory);
  if (!result.ok) throw new Error(JSON.stringify(result));
  expect(result.warnings.map(({ code, message, file, line }) => [code, message.split(" ", 1)[0], file, line])).toEqual([
    ["COMPUTED_ONCE", "Date.now()", "svc.config.ts", 4],
    ["COMPUTED_ONCE", "Math.random()", "svc.config.ts", 7],
  ]);
});
