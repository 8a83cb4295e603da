import { expect, it } from "vitest";
import { timestampProblem } from "../../src/ingestion/timestamp.js";

it("each month has its days, and February one more in a leap year", () => {
  const lastDays = { 2023: 28, 2024: 29, 1900: 28, 2000: 29 };
  for (const [year, february] of Object.entries(lastDays)) {
    for (const [index, days] of [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].entries()) {
      const month = `${year}-${String(index + 1).padStart(2, "0")}`;
      expect([month, timestampProblem(`${month}-${days}T10:00:00Z`)]).toEqual([month, null]);
      expect([month, timestampProblem(`${month}-${days + 1}T10:00:00Z`)]).toEqual([month, "The date does not exist."]);
    }
  }
});
