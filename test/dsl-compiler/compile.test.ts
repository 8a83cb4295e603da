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
