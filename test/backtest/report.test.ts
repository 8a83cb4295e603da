import fc from "fast-check";
import { expect, it } from "vitest";
import { factsOfModel, makeReport } from "../../src/backtest/report.js";
import type { BacktestReport, FlagReport } from "../../src/backtest/report-types.js";
import {
  type CustomerSamples,
  type BacktestQuestion,
  type OutputChange,
  samplesOf,
} from "../../src/backtest/samples.js";
import type { ModelOutput } from "../../src/engine/index.js";
import { AucEstimator, Rate } from "../../src/backtest/statistics.js";
import { EMPTY_SNAPSHOT, type HealthComponent, type Snapshot } from "../../src/model/snapshot/types.js";
import { propertyRuns } from "../support/property-runs.js";

const DAY = 86_400_000;
const START = Date.UTC(2026, 0, 1);

/** Eight weekly instants, of which the last is too near the end. */
const QUESTION: BacktestQuestion = {
  outcome: { kind: "event", id: "cancelled" },
  within: 10 * DAY,
  every: 7 * DAY,
  from: START,
  to: START + 49 * DAY,
  end: START + 55 * DAY,
};
const OF_STATE: BacktestQuestion = { ...QUESTION, outcome: { kind: "state", id: "churned" } };

const component = (id: string, weight: number): HealthComponent => ({
  id,
  weight,
  absent: "skip",
  score: { kind: "scale", of: { kind: "count", of: { event: id } }, from: 0, to: 100 },
});
const SNAPSHOT: Snapshot = {
  ...EMPTY_SNAPSHOT,
  lifecycle: {
    initial: "active",
    states: [
      { name: "active", transitions: [] },
      { name: "churned", terminal: true, transitions: [] },
    ],
  },
  segments: [{ id: "large" }, { id: "new" }],
  signals: [{ id: "quiet", severity: "info" }],
  health: {
    components: [component("logins", 3), component("seats", 1)],
    bands: [
      { id: "good", from: 50 },
      { id: "poor", from: 0 },
    ],
  },
};
const FACTS = factsOfModel("v1", SNAPSHOT);
const WITHOUT_HEALTH = factsOfModel("local", { ...SNAPSHOT, health: null });

async function reported(question: BacktestQuestion, models: (typeof FACTS)[], customers: readonly CustomerSamples[]) {
  return makeReport(question, models, async function* () {
    for (const customer of customers) yield await Promise.resolve(customer);
  });
}

/** A customer under one model, with the given changes at some instants. */
function customer(outcomes: number[], ...changes: [index: number, said: Partial<ModelOutput>][]): CustomerSamples {
  const none = { state: null, segments: [], signals: [], health: null };
  return { customerId: "c", said: [changes.map(([index, said]) => [index, { ...none, ...said }])], outcomes };
}

const health = (overall: number, components: Record<string, number> = {}) => ({
  overall,
  components,
  band: overall < 50 ? "poor" : "good",
});
const flagOf = (flags: FlagReport[], id: string) => flags.find((flag) => flag.id === id)!;

const score = fc.oneof(
  fc.integer({ min: 0, max: 20 }).map((step) => step * 5),
  fc.integer({ min: 0, max: 10_000 }).map((cell) => cell / 100),
);
const said = fc
  .record({
    state: fc.constantFrom("active", "churned", null),
    segments: fc.subarray(["large", "new"]),
    signals: fc.subarray(["quiet"]),
    components: fc.option(fc.tuple(fc.option(score), fc.option(score))),
  })
  .map(({ components, ...rest }): ModelOutput => {
    const [logins, seats] = components ?? [null, null];
    const weights = (logins === null ? 0 : 3) + (seats === null ? 0 : 1);
    if (weights === 0) return { ...rest, health: null };
    const overall = Math.round(((3 * (logins ?? 0) + (seats ?? 0)) / weights) * 100) / 100;
    return {
      ...rest,
      health: health(overall, { ...(logins !== null && { logins }), ...(seats !== null && { seats }) }),
    };
  });
const saying = (first: number) =>
  fc
    .tuple(
      said,
      fc.uniqueArray(fc.tuple(fc.integer({ min: first + 1, max: 7 }), said), { selector: ([index]) => index }),
    )
    .map(([at, later]) => [[first, at] as [number, ModelOutput], ...later.toSorted(([a], [b]) => a - b)]);
const samples = fc
  .tuple(fc.integer({ min: 0, max: 6 }), fc.uniqueArray(fc.integer({ min: 0, max: 55 }), { maxLength: 3 }))
  .chain(([first, days]) =>
    fc.record({
      customerId: fc.string(),
      said: fc.oneof(fc.tuple(saying(first), saying(first)), fc.constant<OutputChange[][]>([[], []])),
      outcomes: fc.constant(days.toSorted((a, b) => a - b).map((day) => START + day * DAY + 1)),
    }),
  );
const populations = fc.array(samples, { maxLength: 14 });

/** All used samples of one of two models, each with the result at the instant before. */
function usedSamples(question: BacktestQuestion, customers: readonly CustomerSamples[], model: number) {
  return customers.flatMap((of) => {
    const all = [...samplesOf(question, of)];
    return all
      .map(({ at, said, status, outcomeAt }, n) => ({
        of,
        at,
        status,
        outcomeAt,
        said: said[model]!,
        before: all[n - 1]?.said[model],
      }))
      .filter(({ status }) => status === "used");
  });
}
type Used = ReturnType<typeof usedSamples>[number];

const WEEKS = 7;
const ratio = (part: number, total: number) => (total === 0 ? null : part / total);

it("counts the samples for each flag, threshold and bin of two models", async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(QUESTION, OF_STATE), populations, async (question, customers) => {
      const found = await reported(question, [FACTS, FACTS], customers);
      const all = customers.flatMap((of) => [...samplesOf(question, of)]);
      expect(found.samples.alreadyThere).toBe(all.filter(({ status }) => status === "there").length);
      expect(found.samples.censored).toBe(all.filter(({ status }) => status === "censored").length);
      const weeks = new Set(all.flatMap(({ index }) => (index < WEEKS ? index : []))).size;
      expect(found.instants).toEqual({ used: weeks, empty: WEEKS - weeks, censored: 1 });
      const perWeek = (alarms: number) => (weeks === 0 ? 0 : alarms / weeks);
      for (const [n, model] of found.models.entries()) {
        const used = usedSamples(question, customers, n);
        const hits = used.filter(({ outcomeAt }) => outcomeAt !== null);
        expect(found.samples).toMatchObject({ used: used.length, withOutcome: hits.length });
        expect(found.customers).toEqual({
          looked: new Set(used.map(({ of }) => of)).size,
          withOutcome: new Set(hits.map(({ of }) => of)).size,
        });
        expect(found.baseRate?.value ?? null).toBe(ratio(hits.length, used.length));

        const expectFlag = (flag: FlagReport, isFlagged: (said: ModelOutput) => boolean) => {
          const flagged = used.filter((sample) => isFlagged(sample.said));
          const right = flagged.filter(({ outcomeAt }) => outcomeAt !== null);
          const leads = right.map(({ outcomeAt, at }) => (outcomeAt! - at) / DAY).toSorted((a, b) => a - b);
          const begins = (sample: Used) => sample.outcomeAt === null && !(sample.before && isFlagged(sample.before));
          expect(flag).toMatchObject({
            flagged: flagged.length,
            customers: new Set(flagged.map(({ of }) => of)).size,
            recall: ratio(right.length, hits.length),
            caught: new Set(right.map(({ of }) => of)).size,
            falseAlarmsPerWeek: perWeek(flagged.filter(begins).length),
          });
          expect(flag.precision?.value ?? null).toBe(ratio(right.length, flagged.length));
          const median = (leads[Math.ceil(leads.length / 2) - 1]! + leads[Math.floor(leads.length / 2)]!) / 2;
          if (leads.length === 0) expect(flag.medianLeadDays).toBeNull();
          else expect(Math.abs(flag.medianLeadDays! - median)).toBeLessThan(0.01 + 1e-9);
        };
        for (const flag of model.states) expectFlag(flag, ({ state }) => state === flag.id);
        for (const flag of model.bands) expectFlag(flag, (of) => of.health?.band === flag.id);
        for (const flag of model.segments) expectFlag(flag, ({ segments }) => segments.includes(flag.id));
        for (const flag of model.signals) expectFlag(flag, ({ signals }) => signals.includes(flag.id));

        const { thresholds, calibration, direction, ...scored } = model.health!;
        const known = used.filter((sample) => sample.said.health !== null);
        const scoreOf = (sample: Used) => sample.said.health!.overall;
        expect(scored.samples).toBe(known.length);
        expect(thresholds).toHaveLength(known.length === 0 ? 0 : 21);
        for (const threshold of thresholds) {
          const isFlagged = ({ health }: ModelOutput) =>
            health !== null &&
            (direction === "lower" ? health.overall <= threshold.score : health.overall >= threshold.score);
          const flagged = known.filter((sample) => isFlagged(sample.said));
          const right = flagged.filter(({ outcomeAt }) => outcomeAt !== null);
          const alarms = flagged.filter(
            ({ outcomeAt, before }) => outcomeAt === null && !(before !== undefined && isFlagged(before)),
          );
          expect(threshold).toEqual({
            score: threshold.score,
            flagged: flagged.length / known.length,
            precision: ratio(right.length, flagged.length),
            recall: ratio(right.length, known.filter(({ outcomeAt }) => outcomeAt !== null).length),
            falseAlarmsPerWeek: perWeek(alarms.length),
          });
        }
        expect(calibration.length).toBeLessThanOrEqual(10);
        expect(calibration.reduce((sum, bin) => sum + bin.samples, 0)).toBe(known.length);
        for (const bin of calibration) {
          const inside = known.filter((sample) => bin.from <= scoreOf(sample) && scoreOf(sample) <= bin.to);
          expect(bin.samples).toBe(inside.length);
          expect(bin.rate.value).toBe(
            ratio(inside.filter(({ outcomeAt }) => outcomeAt !== null).length, inside.length),
          );
        }
      }
    }),
    { numRuns: propertyRuns(40) },
  );
});

/** The share of pairs in which the sample with the outcome has a lower score than the one without; null without pairs. */
function lowerOf(scored: { score: number; outcome: boolean }[]): number | null {
  const [withs, withouts] = [true, false].map((side) => scored.filter(({ outcome }) => outcome === side));
  const pairs = withs!.flatMap((a) =>
    withouts!.map((b) => (a.score < b.score ? 1 : a.score === b.score ? 0.5 : 0) as number),
  );
  return ratio(
    pairs.reduce((sum, pair) => sum + pair, 0),
    pairs.length,
  );
}

it("compares scores over the samples that have both: a component alone, the score without it, two models", async () => {
  const expectValue = (estimate: { value: number } | null, value: number | null) => {
    if (value === null) expect(estimate).toBeNull();
    else expect(estimate!.value).toBeCloseTo(value, 9);
  };
  await fc.assert(
    fc.asyncProperty(populations, async (customers) => {
      const found = await reported(QUESTION, [FACTS, FACTS], customers);
      const used = [0, 1].map((n) => usedSamples(QUESTION, customers, n));
      const auc = (model: number, scores: (number | undefined)[]) => {
        const lower = lowerOf(
          used[model]!.flatMap(({ outcomeAt }, n) =>
            scores[n] === undefined ? [] : [{ score: scores[n], outcome: outcomeAt !== null }],
          ),
        );
        return lower !== null && found.models[model]!.health!.direction === "higher" ? 1 - lower : lower;
      };
      const less = (a: number | null, b: number | null) => (a === null || b === null ? null : a - b);
      for (const [n, { health: judged }] of found.models.entries()) {
        const overall = used[n]!.map(({ said: { health: of } }) => of?.overall);
        expectValue(judged!.auc, auc(n, overall));
        expect(judged!.auc?.value ?? 1).toBeGreaterThanOrEqual(0.5);
        for (const [c, other] of ["seats", "logins"].entries()) {
          // With two components, the score without one is the other.
          const { alone, without, gain } = judged!.components[c]!;
          const scoresOf = (id: string) => used[n]!.map(({ said: { health: of } }) => of?.components[id]);
          expectValue(alone, auc(n, scoresOf(judged!.components[c]!.id)));
          expectValue(without, auc(n, scoresOf(other)));
          const both = overall.map((of, at) => (scoresOf(other)[at] === undefined ? undefined : of));
          expectValue(gain, less(auc(n, both), auc(n, scoresOf(other))));
        }
      }
      const [one, other] = used.map((all) => all.map(({ said: { health: of } }) => of?.overall));
      const known = (scores: typeof one, beside: typeof one) =>
        scores!.map((of, at) => (beside![at] === undefined ? undefined : of));
      expectValue(found.difference, less(auc(0, known(one, other)), auc(1, known(other, one))));
    }),
    { numRuns: propertyRuns(40) },
  );
});

it("computes intervals by customer, and reads each model's score in its own direction", async () => {
  const customers = Array.from({ length: 60 }, (_, n): CustomerSamples => {
    const says = (overall: number): ModelOutput => ({
      state: n % 3 === 0 ? null : "active",
      segments: [],
      signals: [],
      health: health(overall),
    });
    const sayings = (shift: number, sign: number): OutputChange[] => [
      [n % 5, says(50 + sign * ((n % 2) * 20 + (n % 7) * shift - 25))],
      [5, says(50 + sign * (((n * 11) % 40) - 25))],
    ];
    return {
      customerId: `c${n}`,
      said: [sayings(3, 1), sayings(4, -1)],
      outcomes: n % 2 === 0 ? [START + (20 + (n % 9)) * DAY] : [],
    };
  });
  const { models, difference } = await reported(QUESTION, [FACTS, FACTS], customers);
  expect(models.map((model) => model.health!.direction)).toEqual(["lower", "higher"]);

  const used = customers.map((of) => [...samplesOf(QUESTION, of)].filter(({ status }) => status === "used"));
  const cellsOf = ({ said }: (typeof used)[number][number]) => said.map((of) => Math.round(of.health!.overall * 100));
  const area = (column: number, other: number | null, ...directions: ["lower" | "higher", "higher"?]) => {
    const estimator = new AucEstimator(column, other);
    for (const sample of used.flat()) estimator.count(cellsOf(sample), sample.outcomeAt !== null);
    estimator.place(...directions);
    for (const samples of used) {
      for (const sample of samples) estimator.add(cellsOf(sample), sample.outcomeAt !== null);
      estimator.endCustomer();
    }
    return estimator.estimate();
  };
  const rate = (isIn: (sample: (typeof used)[number][number]) => boolean) => {
    const estimator = new Rate();
    for (const samples of used) {
      for (const sample of samples) if (isIn(sample)) estimator.add(sample.outcomeAt !== null);
      estimator.endCustomer();
    }
    return estimator.estimate();
  };
  const [one, other] = models;
  expect(one!.health!.auc).toEqual(area(0, null, "lower"));
  expect(other!.health!.auc).toEqual(area(1, null, "higher"));
  expect(difference).toEqual(area(0, 1, "lower", "higher"));
  expect(difference!.low).not.toBeNull();
  const active = flagOf(one!.states, "active").precision!;
  expect(active).toEqual(rate(({ said }) => said[0]!.state === "active"));
  expect(active.low).not.toBeNull();
  for (const bin of one!.health!.calibration) {
    const isIn = ([cell]: number[]) => bin.from * 100 <= cell! && cell! <= bin.to * 100;
    expect(bin.rate).toEqual(rate((sample) => isIn(cellsOf(sample))));
  }
});

it("scores without a component by the weighted mean of the other known ones, to two decimals", async () => {
  const three = factsOfModel("v1", {
    ...SNAPSHOT,
    health: { ...SNAPSHOT.health!, components: [component("a", 1), component("b", 2), component("c", 1)] },
  });
  // Without `a` the first customer scores (2 · 30.5 + 1) / 3, which rounds to 20.67 like the second; without it and `c`, 30.5.
  const found = await reported(
    QUESTION,
    [three],
    [
      customer([START + DAY], [0, { health: health(40, { a: 90, b: 30.5, c: 1 }) }], [1, {}]),
      customer([], [0, { health: health(40, { a: 90, b: 20.67 }) }]),
    ],
  );
  const [a, , c] = found.models[0]!.health!.components;
  expect(a!.without!.value).toBe(0.5);
  expect(c!.alone).toBeNull();
});

it("lists the ids of a model in the model's order", () => {
  expect(FACTS).toEqual({
    name: "v1",
    states: ["active", "churned"],
    segments: ["large", "new"],
    signals: ["quiet"],
    health: {
      bands: ["good", "poor"],
      components: [
        { id: "logins", weight: 3 },
        { id: "seats", weight: 1 },
      ],
    },
    terminal: ["churned"],
    readsTraits: false,
  });
  expect(factsOfModel("local", EMPTY_SNAPSHOT)).toEqual({
    name: "local",
    states: [],
    segments: [],
    signals: [],
    health: null,
    terminal: [],
    readsTraits: false,
  });
});

it("states the question in words, and uses null for unknown values", async () => {
  const found = await reported({ ...QUESTION, within: 36 * 3_600_000 }, [FACTS], []);
  expect(found).toMatchObject({
    outcome: "event:cancelled",
    within: "36h",
    every: "7d",
    from: "2026-01-01T00:00:00.000Z",
    to: "2026-02-19T00:00:00.000Z",
    end: "2026-02-25T00:00:00.000Z",
    baseRate: null,
    difference: null,
  } satisfies Partial<BacktestReport>);
  expect(found.models[0]!.health).toMatchObject({ samples: 0, auc: null, calibration: [], thresholds: [] });
  expect(flagOf(found.models[0]!.states, "active")).toEqual({
    id: "active",
    flagged: 0,
    customers: 0,
    caught: 0,
    precision: null,
    recall: null,
    lift: null,
    medianLeadDays: null,
    falseAlarmsPerWeek: 0,
  });
  const tooLate = await reported({ ...QUESTION, end: START }, [FACTS], [customer([], [0, { state: "active" }])]);
  expect(tooLate).toMatchObject({ instants: { used: 0, empty: 0, censored: 8 }, samples: { used: 0, censored: 8 } });
  expect(flagOf(tooLate.models[0]!.states, "active").falseAlarmsPerWeek).toBe(0);
});

it("computes the lift, the lead time and the false alarms of a flag that is raised and cleared", async () => {
  const day = 30;
  const found = await reported(
    QUESTION,
    [FACTS],
    [
      // Flagged at the instants of day 21 and 28, 9 and 2 days ahead; not flagged again before the end.
      customer([START + day * DAY], [0, {}], [3, { signals: ["quiet"] }], [5, {}]),
      customer([], [0, {}], [3, { signals: ["quiet"] }], [5, {}]),
    ],
  );
  const quiet = flagOf(found.models[0]!.signals, "quiet");
  expect(found.baseRate!.value).toBe(2 / 14);
  expect(quiet).toMatchObject({ flagged: 4, customers: 2, recall: 1, medianLeadDays: 5.5, falseAlarmsPerWeek: 1 / 7 });
  expect(quiet.precision).toEqual({ value: 0.5, low: null, high: null });
  expect(quiet.lift).toBeCloseTo(0.5 / (2 / 14), 12);
});

it.each([
  [90, 29, 29],
  [90, 29.26, 29.3],
  [365, 29, 29],
  [365, 29.4, 29],
])("of %d days, a median lead time of %d days is reported as %d", async (withinDays, lead, expected) => {
  const outcome = START + lead * DAY;
  const question = { ...QUESTION, within: withinDays * DAY, every: 500 * DAY, to: START, end: START + 400 * DAY };
  const found = await reported(question, [FACTS], [customer([outcome], [0, { signals: ["quiet"] }])]);
  expect(flagOf(found.models[0]!.signals, "quiet").medianLeadDays).toBe(expected);
});

it("notes the caveats of the figures", async () => {
  const notes = async (question: BacktestQuestion, models: (typeof FACTS)[], customers: CustomerSamples[]) =>
    (await reported(question, models, customers)).notes;
  const withEnd = { ...QUESTION, end: START + 100 * DAY };
  const many = (count: number, of: (n: number) => CustomerSamples) => Array.from({ length: count }, (_, n) => of(n));
  /** Every second customer has the outcome, after two samples. */
  const churning = (scoreOf: (n: number) => Partial<ModelOutput>) => (n: number) =>
    customer(n % 2 === 0 ? [START + 9 * DAY] : [], [0, scoreOf(n)]);

  expect(await notes(QUESTION, [FACTS], [])).toEqual([
    "There is no sample, so there are no figures.",
    "Of 8 instants, the last one is left out, with 0 samples: less than 10d after them is known, so it is unknown whether the outcome came in time.",
  ]);
  expect(await notes(withEnd, [FACTS], [customer([], [0, {}])])).toEqual([
    "The outcome came after no sample, so nothing can be said about what predicts it.",
  ]);
  expect(
    await notes(
      withEnd,
      [FACTS],
      many(
        6,
        churning(() => ({})),
      ),
    ),
  ).toEqual([
    "Only 3 customers had the outcome. A figure of fewer than 10 customers with it, or fewer than 10 without it, has no interval, " +
      "because it may well be chance.",
    "The 6 samples with the outcome are of 3 customers. Samples of one customer are alike, so they say less than as many customers " +
      "would; the intervals allow for it.",
  ]);
  // With enough customers there is nothing to note if the score predicts the outcome, and the model does not decide it.
  const telling = many(
    200,
    churning((n) => ({ health: health((n % 2) * 30 + (n % 40)) })),
  );
  expect(await notes(withEnd, [FACTS], telling)).toEqual([]);
  const chance = many(
    200,
    churning((n) => ({ health: health(Math.floor(n / 2) % 40) })),
  );
  expect(
    await notes(
      { ...withEnd, outcome: { kind: "segment", id: "new" } },
      [FACTS, WITHOUT_HEALTH],
      withSecondModel(chance, () => null),
    ),
  ).toEqual([
    "The outcome is decided by the model itself (v1), so parts of a model that read the same events predict it by definition.",
    expect.stringMatching(
      /^The health score of v1 cannot be told apart from chance: the interval of its AUC \(0\.4\d to 0\.5\d\) contains 0\.5\. /,
    ),
    "local has no health score, so there is none to judge.",
  ]);
  const left = [customer([], [0, { state: "active" }], [3, { state: "churned" }])];
  expect(await notes(withEnd, [{ ...FACTS, readsTraits: true }], left)).toEqual([
    "The outcome came after no sample, so nothing can be said about what predicts it.",
    "5 samples are of customers in the terminal state churned, who may have left for good: they count as samples without the outcome. " +
      "The outcome state:churned leaves them out.",
    expect.stringMatching(/^Traits are read\. .* they may be missing at most instants\.$/),
  ]);
  const alike = withSecondModel(telling, (n) => health((n % 2) * 30 + ((n * 7) % 41)));
  expect(await notes(withEnd, [FACTS, FACTS], alike)).toEqual([
    expect.stringMatching(
      /^It is not known which of the two health scores predicts the outcome better: .* \(-0\.\d+ to 0\.\d+\) contains 0\.$/,
    ),
  ]);
});

/** The samples with a second model, which has another score. */
function withSecondModel(
  customers: CustomerSamples[],
  scoreOf: (n: number) => ModelOutput["health"],
): CustomerSamples[] {
  return customers.map((of, n) => {
    const [[index, said]] = of.said[0] as [OutputChange];
    return { ...of, said: [...of.said, [[index, { ...said, health: scoreOf(n) }]]] };
  });
}
