import fc from "fast-check";
import { expect, it } from "vitest";

import { newCustomer, stateOf, storedState } from "../../src/engine/index.js";
import type {
  AggregateMemory,
  CustomerState,
  JourneyRun,
  MarginMemory,
  SearchMemory,
  StoredState,
} from "../../src/engine/index.js";
import { FINAL_INSTANT, operations, snapshot } from "./support/arbitrary.js";
import { compile } from "./support/builders.js";
import { check, Coverage, Run, storedAndRead, timeout } from "./support/runner.js";

const AGGREGATES = ["sum", "extreme", "distinct", "latest", "first", "sequence"].map((kind) => `aggregate ${kind}`);
const PARTS = [
  "lastTrack traitsChangedAt traitsChangedSeq traitsDueAt traitsDueSeqs lifecycle journeys segments health healthChangesAt rules signals",
  "times memory",
].flatMap((names) => names.split(" "));

it("a stored state reads back unchanged, and is shorter as stored", { timeout }, () => {
  const coverage = new Coverage();
  check(
    fc.property(snapshot, operations, (given, some) => {
      const run = new Run(compile(given));
      const look = () => {
        const text = JSON.stringify(run.state);
        const read = storedAndRead(run.state);
        expect(read).toEqual(JSON.parse(text));
        // Steps and components are shown in stored order.
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

function addParts(coverage: Coverage, { memory }: CustomerState, stored: StoredState): void {
  for (const part of Object.keys(stored)) coverage.add(part);
  for (const { kind } of memory.aggregates) coverage.add(`aggregate ${kind}`);
}

// A state with one of everything, in which each number is different where possible.
const at = (n: number, event: number) => ({ occurredAt: 1000 + n, seq: event });
const OLDEST = { occurredAt: [37, 40], seq: [50, 45], value: [0.5, -1] };
const SUM: AggregateMemory = {
  kind: "sum",
  sum: { units: "12345678901234567890", scale: 2 },
  count: 31,
  positive: 32,
  negative: 33,
  scope: { latest: at(1, 34), since: { at: 35, by: at(2, 36) } },
  window: { oldest: OLDEST, others: 38, othersFrom: at(3, 39) },
};
const FIRST: AggregateMemory = { kind: "first", occurredAt: 41 };
const OUTLOOK = { instant: 61, aggregates: [FIRST] };
const MARGIN: MarginMemory = {
  isLow: true,
  isIn: false,
  limitUnits: 71,
  least: null,
  instants: [72, 75],
  units: [73, 74],
};
const SEARCH: SearchMemory = {
  number: 62,
  present: 0.25,
  anchors: [63, "a", null],
  outlook: OUTLOOK,
  checkpoint: { instant: 64, aggregates: [SUM], isOut: true },
  margins: { decimals: 65, places: 66, blur: 1e-9, margins: [MARGIN], greatestDivisor: 67, isWhole: true },
};
const { margins: _, ...FORMER_SEARCH } = SEARCH;
const RUN: JourneyRun = {
  run: 2,
  status: "expired",
  currentStep: "s2",
  startedAt: 81,
  startedBy: at(4, 82),
  steps: {
    s2: { completedAt: 83, triggeredBy: "evt_1", by: at(5, 84) },
    s1: { completedAt: 85, triggeredBy: "t", by: null },
  },
  completedAt: null,
  expiredAt: 86,
  endedBy: at(6, 87),
};
const EVERYTHING: CustomerState = {
  customerId: "cus_1",
  createdAt: 7,
  firstEvaluatedAt: 11,
  evaluatedThrough: 12,
  lastEventAt: 13,
  lastTrack: { occurredAt: 14, acceptedAt: 15, seq: 16 },
  traits: { plan: "pro" },
  traitsChangedAt: 0,
  traitsChangedSeq: 17,
  traitsDueAt: [18, 20],
  traitsDueSeqs: [30, 19],
  lifecycle: { state: "new", enteredAt: 21, cause: at(7, 22) },
  journeys: { "10": RUN, "2": { ...RUN, startedBy: null, steps: {}, endedBy: null } },
  segments: { big: { enteredAt: 23 } },
  health: { overall: 88.5, components: { usage: 100 }, band: "good" },
  healthChangesAt: 24,
  rules: { r: { passedAt: 25 } },
  signals: { s: { raisedAt: 26, renewedAt: 27, severity: "critical", message: null } },
  memory: {
    model: "hash",
    awaitsEvaluation: true,
    streams: [
      { count: 3, occurredAt: [], seq: [] },
      { count: 4, occurredAt: [100, 130, 120], seq: [7, 9, 8] },
    ],
    aggregates: [
      SUM,
      { kind: "extreme", oldest: OLDEST, othersFrom: { ...at(8, 51), value: -5 }, scope: SUM.scope! },
      { kind: "distinct", value: ["a", 1], occurredAt: [52, 54], seq: [53, 56] },
      { kind: "latest", latest: { ...at(9, 55), value: { a: [1] } } },
      FIRST,
      {
        kind: "sequence",
        met: true,
        first: { occurredAt: [57], seq: [58], floor: at(10, 59) },
        then: null,
        since: null,
      },
    ],
    searches: [SEARCH, FORMER_SEARCH, { ...FORMER_SEARCH, margins: null }],
  },
  timerDueAt: 28,
  movesByTime: 6,
  nextDueAt: 29,
};

it("each member keeps its position forever: states are stored for years", () => {
  const sum = ["sum", ["12345678901234567890", 2], 31, 32, 33, [[1001, 34], [35, [1002, 36]]], [[[37, 3], [50, -5], [0.5, -1]], 38, [1003, 39]]]; // oxfmt-ignore
  const search = [62, 0.25, [63, "a", null], [61, [["first", 41]]], [64, [sum], true]];
  const margins = [65, 66, 1e-9, [[true, false, 71, null, [72, 3], [73, 74]]], 67, true];
  const run = (by: number[] | null, steps: object, ended: number[] | null) => [2, "expired", "s2", 81, by, steps, null, 86, ended]; // oxfmt-ignore
  expect(storedState(EVERYTHING)).toEqual({
    times: [11, 12, 13, 28, 29],
    memory: [
      "hash",
      true,
      [3, [4, [100, 30, -10], [7, 2, -1]]],
      [
        sum,
        ["extreme", [[37, 3], [50, -5], [0.5, -1]], [1008, 51, -5], [[1001, 34], [35, [1002, 36]]]], // oxfmt-ignore
        ["distinct", [52, 2], [53, 3], ["a", 1]],
        ["latest", [1009, 55, { a: [1] }]],
        ["first", 41],
        ["sequence", true, [[57], [58], [1010, 59]], null, null],
      ],
      [[...search, margins], search, [...search, null]],
    ],
    lastTrack: [14, 15, 16],
    traitsChangedAt: 0,
    traitsChangedSeq: 17,
    traitsDueAt: [18, 2],
    traitsDueSeqs: [30, -11],
    lifecycle: ["new", 21, [1007, 22]],
    journeys: {
      "10": run([1004, 82], { s2: [83, "evt_1", [1005, 84]], s1: [85, "t", null] }, [1006, 87]),
      "2": run(null, {}, null),
    },
    segments: { big: 23 },
    health: [88.5, { usage: 100 }, "good"],
    healthChangesAt: 24,
    rules: { r: 25 },
    signals: { s: [26, 27, "critical", null] },
    movesByTime: 6,
  });
  expect(storedAndRead(EVERYTHING)).toStrictEqual(EVERYTHING);
});

it("initial values are omitted, and values with a column are read from it", () => {
  const customer = newCustomer("cus_2", 5);
  expect(storedState(customer)).toEqual({ times: [null, null, null, null, null], memory: [null, false, [], []] });
  const columns = { customerId: "cus_2", createdAt: 5, traits: { plan: "free" } };
  expect(stateOf(storedState(customer), columns)).toStrictEqual({ ...customer, ...columns });
});

it("a state stored with all member names is read unchanged", () => {
  const { traits, ...former } = EVERYTHING;
  const columns = { customerId: "cus_1", createdAt: 7, traits };
  expect(stateOf(JSON.parse(JSON.stringify(former)) as StoredState, columns)).toEqual(EVERYTHING);
});
