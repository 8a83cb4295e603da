import { expect, test } from "vitest";
import { describeError } from "../../src/webhooks/send.js";

test.each([
  ["a pair cut in two by the limit", `${"a".repeat(999)}\u{1F600}`, `${"a".repeat(999)}\uFFFD`],
  ["a lone surrogate", "a\uDE00b", "a\uFFFDb"],
  ["U+0000", "a\u0000b", "a\uFFFDb"],
  ["whole pairs", "a\u{1F600}b", "a\u{1F600}b"],
])("why a request failed is told as the database takes it: %s", (_what, message, told) => {
  expect(describeError(new Error(message))).toBe(told);
});
