import type { Sql, TransactionSql } from "postgres";
import type { QuestionWords, TraitsOf } from "../../backtest/question.js";
import type { Json, StoredState } from "../../engine/index.js";
import type { CustomerColumns, EffectRows, StoredCustomer } from "./evaluation.js";

/** An attempt at a recompute, a dry run, a preview or a backtest, as a worker takes it. */
export interface RecomputeJob {
  recomputeId: string;
  environmentId: number;
  kind: "recompute" | "dry_run" | "preview" | "backtest";
  /** The only customer that it is for; null for all. */
  customerId: string | null;
  projectId: number;
  /** Pinned; null before the first deploy. Of a preview: what it is compared with. Of a backtest: the judged one, null where it is a snapshot. */
  version: number | null;
  hash: string | null;
  /** Of a preview, and of a backtest without a version: the model that it is of. */
  snapshot: unknown;
  snapshotHash: string | null;
  /** Of a backtest. */
  question: StoredQuestion | null;
  /** From which instant (ms) on all events are there, where retention has removed earlier ones. */
  keptFrom: number | null;
  /** Pinned (ms): the instant to evaluate through; who was created later is left out. */
  pinnedAt: number;
  sampleShare: number | null;
  attempt: number;
  /** By the attempts before. */
  customersDone: number;
  /** Where the attempt before ended. */
  lastCustomerId: string | null;
}

/** What a backtest asks, as `readQuestion` takes it, and of what. */
export interface StoredQuestion extends Required<QuestionWords> {
  /** Up to when it is known what happened. */
  end: string;
  traits: TraitsOf;
  /** The version beside the judged model. */
  against: string | null;
}

/** What the question of a backtest is read with. */
export interface BacktestInput {
  /** The present (ms). */
  at: number;
  /** Up to when it is known what happened (ms). */
  end: number;
  /** The judged model; both null of a snapshot that is not deployed. */
  configVersion: string | null;
  snapshot: unknown;
}

export interface NewBacktest {
  /** Either that or a snapshot. */
  versionName: string | null;
  /** Canonical JSON of a validated snapshot, and its hash. */
  snapshot: string | null;
  hash: string | null;
  question: StoredQuestion;
  sample: number | undefined;
  pinnedAt: Date;
}

/** Events of a customer as lists of one length, null where there are none. */
export interface EventLists {
  seqs: number[] | null;
  at: number[] | null;
  names: string[] | null;
  /** Null of events whose properties were not asked for. */
  properties: (Record<string, Json> | null)[] | null;
}

/** A run of a rule in the log, as far as it tells one from another. */
export type ExecutionKey = [rule: string, result: string, triggeredBy: string, at: number];

export interface RecomputeCustomer extends StoredCustomer {
  /** Another one as soon as the customer's row changes. */
  revision: string;
  generation: number;
  /** The expirations of journeys that were emitted. */
  told: [journey: string, at: number][] | null;
  /** In order of occurrence, to the microsecond, and acceptance; none where there are more than are read at once. */
  events: EventLists;
  moreEvents: boolean;
  /** The first of them, where there are more. */
  executions: ExecutionKey[] | null;
  moreExecutions: boolean;
}

/** A customer as a backtest reads it. */
export interface BacktestCustomer {
  customerId: string;
  createdAt: number;
  isEvaluated: boolean;
  traits: Record<string, Json>;
  /** Null where they were not asked for, or there are none. */
  updates: [seq: number, acceptedAt: number, traits: Record<string, Json>][] | null;
  /** As of `RecomputeCustomer`. */
  events: EventLists;
  moreEvents: boolean;
}

/** Where a page ended, to the microsecond; null where it was empty, and before the first one. */
export interface PageEnd {
  lastAt: string | null;
  lastSeq: number | null;
}

/** What is added to the result of a job: nothing yet. */
export const noCounts = () => ({
  customersChanged: 0,
  lifecycleChanged: 0,
  healthChanged: 0,
  segmentsEntered: 0,
  segmentsExited: 0,
  rules: 0,
  rulesRemoved: 0,
  emissions: 0,
});

export type ResultCounts = ReturnType<typeof noCounts>;

/** What svc_api.apply_recompute takes of a customer; one without a revision only counts as done. */
export type AppliedCustomer =
  | { customerId: string }
  | (CustomerColumns & {
      state: StoredState;
      revision: string;
      generation: number;
      difference: object | null;
      weight: number;
      counts: ResultCounts;
      emissions: { type: string; source: string; metadata: Record<string, Json>; at: number }[] | null;
    } & { [Table in keyof Omit<EffectRows, "emissions">]: EffectRows[Table] | null });

/** What is read of the customers of a job. */
export interface ChunkRequest {
  afterCustomerId: string | null;
  /** Events whose properties are needed. */
  propertyEvents: string[];
  customers: number;
  /** How many events, and how many runs of rules, of each. */
  each: number;
  /** How many bytes the properties of these events have, as stored. */
  bytesEach: number;
  bytes: number;
}

/** The next customers of a job, each as JSON: `RecomputeCustomer`; none where all are done. */
export async function readRecomputeChunk(
  sql: Sql | TransactionSql,
  { environmentId, customerId, pinnedAt, sampleShare }: RecomputeJob,
  { afterCustomerId, propertyEvents, customers, each, bytesEach, bytes }: ChunkRequest,
): Promise<string[]> {
  const rows = await sql<{ customer: string }[]>`
    select c.customer::text
    from svc_api.read_recompute_chunk(
      ${environmentId}, ${new Date(pinnedAt).toISOString()}::text::timestamptz, ${customerId}, ${sampleShare}::float8,
      ${afterCustomerId}, ${propertyEvents}::text[], ${customers}, ${each}, ${bytesEach}::bigint, ${bytes}::bigint
    ) as c`;
  return rows.map(({ customer }) => customer);
}

/** The next customers of a backtest, each as JSON: `BacktestCustomer`; none where all are done. */
export async function readBacktestChunk(
  sql: Sql,
  { environmentId, pinnedAt, sampleShare, question }: RecomputeJob,
  { afterCustomerId, propertyEvents, customers, each, bytesEach, bytes }: ChunkRequest,
): Promise<string[]> {
  const rows = await sql<{ customer: string }[]>`
    select c.customer::text
    from svc_api.read_backtest_chunk(
      ${environmentId}, ${new Date(pinnedAt).toISOString()}::text::timestamptz, ${sampleShare}::float8, ${afterCustomerId},
      ${propertyEvents}::text[], ${question!.traits === "then"}, ${customers}, ${each}, ${bytesEach}::bigint, ${bytes}::bigint
    ) as c`;
  return rows.map(({ customer }) => customer);
}

/**
 * Writes customers, each in a transaction of its own, in order, until one has changed since it was read; answers how many were written.
 *
 * @param customers each as JSON: `AppliedCustomer`
 */
export async function applyRecomputes(
  session: Sql,
  { environmentId, recomputeId, attempt, version }: RecomputeJob,
  customers: readonly string[],
): Promise<number> {
  const [row] = await session<[{ done: number }]>`
    call svc_api.apply_recomputes(
      ${environmentId}, ${recomputeId}, ${attempt}, ${version}, ${`[${customers.join(",")}]`}::text::json, 0
    )`;
  return row.done;
}
