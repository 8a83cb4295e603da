import { expect, it } from "vitest";
import { factsOfModel, makeReport } from "../../src/backtest/report.js";
import { CustomerSampler, operationsInOrder } from "../../src/backtest/sampler.js";
import type { CustomerSamples, BacktestQuestion } from "../../src/backtest/samples.js";
import type { TrackedEvent } from "../../src/engine/index.js";
import { compile, counted, happened, healthOf, snapshotOf } from "../engine/support/builders.js";

const DAY = 86_400_000;
const WEEK = 7 * DAY;
const START = Date.parse("2026-01-05T00:00:00Z");
const WEEKS = 40;
const CUSTOMERS = 400;

/** Numbers in [0, 1), the same in each run. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

const model = snapshotOf({
  states: { active: [["churned", happened("cancelled")]], churned: "terminal" },
  health: healthOf(
    { usage: counted("login", 10, { within: "14d" }), support: counted("ticket", 6, { within: "14d" }) },
    { good: 50, poor: 0 },
  ),
});

/** A customer who soon cancels after its logins fall off, if they ever do; tickets are unrelated noise. */
function history(next: () => number): TrackedEvent[] {
  const events: TrackedEvent[] = [];
  const add = (event: string, at: number) =>
    events.push({ seq: events.length + 1, eventId: `e${events.length}`, event, properties: {}, occurredAt: at });
  const fallsOffIn = next() < 0.5 ? Math.floor(next() * WEEKS) : Infinity;
  const times = (most: number) => Math.floor(next() * (most + 1));
  for (let week = 0, idle = 0; week < WEEKS; week++) {
    const begin = START + week * WEEK;
    const logins = week < fallsOffIn ? 2 + times(6) : times(1);
    for (let n = 0; n < logins; n++) add("login", begin + next() * WEEK);
    for (let n = times(3); n > 0; n--) add("ticket", begin + next() * WEEK);
    idle = logins < 2 ? idle + 1 : 0;
    if (next() < (idle > 1 ? 0.2 : 0.005)) {
      add("cancelled", begin + WEEK - 1);
      break;
    }
  }
  return events.map((event) => ({ ...event, occurredAt: Math.floor(event.occurredAt) }));
}

const question: BacktestQuestion = {
  outcome: { kind: "state", id: "churned" },
  within: 28 * DAY,
  every: WEEK,
  from: START + 2 * WEEK,
  to: START + WEEKS * WEEK,
  end: START + WEEKS * WEEK,
};

function sampled(): CustomerSamples[] {
  const next = random(7);
  return Array.from({ length: CUSTOMERS }, (_, n) => {
    const operations = operationsInOrder(history(next), []);
    for (;;) {
      const customer = { customerId: `c${n}`, createdAt: START, traits: {} };
      const sampler = new CustomerSampler(question, [compile(model)], customer);
      // A busy machine may need another attempt.
      if (sampler.sampleAll(operations)) return sampler.samples;
    }
  });
}

async function reportOf(customers: readonly CustomerSamples[], asked = question) {
  const { models, ...rest } = await makeReport(asked, [factsOfModel("local", model)], async function* () {
    for (const customer of customers) yield await Promise.resolve(customer);
  });
  const [usage, support] = models[0]!.health!.components;
  return { ...rest, health: models[0]!.health!, usage: usage!, support: support! };
}

it("a planted cause is found, and an unrelated component is not", async () => {
  const customers = sampled();
  const { baseRate, health, usage, support } = await reportOf(customers);
  expect(baseRate!.value).toBeGreaterThan(0.02);
  expect(health.direction).toBe("lower");
  expect(usage.alone!.low).toBeGreaterThan(0.7);
  expect(usage.gain!.low).toBeGreaterThan(0.1);
  // There is no evidence that it improves the score's prediction.
  expect(support.alone!.low).toBeLessThan(0.5);
  expect(support.alone!.high).toBeGreaterThan(0.5);
  expect(support.gain!.low).toBeLessThan(0);
  const [lowest, highest] = [health.calibration[0]!, health.calibration.at(-1)!];
  expect(lowest.rate.value).toBeGreaterThan(5 * highest.rate.value);
});

it("outcomes reassigned to random customers are predicted no better than by chance", async () => {
  // An event, so that no customer is excluded because of another one's outcome.
  const asked: BacktestQuestion = { ...question, outcome: { kind: "event", id: "cancelled" } };
  const customers = sampled();
  const next = random(11);
  const reassigned = customers.map(({ outcomes }) => outcomes).sort(() => next() - 0.5);
  const shuffled = customers.map((customer, n) => ({ ...customer, outcomes: reassigned[n]! }));
  const { health, usage, support, notes } = await reportOf(shuffled, asked);
  for (const auc of [health.auc, usage.alone, support.alone]) {
    expect(auc!.low).toBeLessThan(0.5);
    expect(auc!.high).toBeGreaterThan(0.5);
  }
  expect(notes.join("\n")).toMatch(/chance/);
});
