import { expect, test } from "vitest";
import { csvLines } from "../../src/words/csv.js";

test.each([
  ["=1+1", "'=1+1"],
  ["＝1", "'＝1"],
  ["@x", "'@x"],
  // In locales where a semicolon ends a cell, such as Germany and France.
  ["x;=1+1", "x;'=1+1"],
  ["x;-1;+2", "x;'-1;'+2"],
  ["x\t@y", "x\t'@y"],
  // Doubled, the quote begins and ends an empty quoted cell there.
  ['x;"=1+1', `"x;""'=1+1"`],
  ['x\n"=1', `"x\n""'=1"`],
  ["x\n=1", `"x\n'=1"`],
  ["x\r=1", `"x\r'=1"`],
  ["\n=1", `"'\n'=1"`],
  ["\nx", `"'\nx"`],
  ["\rx", `"'\rx"`],
  ["\tx", "'\tx"],
])("no part of %j is a formula in a spreadsheet", (text, cell) => {
  expect(csvLines([[text, "y"]])).toBe(`${cell},y\n`);
});

test.each(["a; b", "x=1", "a-b", "1;2", "", "it's"])("%j stays unchanged", (text) => {
  expect(csvLines([[text, "y"]])).toBe(`${text},y\n`);
});

test("numbers, booleans and null stay unchanged", () => {
  expect(csvLines([[-1, 2.5, true, null, "x"]])).toBe("-1,2.5,true,,x\n");
});
