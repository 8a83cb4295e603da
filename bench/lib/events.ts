import { randomBytes } from "node:crypto";
import type { Snapshot } from "../../src/model/snapshot/types.js";

export interface KeyedEvent {
  customerId: string;
  event: string;
  properties: Record<string, string | number | boolean>;
  timestamp: string;
  idempotencyKey: string;
}

const FEATURES = ["reports", "board", "automation", "search", "api"];
let eventCount = 0;
const run = randomBytes(6).toString("hex");

/** The next events of a stream in which customers take turns; keys never repeat, also across runs. */
export function nextEvents(count: number, customers = 20_000): KeyedEvent[] {
  return Array.from({ length: count }, () => {
    eventCount += 1;
    return {
      customerId: `customer-${(eventCount * 7919) % customers}`,
      event: "feature_used",
      properties: {
        feature: FEATURES[eventCount % FEATURES.length] ?? "",
        seconds: eventCount % 600,
        firstTime: eventCount % 50 === 0,
      },
      timestamp: new Date(Date.now() - (eventCount % 200) * 1_000).toISOString(),
      idempotencyKey: `${run}-${eventCount}`,
    };
  });
}

/** The benchmarks' events; the schema is strict, so that its check is measured too. */
export const EVENTS: Snapshot["events"] = {
  feature_used: {
    properties: {
      feature: { type: "string", enum: FEATURES },
      seconds: { type: "number" },
      firstTime: { type: "boolean" },
      note: { type: "string", optional: true },
    },
  },
};

/** The model that the benchmarks deploy. */
export const SNAPSHOT: Snapshot = {
  formatVersion: 1,
  strictSchema: true,
  events: EVENTS,
  traits: {},
  lifecycle: {
    initial: "new",
    states: [
      {
        name: "new",
        transitions: [
          {
            to: "active",
            when: { kind: "count", of: { event: "feature_used" }, within: "30d", operator: "gte", value: 5 },
          },
        ],
      },
      { name: "active", transitions: [{ to: "quiet", when: { kind: "inactiveFor", duration: "21d" } }] },
      { name: "quiet", transitions: [{ to: "active", when: { kind: "activeWithin", duration: "3d" } }] },
    ],
  },
  journeys: [],
  segments: [
    {
      id: "power_users",
      when: {
        kind: "count",
        of: { event: "feature_used", where: { kind: "compare", property: "seconds", operator: "gte", value: 60 } },
        within: "7d",
        operator: "gte",
        value: 20,
      },
    },
  ],
  health: null,
  rules: [],
  signals: [],
};
