import { randomBytes } from "node:crypto";
import type { KeyedEvent } from "../lib/events.js";

/** Accounts of the example's product, each signed up, on a plan. */
export const CUSTOMERS = 20_000;

const run = randomBytes(6).toString("hex");
let made = 0;

const idOf = (index: number) => `account-${index % CUSTOMERS}`;

/** What each did first: an identify and an event. */
export function beginnings(from: number, count: number): object[] {
  return Array.from({ length: count }, (_, index) => {
    const customerId = idOf(from + index);
    const identify = { type: "identify", customerId, traits: { plan: "trial", seats: 1 + (index % 9) } };
    return [identify, { customerId, event: "signed_up", properties: { source: "self_serve" } }];
  }).flat();
}

/** The next event of an account; they take turns, keys never repeat. */
export function nextEvent(): KeyedEvent {
  made += 1;
  const [event, properties] = USES[made % USES.length]!;
  const at = { timestamp: new Date().toISOString(), idempotencyKey: `${run}-${made}` };
  return { customerId: idOf(made * 7919), event, properties, ...at };
}

/** Of ten events, as they are in a product that is used. */
const USES: readonly [event: string, properties: KeyedEvent["properties"]][] = [
  ["login", { method: "password" }],
  ["feature_used", { feature: "board" }],
  ["login", { method: "sso", mobile: true }],
  ["feature_used", { feature: "timeline" }],
  ["project_created", { source: "web", seats: 3 }],
  ["login", { method: "password" }],
  ["feature_used", { feature: "api" }],
  ["report_exported", { format: "pdf", rows: 120 }],
  ["feature_used", { feature: "dashboard" }],
  ["member_invited", { role: "editor" }],
];
