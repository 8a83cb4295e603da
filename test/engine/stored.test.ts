import fc from "fast-check";
import { expect, it } from "vitest";

import { type CustomerState, stateOf, storedState, type StoredState } from "../../src/engine/index.js";
import { FINAL_INSTANT, operations, snapshot } from "./support/arbitrary.js";
import { aggregate, compile, count, happened, modelOf, seen } from "./support/builders.js";
import { check, Coverage, Run, storedAndRead, timeout } from "./support/runner.js";

const HOUR = 3_600_000;
const AGGREGATES = ["sum", "extreme", "distinct", "latest", "first", "sequence"].map((kind) => `aggregate ${kind}`);
const PARTS = [
  "lastTrack traitsChangedAt traitsChangedSeq traitsDueAt traitsDueSeqs lifecycle journeys segments health healthChangesAt rules signals",
  "times memory",
].flatMap((names) => names.split(" "));

it("what is read of a stored state is that state, and it is shorter while it is stored", { timeout }, () => {
  const coverage = new Coverage();
  check(
    fc.property(snapshot, operations, (given, some) => {
      const run = new Run(compile(given));
      const look = () => {
        const text = JSON.stringify(run.state);
        const read = storedAndRead(run.state);
        expect(read).toEqual(JSON.parse(text));
        // Steps and components are shown in the order in which they are kept.
        for (const part of ["journeys", "health", "segments", "signals"] as const) {
          expect(JSON.stringify(read[part])).toBe(JSON.stringify(run.state[part]));
        }
        const stored = storedState(run.state);
        expect(JSON.stringify(stored).length).toBeLessThan(text.length);
        addParts(coverage, run.state, stored);
      };
      look();
      for (const operation of some) {
        run.take([operation]);
        look();
      }
      run.tick(FINAL_INSTANT);
      look();
    }),
  );
  expect(coverage.missing([...AGGREGATES, ...PARTS]), coverage.toString()).toEqual([]);
});

it("so are the searches for a number's next change, whatever is known of its margins", () => {
  const spends = aggregate("sum", ["order", "amount"], "gte", 6_000, { within: "365d" });
  const run = new Run(modelOf({ segments: { spends } }));
  run.take(Array.from({ length: 200 }, (_, n) => seen(n + 1, n * HOUR, "order", { amount: 50 + (n % 7) })));
  const { state } = run;
  const [search] = state.memory.searches!;
  const { margins, ...without } = search!;
  expect(margins!.margins[0]!.instants.length).toBeGreaterThan(1);
  const checkpoint = { ...search!.outlook, isOut: true };
  for (const one of [search!, without, { ...search!, margins: null, checkpoint }]) {
    const given = { ...state, memory: { ...state.memory, searches: [one] } };
    expect(storedAndRead(given)).toStrictEqual(given);
  }
});

function addParts(coverage: Coverage, { memory }: CustomerState, stored: StoredState): void {
  for (const part of Object.keys(stored)) coverage.add(part);
  for (const { kind } of memory.aggregates) coverage.add(`aggregate ${kind}`);
}

function customer(): CustomerState {
  const run = new Run(
    modelOf({
      states: { new: [["buyer", happened("order")]], buyer: "terminal" },
      segments: {
        active: count("login", "gte", 2, { within: "7d" }),
        spends: aggregate("sum", ["order", "amount"], "gte", 60, { within: "30d" }),
      },
      journeys: { start: { start: happened("login"), steps: [["order", happened("order")]] } },
    }),
  );
  run.take([seen(100, HOUR, "login"), seen(103, 2 * HOUR, "login"), seen(105, 3 * HOUR, "order", { amount: 70 })]);
  return run.state;
}

it("leaves out what has a column, and what is as of a new customer; lists tell differences", () => {
  const model = customer().memory.model;
  const order = [3 * HOUR, 105];
  const sum = ["sum", [70, 0], 1, 1, 0, [order, null], [[[3 * HOUR], [105], [70]], 0, null]];
  expect(storedState(customer())).toEqual({
    times: [HOUR, 3 * HOUR, 3 * HOUR, HOUR + 7 * 24 * HOUR, HOUR + 7 * 24 * HOUR],
    memory: [
      model,
      false,
      [
        [1, [3 * HOUR], [105]],
        [2, [HOUR, HOUR], [100, 3]],
      ],
      [sum],
    ],
    lastTrack: [3 * HOUR, ...order],
    lifecycle: ["buyer", 3 * HOUR, order],
    journeys: {
      start: [
        1,
        "complete",
        "order",
        HOUR,
        [HOUR, 100],
        { order: [3 * HOUR, "evt_105", order] },
        3 * HOUR,
        null,
        order,
      ],
    },
    segments: { active: 2 * HOUR, spends: 3 * HOUR },
  });
});

it("a state that was stored with the names of all members is read as it is", () => {
  const { traits: _, ...former } = customer();
  const columns = { customerId: "c1", createdAt: 0, traits: { plan: "pro" } };
  expect(stateOf(JSON.parse(JSON.stringify(former)) as StoredState, columns)).toEqual({
    ...former,
    traits: columns.traits,
  });
});
