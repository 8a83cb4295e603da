import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";

import { fixFor } from "../../src/dsl-compiler/diagnostics/fixes.js";
import { shapeFix } from "../../src/dsl-compiler/diagnostics/shape-fixes.js";

const source = path.resolve(import.meta.dirname, "../../src");

/** The codes that a pattern finds in the sources of a part. */
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
])("there is a fix for each code of %s", async (_, part, pattern, known) => {
  const codes = await codesIn(part, pattern);
  expect(codes).toContain(known);
  expect(codes.filter((code) => code !== "CONFIG_MISSING" && fixFor(code) === undefined)).toEqual([]);
});

test.each<[path: string, message: string, fix: RegExp | undefined]>([
  ["signals[0].severity", "is missing", /^add "severity"$/],
  ["signals[0].level", "is not known here", /^remove "level", or correct its name$/],
  ["signals[0].severity", 'must be one of "info", "warning"', /^give one of "info", "warning"$/],
  ["health.components[0].weight", "must be >= 0", /at least 0$/],
  ["health.bands[0].from", "must be <= 100", /at most 100$/],
  ["segments[0].when.value", "must be a whole number", /^give a whole number$/],
  ["rules[0].once", "must be boolean", /^give true or false$/],
  ["journeys[0].steps", "must not be empty", /^give at least one$/],
  ["display", 'must have at least one of "name", "show"', /^give at least one of "name", "show"$/],
  ["journeys[0].steps[2]", "must be an object", /step\(/],
  ["segments[0].when.conditions[1]", "must be an object", /^give a condition/],
  ["segments[0].when.of.where", "must be an object", /properties/],
  ["health.components[0].score.of", "must be an object", /count\(\)/],
  ["rules[0].on", "must be an object", /traitsChanged/],
  ["rules[0].then", "must be an object", /emit/],
  ["segments[0].when.then", "must be object", /^give an event/],
  ["segments[0].when.first", "must be object", /^give an event/],
  ["rules[0].cooldown", 'a rule that acts once needs no cooldown: it has a cooldown or "once", not both', /"once"/],
  ["events.order.properties.total", "must be an object", /^give what string\(\), .* or array\(…\) returns$/],
  ['traits["a plan"]', "must be an object", /^give what string\(\)/],
  [
    "segments[0].when.per",
    "days since an event grow for ever, so ratios and differences cannot use them: the result could change every day, without end",
    /^compute of counts, sums and traits; compare days since an event by themselves$/,
  ],
  [
    "segments[0].when.previous",
    "the max of the previous window cannot be computed from a customer's state; only counts, sums and averages can",
    /^use count, sum or avg/,
  ],
  [
    "journeys[0].steps[1].since",
    "the steps of this journey can be completed in any order, so none can count since the previous one",
    /^remove "since" from the step, or "anyOrder" from the journey$/,
  ],
  ["traits.plan", "must be of another kind", undefined],
])("%s %s: has the right fix", (path, message, fix) => {
  if (fix === undefined) expect(shapeFix(path, message)).toBeUndefined();
  else expect(shapeFix(path, message)).toMatch(fix);
});
