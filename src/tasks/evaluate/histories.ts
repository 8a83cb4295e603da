import type { TransactionSql } from "postgres";
import { type CustomerInput, loadHistory, loadHistoryPages, loadedState } from "../../db/api/evaluation.js";
import type { CustomerState, HistoryEvent, HistoryRequest, Model } from "../../engine/index.js";
import { MemoryRebuild } from "../../engine/index.js";
import type { HistoryCache } from "../../evaluation/history.js";

/** A customer whose evaluation needs history that was not fetched yet. */
export interface WaitingCustomer {
  customer: CustomerInput;
  /** The state to evaluate from again. */
  state: CustomerState;
  history: HistoryCache;
  request: HistoryRequest;
}

/** The answers of one call hold at most this many events together, to bound memory; each may hold PAGE_EVENTS_MIN. */
const CALL_EVENTS_MAX = 5_000;
const PAGE_EVENTS_MIN = 50;

/**
 * Rebuilds each customer's condition memory for a model from its evaluated events. Holds only the events of one millisecond at a time. An
 * error for a customer is thrown by its `state`.
 */
export async function* rebuildMemories(
  tx: TransactionSql,
  environmentId: number,
  model: Model,
  customers: readonly CustomerInput[],
): AsyncGenerator<Rebuilt> {
  if (customers.length === 0) return;
  const remaining = new Map(customers.map((customer) => [customer.customerId, customer]));
  let current: Rebuilt | undefined;
  const { streams, aggregates } = model.registry;
  const names = new Set([...streams.map(({ event }) => event), ...aggregates.flatMap(({ events }) => events)]);
  for await (const row of loadHistory(tx, environmentId, [...remaining.keys()], [...names])) {
    if (current?.customer.customerId !== row.customerId) {
      if (current) yield current;
      const customer = remaining.get(row.customerId);
      if (!customer) throw new Error("the database returned the history of a customer that was not requested");
      remaining.delete(row.customerId);
      current = new Rebuilt(model, customer);
    }
    current.add(row);
  }
  if (current) yield current;
  for (const customer of remaining.values()) yield new Rebuilt(model, customer);
}

/** Rebuilds one customer's condition memory. The database orders events by microseconds, the engine by milliseconds and acceptance. */
class Rebuilt {
  #memory: MemoryRebuild | null = null;
  #millisecond: HistoryEvent[] = [];
  #failure: { error: unknown } | null = null;

  constructor(
    private readonly model: Model,
    readonly customer: CustomerInput,
  ) {}

  add(event: HistoryEvent): void {
    if (this.#millisecond.length > 0 && this.#millisecond[0]!.occurredAt !== event.occurredAt) this.#flush();
    this.#millisecond.push(event);
  }

  /** The state to evaluate from. */
  state(): CustomerState {
    this.#flush();
    if (this.#failure !== null) throw this.#failure.error;
    return this.#memory!.end();
  }

  #flush(): void {
    const events = this.#millisecond.sort((a, b) => a.seq - b.seq);
    this.#millisecond = [];
    if (this.#failure !== null) return;
    try {
      this.#memory ??= new MemoryRebuild(this.model, loadedState(this.customer));
      for (const event of events) this.#memory.add(event);
    } catch (error) {
      this.#failure = { error };
    }
  }
}

/** Fetches the history that customers wait for, or its first page, in one call. */
export async function fetchHistory(tx: TransactionSql, environmentId: number, waiting: readonly WaitingCustomer[]) {
  const requests = waiting.map(({ customer: { customerId }, request }) => ({ customerId, request }));
  const share = Math.floor(CALL_EVENTS_MAX / requests.length);
  const wanted = Math.max(...waiting.map(({ history, request }) => history.pageSize(request)));
  const pageSize = Math.min(wanted, Math.max(PAGE_EVENTS_MIN, share));
  const pages = await loadHistoryPages(tx, environmentId, requests, pageSize);
  for (const [position, { history, request }] of waiting.entries()) history.add(request, pages[position]!);
}
