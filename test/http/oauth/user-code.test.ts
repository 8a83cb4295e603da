import fc from "fast-check";
import { expect, it } from "vitest";
import { newUserCode, readUserCode, showUserCode } from "../../../src/http/oauth/device-authorization.js";

it("is eight letters that make no word", () => {
  for (let made = 0; made < 1_000; made++) expect(newUserCode()).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{8}$/);
});

it("is shown in two halves", () => {
  expect(showUserCode("BCDFGHJK")).toBe("BCDF-GHJK");
});

it.each([
  "BCDF-GHJK",
  "BCDFGHJK",
  "bcdf-ghjk",
  "bcDfGhjK",
  " BCDF GHJK\n",
  "B C D F - G H J K",
  "BCDF–GHJK",
  "BCDF\u00a0GHJK",
])("is read however it is typed: %j", (typed) => {
  expect(readUserCode(typed)).toBe("BCDFGHJK");
});

it.each(["", "BCDF-GHJ", "BCDF-GHJKL", "ABCD-EFGH", "BCDF_GHJK", "BCDF1GHJ", "BCDFGHJ\u017f", "BCDFGHJK\u0130"])(
  "is not read from what is none: %j",
  (typed) => {
    expect(readUserCode(typed)).toBeNull();
  },
);

it("is what is read of any text, or nothing is", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const code = readUserCode(text);
      return code === null || /^[BCDFGHJKLMNPQRSTVWXZ]{8}$/.test(code);
    }),
  );
  fc.assert(
    fc.property(fc.nat(1_000), () => {
      const code = newUserCode();
      return readUserCode(showUserCode(code).toLowerCase()) === code;
    }),
  );
});
