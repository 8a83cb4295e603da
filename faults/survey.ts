/** Surveys a history: the figures that must result in the end, and the model that declares it. */
import { DemoFailure } from "../src/demo/failure.js";
import { DecimalSum } from "../src/engine/decimal.js";
import { SchemaDraft, type Model } from "./model.js";
import type { History } from "./operations.js";

export interface Survey {
  operations: number;
  /** Events with different idempotency keys: as many as the service must store. */
  events: number;
  identifies: number;
  customers: number;
  /** Sums of each property's numbers, over the events with different keys: exact, in decimal notation. */
  sums: Map<string, string>;
  model: Model;
}

interface Payload {
  event?: string;
  properties?: Record<string, unknown>;
  traits?: Record<string, unknown>;
}

/** Reads the history once. Throws a DemoFailure if no strict model can declare it. */
export async function survey(history: History): Promise<Survey> {
  const keys = new Set<string>();
  const customers = new Set<string>();
  const sums = new Map<string, DecimalSum>();
  const schema = new SchemaDraft();
  let operations = 0;
  let identifies = 0;
  for await (const { customerId, key, json } of history.read()) {
    operations++;
    customers.add(customerId);
    const { event = "", properties = {}, traits = {} } = JSON.parse(json) as Payload;
    if (key === null) {
      identifies++;
      schema.addTraits(traits, `the traits of ${customerId}`);
    } else if (!keys.has(key)) {
      keys.add(key);
      schema.addEvent(event, properties, key);
      addNumbers(sums, properties);
    }
  }
  const model = schema.model();
  if (model === null) throw new DemoFailure(`${history.title} has no events`, 2);
  return {
    operations,
    events: keys.size,
    identifies,
    customers: customers.size,
    sums: new Map([...sums].map(([property, sum]) => [property, inDecimals(sum)])),
    model,
  };
}

function addNumbers(sums: Map<string, DecimalSum>, properties: Record<string, unknown>): void {
  for (const [property, value] of Object.entries(properties)) {
    if (typeof value !== "number") continue;
    let sum = sums.get(property);
    if (sum === undefined) sums.set(property, (sum = new DecimalSum()));
    sum.add(value);
  }
}

/** The sum as PostgreSQL writes a numeric without trailing zeros. */
function inDecimals(sum: DecimalSum): string {
  const { units, scale } = sum.toMemory();
  const [, sign = "", digits = ""] = /^(-?)(\d+)$/.exec(BigInt(units).toString()) ?? [];
  const padded = digits.padStart(scale + 1, "0");
  const whole = padded.slice(0, padded.length - scale);
  return scale === 0 ? `${sign}${whole}` : `${sign}${whole}.${padded.slice(-scale)}`;
}
