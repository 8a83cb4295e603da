import type { Sql, TransactionSql } from "postgres";
import type { QuestionInput, TraitsAsOf } from "../../backtest/question.js";
import type { Json, StoredState } from "../../engine/index.js";
import type { CustomerColumns, EffectRows, StoredCustomer } from "./evaluation.js";

/** A worker's attempt at a recompute, a dry run, a preview or a backtest. */
export interface RecomputeJob {
  recomputeId: string;
  environmentId: number;
  kind: "recompute" | "dry_run" | "preview" | "backtest";
  /** The only customer of the job; null for all. */
  customerId: string | null;
  projectId: number;
  /** Pinned; null before the first deploy. Of a preview: the version to compare with. Of a backtest: the judged one, null for a snapshot. */
  version: number | null;
  hash: string | null;
  /** Of a preview, and of a backtest without a version: its model. */
  snapshot: unknown;
  snapshotHash: string | null;
  /** Of a backtest. */
  question: StoredQuestion | null;
  /** The instant (ms) from which all events are present, if retention has removed earlier ones. */
  keptFrom: number | null;
  /** Pinned (ms): the instant to evaluate through at least; customers created later are left out. */
  pinnedAt: number;
  sampleShare: number | null;
  attempt: number;
  /** How many customers earlier attempts have done. */
  customersDone: number;
  /** The last customer of the previous attempt. */
  lastCustomerId: string | null;
}

/** The question of a backtest, as `readQuestion` takes it, and what it is about. */
export interface StoredQuestion extends Required<QuestionInput> {
  /** The instant up to which events are known. */
  end: string;
  traits: TraitsAsOf;
  /** The version to compare the judged model with. */
  against: string | null;
}

/** What is needed to read the question of a backtest. */
export interface BacktestInput {
  /** The present (ms). */
  at: number;
  /** The instant (ms) up to which events are known. */
  end: number;
  /** The judged model; both null for a snapshot that is not deployed. */
  configVersion: string | null;
  snapshot: unknown;
}

export interface NewBacktest {
  /** Either this or `snapshot` is given. */
  versionName: string | null;
  /** Canonical JSON of a validated snapshot, and its hash. */
  snapshot: string | null;
  hash: string | null;
  question: StoredQuestion;
  sample: number | undefined;
  pinnedAt: Date;
}

/** Events of a customer as lists of equal length, null if there are none. */
export interface EventLists {
  seqs: number[] | null;
  at: number[] | null;
  names: string[] | null;
  /** Null for events whose properties were not requested. */
  properties: (Record<string, Json> | null)[] | null;
}

/** What identifies a run of a rule in a customer's log. */
export type ExecutionKey = [rule: string, result: string, triggeredBy: string, at: number];

export interface RecomputeCustomer extends StoredCustomer {
  /** Changes with every change of the customer's row. */
  revision: string;
  /** The instant (ms) to evaluate through. */
  through: number;
  generation: number;
  /** Expirations of journeys that were already emitted. */
  told: [journey: string, at: number][] | null;
  /** In order of occurrence, to the microsecond, and acceptance; none if there are more than are read at once. */
  events: EventLists;
  moreEvents: boolean;
  /** The logged runs of rules; only the first ones if there are more. */
  executions: ExecutionKey[] | null;
  moreExecutions: boolean;
}

/** A customer as a backtest reads it. */
export interface BacktestCustomer {
  customerId: string;
  createdAt: number;
  isEvaluated: boolean;
  traits: Record<string, Json>;
  /** Null if they were not requested, or there are none. */
  updates: [seq: number, acceptedAt: number, traits: Record<string, Json>][] | null;
  /** As in `RecomputeCustomer`. */
  events: EventLists;
  moreEvents: boolean;
}

/** The end of a page, to the microsecond; null for an empty page, and before the first one. */
export interface PageEnd {
  lastAt: string | null;
  lastSeq: number | null;
}

/** Counts for the result of a job, all zero. */
export const noCounts = () => ({
  customersChanged: 0,
  lifecycleChanged: 0,
  healthChanged: 0,
  segmentsEntered: 0,
  segmentsExited: 0,
  signalsRaised: 0,
  signalsCleared: 0,
  rules: 0,
  rulesRemoved: 0,
  emissions: 0,
});

export type ResultCounts = ReturnType<typeof noCounts>;

/** A customer for svc_api.compare_replays; one without a revision is only counted as done. */
export type AppliedCustomer = { customerId: string } | ReplayedCustomer;

export type ReplayedCustomer = CustomerColumns & {
  state: StoredState;
  revision: string;
  generation: number;
  difference: object | null;
  weight: number;
  counts: ResultCounts;
  emissions: Pick<EffectRows["emissions"][number], "type" | "source" | "metadata" | "at">[] | null;
} & { [Table in keyof Omit<EffectRows, "emissions">]: EffectRows[Table] | null };

/** What to read of a job's customers, with limits. */
export interface ChunkRequest {
  afterCustomerId: string | null;
  /** Events whose properties are needed. */
  propertyEvents: string[];
  customers: number;
  /** Limit of events, and of runs of rules, per customer. */
  each: number;
  /** Limit of the stored size of the events' properties, per customer. */
  bytesEach: number;
  bytes: number;
}

/** The next customers of a job, each as JSON: `RecomputeCustomer`; none if all are done. */
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

/** The next customers of a backtest, each as JSON: `BacktestCustomer`; none if all are done. */
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

/** The results of customers, each as JSON, in the same order. */
export interface ReplayTexts {
  /** `AppliedCustomer` without its state. */
  customers: readonly string[];
  /** `null` for a customer without a revision. */
  states: readonly string[];
}

/** Writes customers in order, each in its own transaction, until one has changed since it was read; returns how many were written. */
export async function applyReplays(
  session: Sql,
  { environmentId, recomputeId, attempt, version }: RecomputeJob,
  { customers, states }: ReplayTexts,
): Promise<number> {
  const [row] = await session<[{ done: number }]>`
    call svc_api.apply_replays(
      ${environmentId}, ${recomputeId}, ${attempt}, ${version}, ${`[${customers.join(",")}]`}::text::json, ${states.join("\n")}, 0
    )`;
  return row.done;
}
