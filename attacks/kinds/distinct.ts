/** A model that must remember too much of one customer. */
import { untilAborted } from "../flood.js";
import { DISTINCT } from "../models.js";
import type { Attack } from "./attack.js";
import { deploy, sendBatch } from "./project.js";

const EVENTS = 12_000;
const BATCH = 1_000;

export const DISTINCT_VALUES: Attack = {
  name: "distinct",
  what: `400 windowed distinct conditions, and ${EVENTS} events of one customer, each with a different value`,
  prepare: async (ground) => async (signal) => {
    await deploy(ground, DISTINCT, signal);
    for (let from = 0; from < EVENTS; from += BATCH) {
      const events = Array.from({ length: BATCH }, (_, index) => ({
        customerId: "c",
        event: "seen" as const,
        properties: { value: `value-${from + index}` },
      }));
      await sendBatch(ground, events, signal);
    }
    await untilAborted(signal);
  },
};
