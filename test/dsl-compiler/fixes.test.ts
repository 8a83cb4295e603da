import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";

import { fixFor } from "../../src/dsl-compiler/diagnostics/fixes.js";

const source = path.resolve(import.meta.dirname, "../../src");

/** The codes that stand in the sources of a part, as a pattern finds them. */
async function codesIn(part: string, pattern: RegExp): Promise<string[]> {
  const files = (await readdir(path.join(source, part), { recursive: true })).filter((file) => file.endsWith(".ts"));
  const texts = await Promise.all(files.map((file) => readFile(path.join(source, part, file), "utf8")));
  return [...new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map(([, code]) => code!)))];
}

test.each([
  ["a problem of a snapshot", "model", /^ {2}\| "([A-Z0-9_]+)"/gm, "SEGMENT_CYCLE"],
  ["a lint warning", "dsl-compiler", /(?:\| |code: |"warning", )"([A-Z0-9_]+)"/g, "UNUSED_EVENT"],
  [
    "an error of the compiler",
    "dsl-compiler",
    /(?:"error",\s*|return |report\()"([A-Z][A-Z0-9]*_[A-Z0-9_]+)"/g,
    "MODEL_ENDED",
  ],
  [
    "a mistake that a builder records",
    "dsl",
    /(?:ModelError\(\s*|\| |code: )"([A-Z][A-Z0-9_]+)"/g,
    "INVALID_DEFINITION",
  ],
])("there is something to do about each code of %s", async (_, part, pattern, known) => {
  const codes = await codesIn(part, pattern);
  expect(codes).toContain(known);
  expect(codes.filter((code) => code !== "CONFIG_MISSING" && fixFor(code) === undefined)).toEqual([]);
});
