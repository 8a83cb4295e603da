import type { Sql, TransactionSql } from "postgres";
import {
  newCustomer,
  stateOf,
  type CustomerState,
  type Effect,
  type HealthScore,
  type HistoryEvent,
  type HistoryPage,
  type HistoryRequest,
  type JourneyProgress,
  type JourneyRun,
  type Json,
  type StoredState,
} from "../../engine/index.js";

/** An operation as svc_api.begin_chunk lists it: [seq, accepted (ms), event or null for an identify, payload, occurred (ms)]. */
export type OperationRow = [number, number, string | null, Record<string, Json>, number | null];

/** A customer as stored. */
export interface StoredCustomer {
  customerId: string;
  /** In milliseconds. */
  createdAt: number;
  traits: Record<string, Json>;
  /** Null if it was never successfully evaluated. */
  state: StoredState | null;
}

/** The engine's state of a loaded customer; a new one if it was never evaluated. */
export function loadedState(customer: StoredCustomer): CustomerState {
  return customer.state === null
    ? newCustomer(customer.customerId, customer.createdAt)
    : stateOf(customer.state, customer);
}

export interface CustomerInput extends StoredCustomer {
  /** The generation of the current rows in its logs. */
  generation: number;
  operations: OperationRow[];
  /** More operations of this customer wait than were read. */
  more: boolean;
  /** When the first of its operations in the future, which were not read, is due (ms); null if there are none. */
  aheadFrom: number | null;
}

export interface EvaluationInput {
  /** Two others evaluate the environment: no customer was taken. All other members except `customers` are missing then. */
  busy?: true;
  /** The environment can be evaluated only in trials; otherwise as for `busy`. */
  suspected?: true;
  /** The database's clock, the only one that evaluation uses (ms). */
  now: number;
  settled: boolean;
  /** The number of webhooks that an emission may go to. */
  webhooks: number;
  /** The transaction that locks the customers; null if none were taken. */
  transactionId: string | null;
  projectId: number;
  /** Null before the first deploy. */
  version: number | null;
  hash: string | null;
  customers: CustomerInput[];
  /** Whether customers that were to be evaluated were left out because of their size. */
  more: boolean;
}

/** A customer's state as written; instants are milliseconds. */
export interface CustomerColumns {
  customerId: string;
  lifecycle: string | null;
  lifecycleEnteredAt: number | null;
  lastEventAt: number | null;
  evaluatedThrough: number | null;
  nextDueAt: number | null;
  /** Until when its timers wait for the environment to settle; null if they do not wait. */
  heldUntil: number | null;
  health: HealthScore | null;
}

/** What svc_api.apply_evaluation takes; instants are milliseconds. */
export interface EvaluationResult extends EffectRows {
  customers: (CustomerColumns & { createdAt: number; identifies?: number[] })[];
  /** The states of `customers`, in their order, one JSON line each: a string is cheaper to keep until the chunk is written than the objects. */
  states: string;
  changes: TrendChange[];
  consumed: { customerId: string; seqs: number[] }[];
  deferred: { customerId: string; seq: number; notBefore: number }[];
}

/** A change that the trends count; svc.logged_changes computes the same from the logs. */
export interface TrendChange {
  measure: "lifecycle" | "health" | "score" | "segment" | "signal";
  at: number;
  name: string;
  value: string;
  count: number;
  amount: number;
}

/** The generation of a row of a log. */
interface Generation {
  generation: number;
}

/** The members of an effect that a row has too. */
type Members<Kind extends Effect["kind"]> = Omit<Extract<Effect, { kind: Kind }>, "kind" | "cause">;

/** The rows that effects result in, by table; of rows with the same key only the last. */
export interface EffectRows {
  transitions: ({ customerId: string } & Members<"transition"> & CauseColumns & Generation)[];
  blocked: ({ customerId: string } & Members<"blocked">)[];
  journeys: ({
    customerId: string;
    journey: string;
    /** As the state document shows them. */
    steps: JourneyProgress["stepsData"];
  } & Omit<JourneyRun, "startedBy" | "steps" | "endedBy">)[];
  memberships: { customerId: string; segment: string; enteredAt: number; exitedAt: number | null }[];
  healthScores: ({ customerId: string } & Members<"health"> & CauseColumns & Generation)[];
  ruleExecutions: ({
    customerId: string;
    /** Index in `emissions` of what it emitted; missing if it emitted nothing. */
    emission?: number;
  } & Members<"ruleExecuted"> &
    CauseColumns &
    Generation)[];
  signals: ({ customerId: string; clearedAt: number | null } & Omit<Members<"signalCleared">, "at">)[];
  emissions: ({ customerId: string } & Omit<Members<"emission">, "byRule"> & CauseColumns)[];
}

interface CauseColumns {
  causeType: "event" | "identify" | "timer" | "job";
  causeId: string | null;
}

/** Limits of one transaction of evaluation. */
export interface ChunkLimits {
  customers: number;
  operations: number;
}

/**
 * Writes the heartbeat, releases the jobs of silent workers, then requests evaluations that are due; returns in how many environments. The
 * heartbeat is separate, so that it does not fail with the rest, for example while a node of a cluster is away.
 */
export async function tick(sql: Sql, workerId: string, settleSeconds: number): Promise<number> {
  await sql`select svc_api.heartbeat(${workerId})`;
  const [row] = await sql<[{ requested: number }]>`
    select svc_api.request_due_evaluations(make_interval(secs => ${settleSeconds})) as requested`;
  return row.requested;
}

/** The environments in which the sweeps of operations, keys and logs may find something. */
export async function environmentsToSweep(sql: Sql): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`select e as id from svc_api.environments_to_sweep() as e`;
  return rows.map(({ id }) => id);
}

/** The environments whose trends are behind their logs. */
export async function environmentsToCount(sql: Sql): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`select e as id from svc_api.environments_to_count() as e`;
  return rows.map(({ id }) => id);
}

/** A trial of an environment by a worker. */
export interface Trial {
  environmentId: number;
  workerId: string;
}

/** An evaluated event, read again to rebuild condition memory. */
type HistoryRow = HistoryEvent & { customerId: string };

/** Rows per fetch, of at most 64 KiB each. */
const CURSOR_ROWS = 500;

/** The evaluated events of some customers, customer by customer, ordered by microsecond; only CURSOR_ROWS are in memory at a time. */
export async function* loadHistory(tx: TransactionSql, environmentId: number, customers: string[], events: string[]) {
  const parts = tx<HistoryRow[]>`
    select customer_id as "customerId", event_seq::float8 as seq, event, properties,
      floor(extract(epoch from occurred_at) * 1000)::float8 as "occurredAt"
    from svc_api.load_history(${environmentId}, ${customers}, ${events})`.cursor(CURSOR_ROWS);
  for await (const part of parts) yield* part;
}

/** A request of the engine for evaluated events of one customer. */
export interface CustomerRequest {
  customerId: string;
  request: HistoryRequest;
}

export interface PageRow {
  events: [seq: number, occurredAt: number, properties: Record<string, Json>][];
  complete: boolean;
}

/**
 * Answers to requests, by position, all in one call.
 *
 * @param pageSize maximum of events in an answer; fewer if they have more than 1.6 kB on average, a few more if they have the same
 *   millisecond
 */
export async function loadHistoryPages(
  tx: TransactionSql,
  environmentId: number,
  requests: readonly CustomerRequest[],
  pageSize: number,
): Promise<HistoryPage[]> {
  const requested = JSON.stringify(requests.map(({ customerId, request }) => ({ customerId, ...request })));
  const rows = await tx<PageRow[]>`
    select p.events, p.complete
    from svc_api.load_history_pages(${environmentId}, ${requested}::text::json, ${pageSize}) as p
    order by p.request`;
  return rows.map((row, position) => historyPageOf(row, requests[position]!.request));
}

/** The page for a row that answers a request. */
export function historyPageOf({ events, complete }: PageRow, { event }: HistoryRequest): HistoryPage {
  const read = events.map(([seq, occurredAt, properties]): HistoryEvent => ({ event, seq, occurredAt, properties }));
  return { events: read, complete };
}
