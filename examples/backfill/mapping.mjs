// What a row of the source is to the service: the file to edit. This one is for orders.csv, and for the model of examples/retail.
import { instant, number, text } from "./lib/columns.mjs";

/**
 * One operation for one row, or null where the row is nothing that the service should know. Must give the same for the same row, whenever
 * it is called: no "now", no random number, no position in the file.
 */
export function toOperation(row) {
  return {
    customerId: text(row, "customer_id"),
    event: number(row, "amount") < 0 ? "order_cancelled" : "order_placed",
    properties: {
      invoiceNo: text(row, "invoice_no"),
      lines: number(row, "lines"),
      units: number(row, "units"),
      amount: number(row, "amount"),
      country: text(row, "country"),
    },
    timestamp: instant(row, "placed_at"),
    // The primary key of the row, with the table in front: what is counted in another table may have the same number.
    idempotencyKey: `shop/orders/${text(row, "invoice_no")}`,
  };
}
