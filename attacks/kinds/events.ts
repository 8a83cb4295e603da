/** Floods of events. */
import { DemoFailure } from "../../src/demo/failure.js";
import { flood } from "../flood.js";
import { HARMLESS } from "../models.js";
import type { Attack } from "./attack.js";
import { inProject, requireDeployed, type Event } from "./project.js";

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
      // Without idempotency keys each is accepted again; bodies are prepared, so that the flood spends no time on making them.
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

/** The limit of the default plan. */
const KEYS = 100;

/** The service coalesces single events by key, so each key needs separate calls. */
const SINGLES_OF_MANY_KEYS: Attack = {
  name: "many-keys",
  what: `single events from 200 senders with ${KEYS} keys`,
  prepare: async (ground) => {
    await requireDeployed(ground, HARMLESS);
    const keys = [ground.key];
    const { signal } = ground.stage;
    while (keys.length < KEYS) {
      const outgoing = {
        method: "POST",
        path: inProject(ground, "keys"),
        body: { name: "One of many" },
      } as const;
      const { status, text } = await ground.sender.manage(outgoing, signal);
      if (status !== 201) throw new DemoFailure(`no key was created: ${status} ${text}`);
      keys.push((JSON.parse(text) as { secret: string }).secret);
    }
    return (signal) =>
      flood({ lanes: 200, signal }, (index) => {
        const body: Event = { customerId: `c${index % CUSTOMERS}`, event: "seen" };
        return ground.sender.ingest(keys[index % KEYS]!, { path: "/v1/events", body }, signal);
      });
  },
};

export const EVENTS: readonly Attack[] = [
  batches("batches", "batches of 1,000 events from 8 senders", { lanes: 8, valueLength: 20 }),
  batches("large-batches", "batches of 30 MB from 3 senders", { lanes: 3, valueLength: 30_000 }),
  SINGLES_OF_MANY_KEYS,
];
