/** A generated history of invoice lines: mostly sales, some cancellations, and traits of the customers. */
import type { SimulatedOperation } from "../src/demo/simulate/operations.js";
import { Random } from "../src/demo/simulate/random.js";

export type GeneratedOperation = SimulatedOperation & { single: boolean };

const OPERATIONS_A_CUSTOMER = 25;
/** One customer in this many sends its events one by one, without identifies, which only batches can contain. */
const SINGLE_CUSTOMERS = 20;
const IDENTIFY_CHANCE = 0.025;
const CANCELLED_CHANCE = 0.02;
const FIRST_LINE_AT = Date.UTC(2024, 0, 1);
const LINE_EVERY_MS = 15_000;
const COUNTRIES = ["United Kingdom", "France", "Österreich", "日本"];
const GOODS = ["Lantern", "Teapot “Regency”", "Café sign", "Coat hanger \\ hook"];

/** Generates the same operations for the same seed. */
export function* generate(operations: number, seed: number): Generator<GeneratedOperation> {
  const random = new Random(seed, "history");
  const customers = Math.max(SINGLE_CUSTOMERS, Math.ceil(operations / OPERATIONS_A_CUSTOMER));
  for (let line = 0; line < operations; line++) {
    const customer = random.whole(1, customers);
    const customerId = `customer-${customer}`;
    const single = customer % SINGLE_CUSTOMERS === 0;
    if (!single && random.chance(IDENTIFY_CHANCE)) yield { ...identify(customerId, line, random), single };
    else yield { ...track(customerId, line, random), single };
  }
}

function identify(customerId: string, line: number, random: Random): SimulatedOperation {
  const known = random.chance(0.5) ? { country: random.pick(COUNTRIES) } : { wholesale: random.chance(0.5) };
  return { type: "identify", customerId, traits: { ...known, lines: line } };
}

function track(customerId: string, line: number, random: Random): SimulatedOperation {
  const cancelled = random.chance(CANCELLED_CHANCE);
  const quantity = random.whole(1, 48);
  return {
    type: "track",
    customerId,
    event: cancelled ? "line_cancelled" : "line_sold",
    properties: {
      invoiceNo: String(500_000 + Math.floor(line / 20)),
      stockCode: String(random.whole(10_000, 99_999)),
      ...(random.chance(0.9) ? { description: random.pick(GOODS) } : {}),
      quantity: cancelled ? -quantity : quantity,
      unitPrice: random.whole(1, 2_000) / 100,
      country: random.pick(COUNTRIES),
    },
    timestamp: new Date(FIRST_LINE_AT + line * LINE_EVERY_MS).toISOString(),
    idempotencyKey: `line-${line}`,
  };
}
