import type { Snapshot } from "../../../src/model/snapshot/types.js";
import { snapshot } from "../../support/service.js";

const DAY = 86_400_000;
const CUSTOMERS = 30;
const WEEKS = 20;

const recent = { kind: "daysSince", which: "last", of: { event: "login" } } as const;
const quiet = { ...recent, operator: "gt", value: 10 } as const;

/** A model that scores how long customers have been quiet, with another event of this name. @param weight of the component for earlier activity */
export function foreseeing(event: string, weight: number): Snapshot {
  return snapshot({
    strictSchema: false,
    events: { login: { properties: { seats: { type: "number" } } }, [event]: { properties: {} } },
    segments: [{ id: "quiet", when: quiet }],
    signals: [{ id: "call", severity: "warning", when: quiet }],
    health: {
      components: [
        { id: "recency", weight: 3, score: { kind: "scale", of: recent, from: 30, to: 0 } },
        {
          id: "volume",
          weight,
          score: { kind: "scale", of: { kind: "count", of: { event: "login" } }, from: 0, to: 20 },
        },
      ],
      bands: [
        { id: "good", from: 60 },
        { id: "bad", from: 0 },
      ],
    },
  });
}

/** Customers over some months until now: every second one logs in each week, the others stop after some weeks. */
export function pastOf(now: number): Record<string, unknown>[] {
  return Array.from({ length: CUSTOMERS }, (_, customer) => {
    const weeks = customer % 2 === 0 ? WEEKS : 2 + (customer % 7);
    return Array.from({ length: weeks }, (_, week) => ({
      customerId: `customer-${customer}`,
      event: "login",
      properties: { seats: 1 },
      timestamp: new Date(now - (WEEKS - week) * 7 * DAY).toISOString(),
    }));
  }).flat();
}
