import { setTimeout as delay } from "node:timers/promises";
import type { Fault } from "./fault.js";

/** For a while nothing can be written, neither to tables nor to the write-ahead log. */
export const diskFull: Fault = {
  name: "disk full",
  missing: ({ disk }) => (typeof disk === "string" ? disk : null),
  strike: async ({ disk, random, signal }) => {
    if (typeof disk === "string") throw new Error(disk);
    try {
      await disk.fill();
      await delay(random.between(500, 3_000), undefined, { signal });
    } finally {
      await disk.free();
    }
  },
};
