import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CustomerSampler, operationsInOrder } from "../../src/backtest/sampler.js";
import {
  type CustomerSamples,
  instantsOf,
  type Outcome,
  type BacktestQuestion,
  samplesOf,
} from "../../src/backtest/samples.js";
import type { Operation, ModelOutput } from "../../src/engine/index.js";
import type { Snapshot } from "../../src/model/snapshot/types.js";
import { STATES } from "../engine/support/arbitrary-conditions.js";
import { FINAL_INSTANT, operations, snapshot, START } from "../engine/support/arbitrary.js";
import { compile, snapshotOf, trait } from "../engine/support/builders.js";
import { Reference } from "../engine/support/reference/reference.js";
import { pastEvents, timeout } from "../engine/support/runner.js";
import { propertyRuns } from "../support/property-runs.js";

const RUNS = propertyRuns(60);
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const CUSTOMER = { customerId: "c1", createdAt: START, traits: {} };

const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  fc.constantFrom(...STATES).map((id) => ({ kind: "state", id }) as const),
  fc.constantFrom("a", "b").map((id) => ({ kind: "event", id }) as const),
  fc.constantFrom("g0", "g1").map((id) => ({ kind: "segment", id }) as const),
);
const question: fc.Arbitrary<BacktestQuestion> = fc
  .record({
    outcome,
    within: fc.constantFrom(6 * HOUR, DAY, 3 * DAY),
    every: fc.constantFrom(6 * HOUR, 12 * HOUR, DAY),
    offset: fc.constantFrom(-DAY, 0, HOUR),
  })
  .map(({ offset, ...rest }) => ({ ...rest, from: START + offset, to: FINAL_INSTANT - DAY, end: FINAL_INSTANT }));

/** The operations in the order of a backtest. */
function onTime(sequence: readonly Operation[]): Operation[] {
  return operationsInOrder(
    sequence.filter(({ kind }) => kind === "track") as Extract<Operation, { kind: "track" }>[],
    sequence.filter((operation) => operation.kind === "identify"),
  );
}

/** The samples of operations sampled in one pass, which the sampler may abort on a busy machine. */
function sampled(
  asked: BacktestQuestion,
  given: Snapshot | readonly Snapshot[],
  taken: readonly Operation[],
): CustomerSamples {
  const models = [given].flat().map(compile);
  for (;;) {
    const sampler = new CustomerSampler(asked, models, CUSTOMER);
    if (sampler.sampleAll(taken)) return sampler.samples;
  }
}

/** The reference after all operations up to an instant, with timers fired continuously. */
function readUntil(given: Snapshot, taken: readonly Operation[], at: number): Reference {
  const reference = new Reference("c1", given);
  for (const operation of taken.filter(({ acceptedAt }) => acceptedAt <= at)) {
    reference.catchUp(operation.acceptedAt - 1);
    reference.take(operation);
  }
  reference.catchUp(at);
  return reference;
}

/** The reference's state at that instant; null before the first operation. */
function read(given: Snapshot, taken: readonly Operation[], at: number): ModelOutput | null {
  const { customer } = readUntil(given, taken, at);
  if (customer.clock === null) return null;
  return {
    state: customer.lifecycle?.state ?? null,
    segments: [...customer.segments.keys()].sort(),
    signals: [...customer.signals.keys()].sort(),
    health: customer.health,
  };
}

describe("the samples of a customer", () => {
  it("match a plain reading of the operations so far, at any instant, whatever comes later", { timeout }, () => {
    let changes = 0;
    fc.assert(
      fc.property(snapshot, operations, question, fc.nat({ max: 4 }), (given, sequence, asked, first) => {
        const taken = onTime(sequence);
        const { said } = sampled(asked, given, taken);
        changes += said[0]!.length;
        instantsOf(asked).forEach((at, index) => {
          if (index % 5 !== first) return;
          const present = said[0]!.findLast(([from]) => from <= index)?.[1] ?? null;
          expect(present).toEqual(read(given, taken, at));
        });
      }),
      { numRuns: RUNS },
    );
    expect(changes).toBeGreaterThan(2 * RUNS);
  });

  it("use traits from their acceptance on, also before the first event", () => {
    const traits = (seq: number, plan: string) =>
      ({ kind: "identify", seq, traits: { plan }, acceptedAt: START + seq * HOUR }) as const;
    const given = snapshotOf({ states: { s0: [["s1", trait("plan", "eq", "pro")]], s1: [] } });
    const times = { within: DAY, every: DAY, from: START, to: START + DAY, end: START + 3 * DAY };
    const asked: BacktestQuestion = { outcome: { kind: "state", id: "s1" }, ...times };
    const { outcomes } = sampled(asked, given, [traits(1, "free"), traits(5, "pro")]);
    expect(outcomes).toEqual([START + 5 * HOUR]);
  });

  it("are the same however a long history is split into parts", { timeout }, async () => {
    let parted = 0;
    const sizes = fc.integer({ min: 1, max: 4 });
    await fc.assert(
      fc.asyncProperty(snapshot, snapshot, operations, question, sizes, async (a, b, sequence, asked, size) => {
        const taken = onTime(sequence);
        const models = [compile(a), compile(b)];
        const inParts = new CustomerSampler(asked, models, CUSTOMER);
        const events = taken.filter((operation) => operation.kind === "track");
        const past = models.map(() => pastEvents(events));
        for (let from = 0; from < taken.length; from += size) {
          const isLast = from + size >= taken.length;
          if (!isLast) parted++;
          await inParts.samplePart(taken.slice(from, from + size), isLast, past);
        }
        expect(inParts.samples).toEqual(sampled(asked, [a, b], taken));
      }),
      { numRuns: RUNS },
    );
    expect(parted).toBeGreaterThan(RUNS);
  });

  it("record whether the outcome came within the horizon, by the full history", { timeout }, () => {
    const statuses = { used: 0, there: 0, censored: 0 };
    let came = 0;
    fc.assert(
      fc.property(snapshot, operations, question, (given, sequence, asked) => {
        const taken = onTime(sequence);
        const reference = readUntil(given, taken, FINAL_INSTANT);
        const { kind, id } = asked.outcome;
        const happened =
          kind === "event"
            ? taken.flatMap((one) => (one.kind === "track" && one.event === id ? one.occurredAt : []))
            : reference.customer.effects.flatMap((effect) =>
                (effect.kind === "transition" && kind === "state" && effect.to === id) ||
                (effect.kind === "segmentEntered" && kind === "segment" && effect.segment === id)
                  ? effect.at
                  : [],
              );
        for (const { at, status, outcomeAt, said } of samplesOf(asked, sampled(asked, given, taken))) {
          statuses[status]++;
          const isThere =
            kind === "state" ? said[0]!.state === id : kind === "segment" && said[0]!.segments.includes(id);
          expect(status).toBe(isThere ? "there" : at + asked.within > asked.end ? "censored" : "used");
          const within = happened.filter((instant) => instant > at && instant <= at + asked.within);
          expect(outcomeAt).toBe(within.length === 0 ? null : Math.min(...within));
          if (status === "used" && outcomeAt !== null) came++;
        }
      }),
      { numRuns: RUNS },
    );
    for (const count of [...Object.values(statuses), came]) expect(count).toBeGreaterThan(RUNS / 10);
  });
});
