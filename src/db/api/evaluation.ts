import type { Sql, TransactionSql } from "postgres";
import {
  newCustomer,
  stateOf,
  type CustomerState,
  type HealthChange,
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

/** A customer as it is kept. */
export interface StoredCustomer {
  customerId: string;
  /** In milliseconds. */
  createdAt: number;
  traits: Record<string, Json>;
  /** Null where it was never evaluated with success. */
  state: StoredState | null;
}

/** The engine's state of a customer as loaded; a new one where it was never evaluated. */
export function loadedState(customer: StoredCustomer): CustomerState {
  return customer.state === null
    ? newCustomer(customer.customerId, customer.createdAt)
    : stateOf(customer.state, customer);
}

export interface CustomerInput extends StoredCustomer {
  /** Of the rows of its logs that count. */
  generation: number;
  operations: OperationRow[];
  /** More operations of this customer wait than were read. */
  more: boolean;
  /** Of those that lay ahead and were not read, when the first is due (ms); null where there are none. */
  aheadFrom: number | null;
}

export interface EvaluationInput {
  /** Two others evaluate the environment: nobody was taken. The other members but `customers` are missing then. */
  busy?: true;
  /** The environment is to be evaluated in trials only: the same. */
  suspected?: true;
  /** The database's clock, the only one that evaluation knows (ms). */
  now: number;
  settled: boolean;
  /** To how many webhooks an emission may go. */
  webhooks: number;
  /** Of the transaction that holds the customers; null where none were taken. */
  transactionId: string | null;
  projectId: number;
  /** Null before the first deploy. */
  version: number | null;
  hash: string | null;
  customers: CustomerInput[];
}

/** A customer's state as written; instants are milliseconds. */
export interface CustomerColumns {
  customerId: string;
  lifecycle: string | null;
  lifecycleEnteredAt: number | null;
  lastEventAt: number | null;
  evaluatedThrough: number | null;
  nextDueAt: number | null;
  /** Until when its timers wait for the environment to settle; null where they do not. */
  heldUntil: number | null;
  health: HealthScore | null;
}

/** What svc_api.apply_evaluation takes; instants are milliseconds. */
export interface EvaluationResult extends EffectRows {
  customers: (CustomerColumns & { createdAt: number; identifies?: number[] })[];
  /** Of the customers, in their order, a line of JSON each: a text outlives the chunk at less cost than what it is made of. */
  states: string;
  changes: TrendChange[];
  consumed: { customerId: string; seqs: number[] }[];
  deferred: { customerId: string; seq: number; notBefore: number }[];
}

/** What the trends count, as svc.logged_changes reads it from the logs. */
export interface TrendChange {
  measure: "lifecycle" | "health" | "score" | "segment" | "signal";
  at: number;
  name: string;
  value: string;
  count: number;
  amount: number;
}

/** Of which generation a row of a log is. */
interface Generation {
  generation: number;
}

/** What effects come down to, table by table. Of rows with one key there is only the last. */
export interface EffectRows {
  transitions: ({ customerId: string; from: string | null; to: string; at: number } & CauseColumns & Generation)[];
  blocked: { customerId: string; from: string; to: string; at: number }[];
  journeys: {
    customerId: string;
    journey: string;
    run: number;
    status: JourneyRun["status"];
    currentStep: string;
    /** As the state document shows them. */
    steps: JourneyProgress["stepsData"];
    startedAt: number;
    completedAt: number | null;
    expiredAt: number | null;
  }[];
  memberships: { customerId: string; segment: string; enteredAt: number; exitedAt: number | null }[];
  healthScores: ({ customerId: string; at: number } & HealthChange & CauseColumns & Generation)[];
  ruleExecutions: ({
    customerId: string;
    rule: string;
    result: "pass" | "fail" | "skip" | "error";
    triggeredBy: string;
    conditions: Record<string, Json>;
    action: Record<string, Json>;
    error: string | null;
    at: number;
    /** Where what it emitted stands among the emissions, from 0; left out where it emitted nothing. */
    emission?: number;
  } & CauseColumns &
    Generation)[];
  signals: {
    customerId: string;
    signal: string;
    severity: string;
    message: string | null;
    raisedAt: number;
    clearedAt: number | null;
  }[];
  emissions: ({
    customerId: string;
    type: string;
    source: string;
    metadata: Record<string, Json>;
    at: number;
  } & CauseColumns)[];
}

interface CauseColumns {
  causeType: "event" | "identify" | "timer" | "job";
  causeId: string | null;
}

/** How much one transaction of evaluation takes on. */
export interface ChunkLimits {
  customers: number;
  operations: number;
}

/**
 * Heartbeat, unlocking of silent workers, and then evaluations that time demands; answers in how many environments. Where that cannot be
 * found out, as where a node of a cluster is away, the worker is not silent.
 */
export async function tick(sql: Sql, workerId: string, settleSeconds: number): Promise<number> {
  await sql`select svc_api.heartbeat(${workerId})`;
  const [row] = await sql<[{ asked: number }]>`
    select svc_api.request_due_evaluations(make_interval(secs => ${settleSeconds})) as asked`;
  return row.asked;
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

/** Who tries an evaluation that may end its worker. */
export interface Trial {
  environmentId: number;
  workerId: string;
}

/** An evaluated event, read again to rebuild condition memory. */
type HistoryRow = HistoryEvent & { customerId: string };

/** Of at most 64 KiB each. */
const CURSOR_ROWS = 500;

/** The evaluated events of some customers, customer by customer, in order to the microsecond; a part of them in memory at a time. */
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
 * @param pageSize how many events an answer holds, if there are more; fewer where they have more than 1.6 kB on average, a few more where
 *   they are of one millisecond
 */
export async function loadHistoryPages(
  tx: TransactionSql,
  environmentId: number,
  requests: readonly CustomerRequest[],
  pageSize: number,
): Promise<HistoryPage[]> {
  const asked = JSON.stringify(requests.map(({ customerId, request }) => ({ customerId, ...request })));
  const rows = await tx<PageRow[]>`
    select p.events, p.complete
    from svc_api.load_history_pages(${environmentId}, ${asked}::text::json, ${pageSize}) as p
    order by p.request`;
  return rows.map((row, position) => historyPageOf(row, requests[position]!.request));
}

/** The row of an answer to a request as a page. */
export function historyPageOf({ events, complete }: PageRow, { event }: HistoryRequest): HistoryPage {
  const read = events.map(([seq, occurredAt, properties]): HistoryEvent => ({ event, seq, occurredAt, properties }));
  return { events: read, complete };
}
