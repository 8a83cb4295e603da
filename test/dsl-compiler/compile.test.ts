import path from "node:path";
import { expect, test } from "vitest";

import { compileProject } from "../../src/dsl-compiler/index.js";
import { canonicalJson, hashSnapshot } from "../../src/model/snapshot/canonical.js";

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
