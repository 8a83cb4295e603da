import type { Sql, TransactionSql } from "postgres";
import { readQuestion } from "../../backtest/question.js";
import type { BacktestReport } from "../../backtest/report-types.js";
import { factsOfModel, makeReport } from "../../backtest/report.js";
import { CustomerSampler, operationsInOrder } from "../../backtest/sampler.js";
import type { CustomerSamples, BacktestQuestion } from "../../backtest/samples.js";
import { call } from "../../db/api/call.js";
import { type BacktestCustomer, noCounts, readBacktestChunk, type RecomputeJob } from "../../db/api/recompute.js";
import { onSnapshot } from "../../db/transaction.js";
import type { IdentifyOperation, Model } from "../../engine/index.js";
import type { Models } from "../../evaluation/models.js";
import { eventsOf, eventParts } from "../../evaluation/replayed-events.js";
import { hashSnapshot } from "../../model/snapshot/canonical.js";
import type { Snapshot } from "../../model/snapshot/types.js";
import { parseSnapshot } from "../../model/validate/validate.js";
import { inChunks, limitsFor } from "./chunks.js";
import { customerFailure } from "./job-customers.js";
import { openPastEvents } from "./long-customer.js";
import { type RecordedCustomer, recordCustomers, type ResultSink } from "./sinks.js";

/** How many customers' samples are read at once for the report. */
const PAGE_CUSTOMERS = 25;

/** A model that a backtest evaluates. */
interface JudgedModel {
  /** Its name in the report. */
  name: string;
  snapshot: Snapshot;
  model: Model;
}

/** Runs a backtest: first each customer's samples are recorded, then the report is made from the records. */
export class Backtest implements ResultSink<BacktestCustomer, RecordedCustomer> {
  readonly #models: readonly Model[];
  readonly #limits: ReturnType<typeof limitsFor>;

  /** @param touch renews the lease of the job during a long history and while the report is made */
  constructor(
    private readonly connections: { session: Sql; sql: Sql },
    private readonly job: RecomputeJob,
    private readonly question: BacktestQuestion,
    private readonly judged: readonly JudgedModel[],
    private readonly touch: () => Promise<void>,
  ) {
    this.#models = judged.map(({ model }) => model);
    this.#limits = limitsFor(this.#models);
  }

  /** All remaining customers, chunk by chunk, each as JSON: `BacktestCustomer`. */
  chunks(): AsyncGenerator<string[]> {
    return inChunks(this.job.lastCustomerId, (afterCustomerId, customers) =>
      readBacktestChunk(this.connections.sql, this.job, { ...this.#limits, afterCustomerId, customers }),
    );
  }

  async prepare(customer: BacktestCustomer): Promise<RecordedCustomer> {
    const { customerId } = customer;
    const samples = customer.isEvaluated ? await this.#samplesOf(customer) : null;
    // A customer that was not known at any of the instants has no samples.
    if (samples === null || samples.said[0]!.length === 0)
      return { customerId, bytes: 0, counts: noCounts(), json: null };
    const json = JSON.stringify({ customerId, weight: 0, difference: samples });
    return { customerId, bytes: json.length, counts: { ...noCounts(), customersChanged: 1 }, json };
  }

  write(customers: readonly RecordedCustomer[]): Promise<void> {
    return recordCustomers(this.connections.session, this.job, customers);
  }

  /**
   * The report, from records that are read page by page in one database snapshot, so that each pass over them sees the same.
   *
   * @param shouldContinue called before each page; false ends the report
   */
  async report(shouldContinue: () => boolean): Promise<BacktestReport | null> {
    const facts = this.judged.map(({ name, snapshot }) => factsOfModel(name, snapshot));
    try {
      const made = await onSnapshot(this.connections.sql, (tx) =>
        makeReport(this.question, facts, () => this.#recorded(tx, shouldContinue)),
      );
      const { keptFrom } = this.job;
      if (keptFrom !== null) {
        const at = new Date(keptFrom).toISOString();
        made.notes.push(
          `Operations accepted before ${at} have been removed by retention: what the model would have made of them is missing.`,
        );
      }
      return made;
    } catch (error) {
      if (error instanceof Stopped) return null;
      throw error;
    }
  }

  async #samplesOf(customer: BacktestCustomer): Promise<CustomerSamples> {
    try {
      if (!customer.moreEvents) {
        const sampler = new CustomerSampler(this.question, this.#models, customer);
        if (sampler.sampleAll(operationsInOrder(eventsOf(customer.events), identifiesOf(customer))))
          return sampler.samples;
      }
      return await onSnapshot(this.connections.sql, (tx) => this.#inParts(tx, customer));
    } catch (error) {
      throw customerFailure(customer.customerId, error);
    }
  }

  /** Samples a history that is too long to be held at once. */
  async #inParts(tx: TransactionSql, customer: BacktestCustomer): Promise<CustomerSamples> {
    const { environmentId } = this.job;
    const { propertyEvents, each, bytesEach } = this.#limits;
    const sampler = new CustomerSampler(this.question, this.#models, customer);
    const past = this.#models.map(() => openPastEvents(tx, environmentId, customer.customerId));
    let identifies = identifiesOf(customer);
    const pages = eventParts((after) =>
      call(tx, "read_recompute_events", environmentId, customer.customerId, after, propertyEvents, each, bytesEach),
    );
    for await (const { events, isLast } of pages) {
      const until = isLast ? Infinity : events.at(-1)!.occurredAt;
      const due = identifies.filter(({ acceptedAt }) => acceptedAt <= until);
      identifies = identifies.filter(({ acceptedAt }) => acceptedAt > until);
      await sampler.samplePart(operationsInOrder(events, due), isLast, past);
      await this.touch();
    }
    return sampler.samples;
  }

  async *#recorded(tx: TransactionSql, shouldContinue: () => boolean): AsyncGenerator<CustomerSamples> {
    const read = (cursor: string | null) => call(tx, "read_backtest_samples", this.job, PAGE_CUSTOMERS, cursor);
    let cursor: string | null = null;
    do {
      if (!shouldContinue()) throw new Stopped();
      await this.touch();
      const page = await read(cursor);
      yield* page.data;
      cursor = page.nextCursor;
    } while (cursor !== null);
  }
}

/** Ends a report when `shouldContinue` returns false. */
class Stopped extends Error {}

/** Loads a backtest's question and models. @param touch see `Backtest` */
export async function openBacktest(
  { session, sql, models }: { session: Sql; sql: Sql; models: Models },
  job: RecomputeJob,
  touch: () => Promise<void>,
): Promise<Backtest> {
  const judgedOf = async (version: number | null): Promise<JudgedModel> => {
    const name = version === null ? "local" : `v${version}`;
    const stored = version === null ? job.snapshot : await call(sql, "load_snapshot", job.projectId, version);
    const parsed = parseSnapshot(stored);
    if (!parsed.ok) throw new Error(`the model ${name} of the backtest is not valid: ${parsed.problems[0]?.message}`);
    const { snapshot } = parsed;
    return { name, snapshot, model: await models.of(hashSnapshot(snapshot), name, () => Promise.resolve(stored)) };
  };
  const stored = job.question!;
  const judged = [await judgedOf(job.version)];
  if (stored.against !== null) judged.push(await judgedOf(Number(stored.against.slice(1))));
  return new Backtest(
    { session, sql },
    job,
    readQuestion(stored, Date.parse(stored.end), judged[0]!.snapshot),
    judged,
    touch,
  );
}

function identifiesOf({ updates }: BacktestCustomer): IdentifyOperation[] {
  return (updates ?? []).map(([seq, acceptedAt, traits]) => ({ kind: "identify", seq, traits, acceptedAt }));
}
