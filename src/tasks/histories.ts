import type { TransactionSql } from "postgres";
import { loadHistory, type CustomerInput } from "../db/calls-evaluation.js";
import type { HistoryEvent } from "../engine/index.js";

export interface CustomerHistory {
  customer: CustomerInput;
  /** In order of occurrence and acceptance. */
  events: HistoryEvent[];
}

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
      if (current) yield current;
      const customer = remaining.get(row.customerId);
      if (!customer) throw new Error("the database answered the history of a customer that was not asked for");
      remaining.delete(row.customerId);
      current = { customer, events: [] };
    }
    current.events.push(row);
  }
  if (current) yield current;
  for (const customer of remaining.values()) yield { customer, events: [] };
}
