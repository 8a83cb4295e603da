import { randomBytes } from "node:crypto";
import type { KeyedEvent } from "../lib/events.js";

/** Accounts of the example's product. */
export const CUSTOMERS = 20_000;

const run = randomBytes(6).toString("hex");
let eventCount = 0;

const idOf = (index: number) => `account-${index % CUSTOMERS}`;

/** The first operations of each account: an identify and an event. */
export function beginnings(from: number, count: number): object[] {
  return Array.from({ length: count }, (_, index) => {
    const customerId = idOf(from + index);
    const identify = { type: "identify", customerId, traits: { plan: "trial", seats: 1 + (index % 9) } };
    return [identify, { customerId, event: "signed_up", properties: { source: "self_serve" } }];
  }).flat();
}

/** The next event; accounts take turns, and keys never repeat. */
export function nextEvent(): KeyedEvent {
  eventCount += 1;
  const [event, properties] = USES[eventCount % USES.length]!;
  const at = { timestamp: new Date().toISOString(), idempotencyKey: `${run}-${eventCount}` };
  return { customerId: idOf(eventCount * 7919), event, properties, ...at };
}

/** A typical mix of ten events of a product in use. */
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
