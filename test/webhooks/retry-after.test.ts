import { expect, test } from "vitest";
import { retryAfterSeconds } from "../../src/webhooks/send.js";

const NOW = Date.parse("2026-03-02T10:00:00.000Z");

test.each([
  ["120", 120],
  [" 0 ", 0],
  ["Mon, 02 Mar 2026 10:01:30 GMT", 90],
  ["Monday, 02-Mar-26 10:01:30 GMT", 90],
  ["Mon, 02 Mar 2026 09:00:00 GMT", 0],
  ["-5", null],
  ["1.5", null],
  ["soon", null],
  ["2026-03-02T10:01:30Z", null],
  ["9".repeat(400), null],
  ["", null],
  [undefined, null],
])("Retry-After %j asks for %j seconds", (header, seconds) => {
  expect(retryAfterSeconds(header, NOW)).toBe(seconds);
});
