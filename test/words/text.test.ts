import { expect, test } from "vitest";

import { localTime } from "../../src/words/text.js";

test.each([
  ["0001-01-01T00:00:00.000Z", "0001-01-01 00:00:00 +00:00"],
  ["0987-06-05T04:03:02.000Z", "0987-06-05 04:03:02 +00:00"],
  ["2026-03-14T10:00:00.000Z", "2026-03-14 10:00:00 +00:00"],
])("the year of a local time has four digits: %s", (iso, shown) => {
  expect(localTime(iso, "UTC")).toBe(shown);
});
