import { describe, expect, it } from "vitest";

import {
  addTo,
  happened,
  inSegment,
  inState,
  journeyIs,
  modelOf,
  not,
  raise,
  removeFrom,
  rule,
  seen,
  type Parts,
  type StepParts,
} from "./support/builders.js";
import { Run } from "./support/runner.js";

const MINUTE = 60_000;
const YEAR = 365 * 24 * 60 * MINUTE;
/** As documented in docs/model.md. */
const MOVES_MAX = 1_000;

/** A customer with one event, and everything that time alone caused after it. */
function runOf(parts: Parts, until = YEAR): Run {
  const run = new Run(modelOf(parts));
  run.take([seen(1, 0)]);
  run.tick(until);
  return run;
}

const CIRCLE: Parts["states"] = { a: [["b", inState("1m")]], b: [["a", inState("1m")]] };

describe("changes that time alone causes between two operations", () => {
  it("end after a thousand transitions, each at its instant, and the next is reported as blocked", () => {
    const run = runOf({ states: CIRCLE }, 2_000 * YEAR);
    const moved = run.effects.filter(({ kind }) => kind === "transition").slice(1);
    expect(moved).toHaveLength(MOVES_MAX);
    expect(moved.at(-1)).toMatchObject({ from: "b", to: "a", at: MOVES_MAX * MINUTE, cause: { kind: "timer" } });
    expect(run.effects.at(-1)).toMatchObject({ kind: "blocked", from: "a", to: "b", at: (MOVES_MAX + 1) * MINUTE });
    expect(run.state.nextDueAt).toBeNull();
  });

  it("resume after the next operation, which takes the blocked transition", () => {
    const run = runOf({ states: CIRCLE });
    run.take([seen(2, YEAR)]);
    expect(run.state.lifecycle).toMatchObject({ state: "b", enteredAt: YEAR });
    run.tick(YEAR + 10 * MINUTE);
    expect(run.state.lifecycle).toMatchObject({ state: "b", enteredAt: YEAR + 10 * MINUTE });
  });

  it("end after a thousand runs of a journey that starts itself again", () => {
    const start = not(journeyIs("again", "active"));
    const steps: StepParts[] = [["pay", happened("paid")]];
    const run = runOf({ journeys: { again: { start, steps, expiresAfter: "15m", repeat: true } } });
    // The first was started by the operation.
    expect(run.state.journeys["again"]).toMatchObject({ run: MOVES_MAX + 1, status: "expired" });
    expect(run.state.nextDueAt).toBeNull();
  });

  it("end after a thousand raises of a signal whose end raises it again", () => {
    const again = rule({ kind: "signalCleared", signal: "bell" }, raise("bell"));
    const run = runOf({ signals: { bell: { for: "1m" } }, rules: { ring: rule("seen", raise("bell")), again } });
    expect(run.effects.filter(({ kind }) => kind === "signalRaised")).toHaveLength(MOVES_MAX + 1);
    expect(run.effects.filter(({ kind }) => kind === "ruleExecuted").at(-1)).toMatchObject({
      rule: "again",
      result: "skip",
    });
    expect(run.state.nextDueAt).toBeNull();
  });

  it("end after a thousand moves of rules that trigger each other through states and timers", () => {
    const run = runOf({
      states: { a: [["b", inSegment("g")]], b: [["a", not(inSegment("g"))]] },
      segments: { g: null },
      signals: { bell: { for: "1m" }, gong: { for: "1m" } },
      rules: {
        ring: rule({ kind: "stateEntered", state: "a" }, raise("bell")),
        there: rule({ kind: "signalCleared", signal: "bell" }, addTo("g")),
        strike: rule({ kind: "stateEntered", state: "b" }, raise("gong")),
        back: rule({ kind: "signalCleared", signal: "gong" }, removeFrom("g")),
      },
    });
    const moves = run.effects.filter(({ kind, cause }) => {
      return cause.kind === "timer" && (kind === "transition" || kind === "signalRaised");
    });
    expect(moves.length).toBeGreaterThanOrEqual(MOVES_MAX);
    expect(moves.length).toBeLessThanOrEqual(MOVES_MAX + 2);
    expect(run.state.nextDueAt).toBeNull();
  });
});
