// Amounts are in pounds. Two levels of detail can be sent, orders or their lines, or both: the lines say what was bought.
import { event, number, string } from "svc-success";

const order = {
  invoiceNo: string(),
  lines: number(),
  units: number(),
  amount: number(),
  country: string(),
};

const line = {
  invoiceNo: string(),
  stockCode: string(),
  description: string(),
  quantity: number(),
  unitPrice: number(),
  country: string(),
};

export const orderPlaced = event("order_placed", order);

/** An order, or a part of one, was taken back: units and amount are negative. */
export const orderCancelled = event("order_cancelled", order);

export const lineSold = event("line_sold", line);

/** Quantity is negative. */
export const lineCancelled = event("line_cancelled", line);
