import type { TransactionSql } from "postgres";
import type { CustomerInput } from "../db/calls-evaluation.js";
import { loadHistory, loadHistoryPages } from "../db/calls-history.js";
import type { CustomerState, HistoryEvent, HistoryRequest, Model } from "../engine/index.js";
import type { HistoryAtHand } from "../evaluation/history-at-hand.js";

export interface CustomerHistory {
  customer: CustomerInput;
  /** In order of occurrence and acceptance. */
  events: HistoryEvent[];
}

/** A customer whose evaluation needs history that is not at hand. */
export interface Waiting {
  customer: CustomerInput;
  /** From which it is evaluated again. */
  state: CustomerState;
  history: HistoryAtHand;
  requests: readonly HistoryRequest[];
}

/** How many events an answer to a request of the engine holds. */
const PAGE_EVENTS_MAX = 1_000;
const PAGE_EVENTS_MIN = 50;
/** The answers of one call share this many, so that memory is bounded. */
const CALL_EVENTS_MAX = 50_000;

/** The evaluated events of each of these customers, also of those who have none; one customer's in memory at a time. */
export async function* historiesOf(
  tx: TransactionSql,
  environmentId: number,
  customers: CustomerInput[],
  eventNames: string[],
): AsyncGenerator<CustomerHistory> {
  if (customers.length === 0) return;
  const remaining = new Map(customers.map((customer) => [customer.customerId, customer]));
  let current: CustomerHistory | undefined;
  for await (const row of loadHistory(tx, environmentId, [...remaining.keys()], eventNames)) {
    if (current?.customer.customerId !== row.customerId) {
      if (current) yield inOrder(current);
      const customer = remaining.get(row.customerId);
      if (!customer) throw new Error("the database answered the history of a customer that was not asked for");
      remaining.delete(row.customerId);
      current = { customer, events: [] };
    }
    current.events.push(row);
  }
  if (current) yield inOrder(current);
  for (const customer of remaining.values()) yield { customer, events: [] };
}

/** Fetches what customers wait for, or the beginning of it, in one call. */
export async function fetchHistory(
  tx: TransactionSql,
  environmentId: number,
  waiting: readonly Waiting[],
): Promise<void> {
  const asked = waiting.flatMap(({ customer: { customerId }, history, requests }) =>
    requests.map((request) => ({ customerId, history, request })),
  );
  const share = Math.floor(CALL_EVENTS_MAX / asked.length);
  const pageSize = Math.min(PAGE_EVENTS_MAX, Math.max(PAGE_EVENTS_MIN, share));
  const pages = await loadHistoryPages(tx, environmentId, asked, pageSize);
  for (const [position, { history, request }] of asked.entries()) history.add(request, pages[position]!);
}

/** The names of the events that a model remembers anything of. */
export function eventsOf({ registry: { streams, aggregates } }: Model): string[] {
  return [...new Set([...streams.map(({ event }) => event), ...aggregates.flatMap(({ events }) => events)])];
}

/** The database orders by microseconds, the engine by milliseconds and acceptance. */
function inOrder(history: CustomerHistory): CustomerHistory {
  history.events.sort((a, b) => a.occurredAt - b.occurredAt || a.seq - b.seq);
  return history;
}
