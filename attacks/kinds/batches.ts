/** Floods of batches. */
import { flood } from "../flood.js";
import { HARMLESS } from "../models.js";
import type { Attack } from "./attack.js";
import { requireDeployed, type Event } from "./project.js";

const BATCH = 1_000;
const CUSTOMERS = 20_000;

interface BatchesOptions {
  lanes: number;
  valueLength: number;
}

function batches(name: string, what: string, { lanes, valueLength }: BatchesOptions): Attack {
  return {
    name,
    what,
    prepare: async (ground) => {
      await requireDeployed(ground, HARMLESS);
      // Without idempotency keys each is taken anew; what is written is ready, so that the flood takes no time to make.
      const bodies = Array.from(
        { length: Math.ceil(CUSTOMERS / BATCH / (valueLength > 1_000 ? 10 : 1)) },
        (_, body) => {
          const value = "v".repeat(valueLength);
          const events = Array.from({ length: BATCH }, (_, index): Event => {
            return { customerId: `c${body * BATCH + index}`, event: "seen", properties: { value } };
          });
          return Buffer.from(JSON.stringify({ events }));
        },
      );
      return (signal) =>
        flood({ lanes, signal }, (index) =>
          ground.sender.ingest(ground.key, { path: "/v1/events/batch", body: bodies[index % bodies.length]! }, signal),
        );
    },
  };
}

export const BATCHES: readonly Attack[] = [
  batches("batches", "batches of 1,000 events from 8 senders", { lanes: 8, valueLength: 20 }),
  batches("large-batches", "batches of 30 MB from 3 senders", { lanes: 3, valueLength: 30_000 }),
];
