import { expect, it } from "vitest";
import { exceededLimit } from "../../src/http/json-limits.js";

const LIMITS = { depthMax: 3, containersMax: 5 };

it.each([
  ["a scalar", '"text of some length"'],
  ["as many levels as may be", '[{"a":[1,2,3]}]'],
  ["as many objects and arrays as may be", "[{},{},[],[]]"],
  ["levels one after another", '[[[1]],[["a"]]]'],
  ["brackets in a text", '["[[[[[[", "{{{{{{"]'],
  ["brackets in a text after an escaped quote", String.raw`["\"[[[[[["]`],
  ["brackets after a text that ends with a backslash", String.raw`["\\",[[1]]]`],
  ["a text without an end", '["[[[[[['],
  ["a text that ends within an escape", '["[[[[[[\\'],
  ["closing brackets only", "]]]]]]]]"],
  ["nothing", ""],
])("what may be parsed exceeds no limit: %s", (_, text) => {
  expect(exceededLimit(text, LIMITS)).toBeNull();
});

it.each([
  ["arrays", "[[[[]]]]"],
  ["objects", '{"a":{"b":{"c":{}}}}'],
  ["both", '[{"a":[{}]}]'],
  ["levels that are never closed", "[[[["],
  ["levels after a text that ends with a backslash", String.raw`["\\",[[[1]]]]`],
])("what nests too deep is told from what holds too many: %s", (_, text) => {
  expect(exceededLimit(text, LIMITS)).toBe("depthMax");
});

it.each([
  ["arrays", "[[],[],[],[],[]]"],
  ["objects", '[{},{},{},{},{"a":1}]'],
  ["both, at several levels", "[[{}],[{}],[]]"],
])("what holds too many objects and arrays is told: %s", (_, text) => {
  expect(exceededLimit(text, LIMITS)).toBe("containersMax");
});

it("a long text of escapes is read at once", () => {
  expect(exceededLimit(`["${"\\\\".repeat(1_000_000)}"]`, LIMITS)).toBeNull();
});
