import type { Sql, TransactionSql } from "postgres";
import type { CustomerState, Json } from "../../engine/index.js";
import type { CustomerColumns, EffectRows } from "./evaluation.js";

/** An attempt at a recompute, a dry run or a preview, as a worker takes it. */
export interface RecomputeJob {
  recomputeId: string;
  environmentId: number;
  kind: "recompute" | "dry_run" | "preview";
  /** The only customer that it is for; null for all. */
  customerId: string | null;
  projectId: number;
  /** Pinned; null before the first deploy. Of a preview: what it is compared with. */
  version: number | null;
  hash: string | null;
  /** Of a preview: the model that it is of. */
  snapshot: unknown;
  snapshotHash: string | null;
  /** Pinned (ms): the instant to evaluate through; who was created later is left out. */
  pinnedAt: number;
  sampleShare: number | null;
  attempt: number;
  /** By the attempts before. */
  customersDone: number;
  /** Where the attempt before ended. */
  lastCustomerId: string | null;
}

/** Events of a customer as lists of one length; null where there are none. */
export interface EventLists {
  seqs: number[] | null;
  at: number[] | null;
  names: string[] | null;
  /** Null of events whose properties were not asked for. */
  properties: (Record<string, Json> | null)[] | null;
}

/** A run of a rule in the log, as far as it tells one from another. */
export type ExecutionKey = [rule: string, result: string, triggeredBy: string, at: number];

export interface RecomputeCustomer {
  customerId: string;
  /** Another one as soon as the customer's row changes. */
  revision: string;
  createdAt: number;
  traits: Record<string, Json>;
  state: Omit<CustomerState, "traits"> | null;
  generation: number;
  /** The expirations of journeys that were emitted. */
  told: [journey: string, at: number][] | null;
  /** In order of occurrence, to the microsecond, and acceptance. */
  events: EventLists;
  /** There are more of them. */
  moreEvents: boolean;
  executions: ExecutionKey[] | null;
  moreExecutions: boolean;
}

/** Where a page ended, to the microsecond; null where it was empty. */
interface PageEnd {
  lastAt: string | null;
  lastSeq: number | null;
}

/** What is added to the result of a job. */
export interface ResultCounts {
  customersChanged: number;
  lifecycleChanged: number;
  healthChanged: number;
  segmentsEntered: number;
  segmentsExited: number;
  rules: number;
  rulesRemoved: number;
  emissions: number;
}

/** What svc_api.apply_recompute takes of a customer; one without a revision only counts as done. */
export type AppliedCustomer =
  | { customerId: string }
  | (CustomerColumns & {
      revision: string;
      generation: number;
      difference: object | null;
      weight: number;
      counts: ResultCounts;
      emissions: { type: string; source: string; metadata: Record<string, Json>; at: number }[] | null;
    } & { [Table in keyof Omit<EffectRows, "emissions">]: EffectRows[Table] | null });

/** What is read of the customers of a job. */
interface ChunkRequest {
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

/** Takes a job that nobody runs and holds it for this session; null where there is none. */
export async function claimRecompute(session: Sql, attemptsMax: number): Promise<RecomputeJob | null> {
  const [row] = await session<[{ job: RecomputeJob | null }]>`select svc_api.claim_recompute(${attemptsMax}) as job`;
  return row.job;
}

/** The next customers of a job; none where all are done. */
export async function readRecomputeChunk(
  sql: Sql | TransactionSql,
  { environmentId, customerId, pinnedAt, sampleShare }: RecomputeJob,
  { afterCustomerId, propertyEvents, customers, each, bytesEach, bytes }: ChunkRequest,
): Promise<RecomputeCustomer[]> {
  const rows = await sql<{ customer: RecomputeCustomer }[]>`
    select c.customer
    from svc_api.read_recompute_chunk(
      ${environmentId}, ${new Date(pinnedAt).toISOString()}::text::timestamptz, ${customerId}, ${sampleShare}::float8,
      ${afterCustomerId}, ${propertyEvents}::text[], ${customers}, ${each}, ${bytesEach}::bigint, ${bytes}::bigint
    ) as c`;
  return rows.map(({ customer }) => customer);
}

/** The next events of one customer after a place in order. */
export async function readRecomputeEvents(
  sql: Sql | TransactionSql,
  environmentId: number,
  customerId: string,
  { lastAt, lastSeq }: PageEnd,
  { propertyEvents, each, bytesEach }: Pick<ChunkRequest, "propertyEvents" | "each" | "bytesEach">,
): Promise<{ events: EventLists; more: boolean } & PageEnd> {
  const [row] = await sql<[{ page: { events: EventLists; more: boolean } & PageEnd }]>`
    select svc_api.read_recompute_events(
      ${environmentId}, ${customerId}, ${lastAt ?? "-infinity"}, ${lastSeq ?? 0}::bigint, ${propertyEvents}::text[], ${each},
      ${bytesEach}::bigint
    ) as page`;
  return row.page;
}

/** The next runs of rules in a customer's log after a place in order. */
export async function readRecomputeExecutions(
  sql: Sql | TransactionSql,
  environmentId: number,
  { customerId, generation }: Pick<RecomputeCustomer, "customerId" | "generation">,
  { lastAt, lastSeq }: PageEnd,
  limit: number,
): Promise<{ runs: ExecutionKey[] | null } & PageEnd> {
  const [row] = await sql<[{ page: { runs: ExecutionKey[] | null } & PageEnd }]>`
    select svc_api.read_recompute_executions(
      ${environmentId}, ${customerId}, ${generation}, ${lastAt ?? "-infinity"}, ${lastSeq ?? 0}::bigint, ${limit}
    ) as page`;
  return row.page;
}

/** Locks a customer until the transaction ends. */
export async function lockCustomer(tx: TransactionSql, environmentId: number, customerId: string): Promise<void> {
  await tx`select svc_api.lock_customer(${environmentId}, ${customerId})`;
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

/** Writes one customer in the transaction at hand. */
export async function applyRecompute(
  tx: TransactionSql,
  { environmentId, recomputeId, attempt, version }: RecomputeJob,
  customer: AppliedCustomer,
): Promise<"applied" | "changed" | "gone"> {
  const [row] = await tx<[{ outcome: "applied" | "changed" | "gone" }]>`
    select svc_api.apply_recompute(
      ${environmentId}, ${recomputeId}, ${attempt}, ${version}, ${JSON.stringify(customer)}::text::json
    ) as outcome`;
  return row.outcome;
}

/** Writes a part of a customer's logs; `applyRecompute` in the same transaction makes it count. */
export async function appendRecomputeLogs(
  tx: TransactionSql,
  { environmentId, version }: RecomputeJob,
  { transitions, ruleExecutions }: Pick<EffectRows, "transitions" | "ruleExecutions">,
): Promise<void> {
  await tx`
    select svc_api.append_recompute_logs(
      ${environmentId}, ${version}, ${jsonOf(transitions)}::text::json, ${jsonOf(ruleExecutions)}::text::json
    )`;
}

/**
 * Writes what a dry run or a preview found of customers.
 *
 * @param differences each as JSON: `{customerId, weight, difference}`
 */
export async function recordRecomputeChunk(
  session: Sql,
  { environmentId, recomputeId, attempt }: RecomputeJob,
  chunk: { lastCustomerId: string; done: number; differences: readonly string[]; counts: ResultCounts },
): Promise<void> {
  await session`
    select svc_api.record_recompute_chunk(
      ${environmentId}, ${recomputeId}, ${attempt}, ${chunk.lastCustomerId}, ${chunk.done},
      ${`[${chunk.differences.join(",")}]`}::text::json, ${JSON.stringify(chunk.counts)}::text::json
    )`;
}

/** How many customers of the job are done, null where this is not its present attempt; also tells of the emissions written so far. */
export async function touchRecompute(
  session: Sql,
  { environmentId, recomputeId, attempt }: RecomputeJob,
): Promise<number | null> {
  const [row] = await session<[{ done: number | null }]>`
    select svc_api.touch_recompute(${environmentId}, ${recomputeId}, ${attempt}) as done`;
  return row.done;
}

/** Ends a job whose customers are all done. */
export async function finishRecompute(
  session: Sql,
  { environmentId, recomputeId, attempt }: RecomputeJob,
): Promise<void> {
  await session`select svc_api.finish_recompute(${environmentId}, ${recomputeId}, ${attempt})`;
}

/** Takes down that an attempt failed; answers whether the job is tried again, null where it is another worker's by now. */
export async function failRecompute(
  session: Sql,
  { environmentId, recomputeId, attempt }: RecomputeJob,
  error: string,
  { attemptsMax, pauseMs }: { attemptsMax: number; pauseMs: number },
): Promise<"retrying" | "dead_letter" | null> {
  const [row] = await session<[{ status: "retrying" | "dead_letter" | null }]>`
    select svc_api.fail_recompute(
      ${environmentId}, ${recomputeId}, ${attempt}, ${error}, ${attemptsMax}, make_interval(secs => ${pauseMs / 1_000})
    ) as status`;
  return row.status;
}

/** Lets go of a job that this session holds. */
export async function leaveRecompute(
  session: Sql,
  { environmentId, recomputeId, attempt }: RecomputeJob,
): Promise<void> {
  await session`select svc_api.leave_recompute(${environmentId}, ${recomputeId}, ${attempt})`;
}

function jsonOf(rows: object[]): string | null {
  return rows.length === 0 ? null : JSON.stringify(rows);
}
