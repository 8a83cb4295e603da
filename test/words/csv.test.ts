import { expect, test } from "vitest";
import { csvLines } from "../../src/words/csv.js";

test.each([
  ["=1+1", "'=1+1"],
  ["＝1", "'＝1"],
  ["@x", "'@x"],
  // Where a semicolon ends a cell, as in Germany and France.
  ["x;=1+1", "x;'=1+1"],
  ["x;-1;+2", "x;'-1;'+2"],
  ["x\t@y", "x\t'@y"],
  ["x\n=1", `"x\n'=1"`],
  ["x\r=1", `"x\r'=1"`],
  ["\n=1", `"'\n'=1"`],
  ["\nx", `"'\nx"`],
  ["\rx", `"'\rx"`],
  ["\tx", "'\tx"],
])("in %j nothing is a formula to a spreadsheet", (text, cell) => {
  expect(csvLines([[text, "y"]])).toBe(`${cell},y\n`);
});

test.each(["a; b", "x=1", "a-b", "1;2", "", "it's"])("%j stays as it is", (text) => {
  expect(csvLines([[text, "y"]])).toBe(`${text},y\n`);
});

test("numbers, truth and nothing stay as they are", () => {
  expect(csvLines([[-1, 2.5, true, null, "x"]])).toBe("-1,2.5,true,,x\n");
});
