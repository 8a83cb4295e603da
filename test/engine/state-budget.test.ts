import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { stateBudget, type CustomerState } from "../../src/engine/index.js";
import type { Condition } from "../../src/model/snapshot/types.js";
import { operations, snapshot, START } from "./support/arbitrary.js";
import {
  aggregate,
  compared,
  compile,
  count,
  counted,
  distinct,
  healthOf,
  minus,
  not,
  number,
  per,
  seen,
  sequence,
  snapshotOf,
} from "./support/builders.js";
import { check, Run, timeout } from "./support/runner.js";

describe("the limit on what a model remembers for one customer", () => {
  it("is never exceeded", { timeout }, () => {
    check(
      fc.property(snapshot, operations, (given, some) => {
        const { bytes } = stateBudget(given);
        const run = new Run(compile(given));
        for (const operation of some) {
          run.take([operation]);
          expect(bytesOf(run.state)).toBeLessThanOrEqual(bytes);
        }
      }),
    );
  });

  it("is not exceeded when all values are as long as possible", () => {
    const when: Record<string, Condition> = {
      count: count("x", "gte", 300, { within: "365d" }),
      texts: distinct(["x", "text"], "gte", 300, { within: "365d" }),
      long: distinct(["x", "long"], "gte", 300, { within: "365d" }),
      latest: { kind: "latest", of: { event: "x" }, property: "long", operator: "eq", value: "y", within: "365d" },
      object: { kind: "latest", of: { event: "x" }, property: "object", operator: "eq", value: "y", within: "365d" },
      sum: aggregate("sum", ["x", "n"], "gte", 1e300, { within: "365d" }),
      falling: aggregate("max", ["x", "falling"], "gte", 1e300, { within: "365d" }),
      sequence: sequence("x", "y", "365d"),
      rising: aggregate("sum", ["x", "rising"], "gte", 1e-300, { within: "365d" }),
      other: compared(minus(number("x", { within: "365d" }), number("x", { within: "300d" })), "ne", 200.5),
      ratio: compared(per(number(["x", "rising"], { within: "365d" }), number("x", { within: "300d" })), "lt", 0),
    };
    const given = snapshotOf({ segments: when });
    const run = new Run(compile(given));
    run.take(
      Array.from({ length: 400 }, (_, i) => {
        const text = `${"\u0001".repeat(60)}${String(i).padStart(4, "0")}`;
        const properties = {
          text,
          long: "\u0001".repeat(200) + text,
          object: { text: "\u0001".repeat(200) },
          n: (i % 2 === 0 ? -1.2345678901234567e308 : 2.2250738585072014e-308) / (i + 1),
          falling: -1.2345678901234567e-100 * (i + 1),
          rising: 1.2345678901234567e-100 / (i + 1),
        };
        return seen(Number.MAX_SAFE_INTEGER - 400 + i, START + i, "x", properties);
      }),
    );
    expect(run.state.memory.searches?.map(({ checkpoint }) => checkpoint !== null)).toContain(true);
    const { bytes } = stateBudget(given);
    expect(bytesOf(run.state)).toBeLessThanOrEqual(bytes);
    // The bound is not meaninglessly large.
    expect(bytes).toBeLessThan(3 * bytesOf(run.state));
  });

  it("includes searches of at most sixteen windows, whatever a model computes from them", () => {
    const drop = (days: number): Condition => {
      const [now, before] = [false, true].map((previous) => {
        return number(["x", "n"], { within: `${days}d`, ...(previous && { previous }) });
      });
      return compared(per(now!, before!), "lte", 0.5);
    };
    const rich = (days: number): Condition => aggregate("sum", ["x", "n"], "gte", 1, { within: `${days}d` });
    const numbered = (when: (days: number) => Condition, amount: number) =>
      Object.fromEntries(Array.from({ length: amount }, (_, i) => [`s${i}`, when(1 + i)]));
    for (const [when, remembered] of [
      [rich, 16],
      [drop, 8],
    ] as const) {
      const { searched } = compile(snapshotOf({ segments: numbered(when, 20) })).registry;
      const kept = searched.filter(({ isRemembered }) => isRemembered);
      expect(kept.length).toBe(remembered);
      expect(kept.flatMap(({ aggregates }) => aggregates).length).toBe(16);
    }
  });

  it("names the conditions that take the most, and counts shared memory once", () => {
    const users = (within: string): Condition => distinct(["x", "user"], "gte", 5_000, { within });
    const small = snapshotOf({ segments: { a: users("30d") } });
    const shared = snapshotOf({
      segments: { few: count("x", "gte", 3, { within: "1d" }), a: users("30d"), b: users("60d"), c: users("90d") },
    });
    const [first, second] = stateBudget(shared).parts;
    expect(first).toEqual({ path: "segments[1].when", conditions: 3, bytes: stateBudget(small).parts[0]!.bytes });
    expect(second).toMatchObject({ path: "segments[0].when", conditions: 1 });
  });

  it("finds conditions in all parts of a model", () => {
    const given = snapshotOf({
      states: { on: [["off", not(count("x", "gte", 9, { within: "1d" }))]], off: [] },
      journeys: { j: { start: count("x", "gte", 1), steps: [["s", count("y", "gte", 7)]] } },
      health: healthOf({ c: counted("z", 8, { within: "1d" }) }, { b: 0 }),
    });
    expect(stateBudget(given).parts.map(({ path }) => path)).toEqual([
      "lifecycle.states[0].transitions[0].when.condition",
      "health.components[0].score.of",
      "journeys[0].steps[0].when",
    ]);
  });
});

function bytesOf({ traits: _, ...state }: CustomerState): number {
  return Buffer.byteLength(JSON.stringify(state));
}
