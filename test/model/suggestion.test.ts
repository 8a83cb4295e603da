import { expect, test } from "vitest";

import { nearest } from "../../src/model/snapshot/suggestion.js";

test.each<[string, string[], string | undefined]>([
  ["seets", ["plan", "seats", "sets"], "seats"],
  ["plan", ["plam", "plans"], "plam"],
  ["plan", ["seats"], undefined],
  ["paln", ["seats", "plan"], "plan"],
  ["plna", ["plans", "plan"], "plan"],
  ["nlap", ["plan"], undefined],
  ["a", ["b"], undefined],
  ["ab", ["b"], "b"],
  ["", ["a"], undefined],
  ["anything", [], undefined],
  ["x".repeat(300), ["x".repeat(299)], undefined],
])("of %j and %j the nearest is %j", (name, candidates, expected) => {
  expect(nearest(name, candidates)).toBe(expected);
});
