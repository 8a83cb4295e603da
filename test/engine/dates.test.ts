import { describe, expect, it } from "vitest";

import { parseInstant } from "../../src/model/snapshot/duration.js";

describe("parseInstant", () => {
  it.each([
    ["2026-03-02", "2026-03-02T00:00:00.000Z"],
    ["2024-02-29", "2024-02-29T00:00:00.000Z"],
    ["2026-03-02T10:20Z", "2026-03-02T10:20:00.000Z"],
    ["2026-03-02t10:20:30z", "2026-03-02T10:20:30.000Z"],
    ["2026-03-02T10:20:30.1239Z", "2026-03-02T10:20:30.123Z"],
    ["2026-03-02T00:30:00+02:00", "2026-03-01T22:30:00.000Z"],
    ["2026-03-02T23:30:00-05:45", "2026-03-03T05:15:00.000Z"],
    ["0001-01-01", "0001-01-01T00:00:00.000Z"],
  ])("reads %s", (text, instant) => {
    expect(new Date(parseInstant(text)!).toISOString()).toBe(instant);
  });

  const dates = ["2026-02-30", "2025-02-29", "2026-13-01", "2026-00-10", "2026-01-00", "2026-1-1", " 2026-01-01", ""];
  const times = ["T24:00:00Z", "T10:60:00Z", "T10:00:60Z", "T10:00:00", "T10:00:00+24:00"];
  it.each([...dates, ...times.map((time) => `2026-01-01${time}`), 20260101, null, undefined])(
    "finds no instant in %j",
    (value) => {
      expect(parseInstant(value)).toBeUndefined();
    },
  );
});
