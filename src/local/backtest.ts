import { createHash } from "node:crypto";
import { type QuestionInput, readQuestion, type TraitsAsOf } from "../backtest/question.js";
import { factsOfModel, makeReport } from "../backtest/report.js";
import type { BacktestReport } from "../backtest/report-types.js";
import { CustomerSampler, operationsInOrder } from "../backtest/sampler.js";
import type { CustomerSamples, BacktestQuestion } from "../backtest/samples.js";
import { compileModel, type Json, type Model, type Operation } from "../engine/index.js";
import { PastEvents } from "../evaluation/past-events.js";
import { EventHistory } from "./customer.js";
import type { LocalModel } from "./engine.js";
import { type AcceptedBatch, byCustomer } from "./population.js";

/** The most customers that are sampled, so that memory is bounded. */
const CUSTOMERS_MAX = 100_000;

export interface LocalBacktest {
  question: BacktestQuestion;
  samples: CustomerSamples[];
  /** The number of all customers, of which only some may have been sampled. */
  customersTotal: number;
  report: BacktestReport;
}

/** Operations in memory, and the end of the known history. */
interface Past {
  operations: AcceptedBatch["operations"];
  end: number;
}

/**
 * Runs a backtest over operations in memory.
 *
 * @param models the judged model, and the one it is compared with, if any, with their names in the report
 * @param customers how many to sample; all by default. The same customers are chooseCustomers each time
 * @throws {QuestionProblem}
 */
export async function backtestOfFile(
  words: QuestionInput,
  models: readonly (LocalModel & { name: string })[],
  { operations, end }: Past,
  { traits, customers = CUSTOMERS_MAX }: { traits: TraitsAsOf; customers?: number | undefined },
): Promise<LocalBacktest> {
  const question = readQuestion(words, end, models[0]!.snapshot);
  const compiled = models.map(({ snapshot, hash }) => compileModel(snapshot, hash));
  const all = byCustomer(operations);
  const samples: CustomerSamples[] = [];
  for (const customerId of chooseCustomers([...all.keys()], Math.min(customers, CUSTOMERS_MAX))) {
    samples.push(await sampleCustomer(question, compiled, customerId, all.get(customerId)!, traits));
  }
  const facts = models.map(({ name, snapshot }) => factsOfModel(name, snapshot));
  return {
    question,
    samples,
    customersTotal: all.size,
    report: await makeReport(question, facts, () => samples),
  };
}

function chooseCustomers(customerIds: string[], count: number): string[] {
  if (customerIds.length <= count) return customerIds;
  const byHash = customerIds.map((id) => [createHash("sha256").update(id).digest("hex"), id] as const);
  return byHash
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, count)
    .map(([, id]) => id);
}

async function sampleCustomer(
  question: BacktestQuestion,
  models: readonly Model[],
  customerId: string,
  operations: readonly Operation[],
  traits: TraitsAsOf,
): Promise<CustomerSamples> {
  const events = operations.filter((operation) => operation.kind === "track");
  const identifies = operations.filter((operation) => operation.kind === "identify");
  const ordered = operationsInOrder(events, identifies);
  const isNow = traits === "now";
  const sampler = new CustomerSampler(question, models, {
    customerId,
    createdAt: ordered[0]!.acceptedAt,
    traits: isNow ? merged(identifies) : {},
  });
  // Needed only if a customer exceeds the budget of one step.
  let history: EventHistory | undefined;
  const past = models.map(
    () => new PastEvents((request) => Promise.resolve((history ??= historyOf(events)).source(request))),
  );
  await sampler.samplePart(isNow ? operationsInOrder(events, []) : ordered, true, past);
  return sampler.samples;
}

function historyOf(events: readonly Extract<Operation, { kind: "track" }>[]): EventHistory {
  const history = new EventHistory();
  for (const event of events) history.add(event);
  return history;
}

/** The traits that identifies lead to: merged by key, null removes one. */
function merged(identifies: readonly Extract<Operation, { kind: "identify" }>[]): Record<string, Json> {
  const traits = new Map<string, Json>();
  for (const [name, value] of identifies.flatMap((identify) => Object.entries(identify.traits))) {
    if (value === null) traits.delete(name);
    else traits.set(name, value);
  }
  return Object.fromEntries(traits);
}
