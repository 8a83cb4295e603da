import { expect, it } from "vitest";
import { QuestionProblem, type QuestionInput, readQuestion } from "../../src/backtest/question.js";
import { EMPTY_SNAPSHOT, type Snapshot } from "../../src/model/snapshot/types.js";

const END = Date.parse("2026-03-31T10:30:00Z");
const DAY = 86_400_000;

const SNAPSHOT: Snapshot = {
  ...EMPTY_SNAPSHOT,
  events: { cancelled: { properties: {} }, "a:b": { properties: {} } },
  lifecycle: { initial: "new", states: ["new", "churned"].map((name) => ({ name, transitions: [] })) },
  segments: [{ id: "loyal" }],
};

const WORDS: QuestionInput = { outcome: "state:churned", within: "60d" };

function problemOf(words: Partial<QuestionInput>, snapshot = SNAPSHOT): string {
  try {
    readQuestion({ ...WORDS, ...words }, END, snapshot);
  } catch (error) {
    if (error instanceof QuestionProblem) return `${error.path}: ${error.message} ${error.fix}`;
    throw error;
  }
  return "";
}

it("samples customers weekly over the year of whole days before the end by default", () => {
  expect(readQuestion(WORDS, END, SNAPSHOT)).toEqual({
    outcome: { kind: "state", id: "churned" },
    within: 60 * DAY,
    every: 7 * DAY,
    from: Date.parse("2025-03-31T00:00:00Z"),
    to: END,
    end: END,
  });
});

it("accepts a range, which by default begins a year before its end", () => {
  expect(
    readQuestion({ ...WORDS, every: "1d", from: "2026-01-01", to: "2026-01-31T12:00:00+01:00" }, END, SNAPSHOT),
  ).toMatchObject({ every: DAY, from: Date.parse("2026-01-01T00:00:00Z"), to: Date.parse("2026-01-31T11:00:00Z") });
  expect(readQuestion({ ...WORDS, to: "2026-01-31" }, END, SNAPSHOT).from).toBe(Date.parse("2025-01-31T00:00:00Z"));
});

it("reads outcomes of each kind, with any characters in a name", () => {
  const outcomeOf = (outcome: string) => readQuestion({ ...WORDS, outcome }, END, SNAPSHOT).outcome;
  expect(outcomeOf("event:a:b")).toEqual({ kind: "event", id: "a:b" });
  expect(outcomeOf("segment:loyal")).toEqual({ kind: "segment", id: "loyal" });
});

it("explains what is wrong with an outcome, and suggests the probable one", () => {
  expect(problemOf({ outcome: "churned" })).toBe(
    'outcome: "churned" is not an outcome. Write state:<id>, event:<name> or segment:<id>.',
  );
  expect(problemOf({ outcome: "state:churnd" })).toBe(
    'outcome: The model has no state "churnd"; did you mean state:churned? It has new, churned.',
  );
  expect(problemOf({ outcome: "event:paid" })).toBe('outcome: The model has no event "paid". It has cancelled, a:b.');
  expect(problemOf({}, { ...SNAPSHOT, lifecycle: null })).toBe(
    'outcome: The model has no state "churned". The model has no state: choose another outcome.',
  );
  expect(problemOf({ outcome: "event:constructor" }), "an inherited member is not an event").toContain("has no event");
});

it("explains what is wrong with durations and instants", () => {
  expect(problemOf({ within: "2 months" })).toMatch(/^within: "2 months" is not a valid duration/);
  expect(problemOf({ within: "9999d" })).toMatch(/^within: .* at most "3650d"\.$/);
  expect(problemOf({ every: "0d" })).toMatch(/^every: /);
  expect(problemOf({ from: "2026-01-01T00:00" })).toMatch(/^from: .* is not an instant\. Write a date/);
  expect(problemOf({ to: "2026-04-01" })).toMatch(/^to: It is after 2026-03-31T10:30:00\.000Z/);
  expect(problemOf({ from: "2026-02-01", to: "2026-01-31" })).toMatch(/^from: /);
});

it("refuses questions that no sample could answer, and too many instants", () => {
  expect(problemOf({ from: "2026-02-01" })).toBe(
    "within: No instant from 2026-02-01T00:00:00.000Z on is followed by 60d of known history, which ends at 2026-03-31T10:30:00.000Z. " +
      "Give a shorter one, or begin earlier.",
  );
  expect(readQuestion({ ...WORDS, from: "2026-01-30T10:30:00Z" }, END, SNAPSHOT).within, "exactly known").toBe(
    60 * DAY,
  );
  expect(problemOf({ every: "1h" })).toMatch(/^every: It makes 8771 instants; at most 400 are allowed\. Give a longer/);
  expect(problemOf({ every: "1d", from: "2025-02-25", to: "2026-03-31" }), "400 of them").toBe("");
  expect(problemOf({ every: "1d", from: "2025-02-24", to: "2026-03-31" })).toMatch(/^every: /);
});
