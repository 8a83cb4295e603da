import type { Fault } from "./fault.js";
import { kill } from "./kill.js";

const MINUTE = 60_000;
/** Some exceed the five minutes that receivers tolerate, some a month. */
const AHEAD_MS = [-40 * 24 * 60, -60, -6, 6, 60, 40 * 24 * 60].map((minutes) => minutes * MINUTE);

/** Restarts one of the processes with another time of day than the others and the database. */
export const clockShifted: Fault = {
  name: "clock shifted",
  strike: async ({ http, worker, clocks, random }) => {
    const [process, clock] = random.chance(0.5) ? [http, clocks.http] : [worker, clocks.worker];
    clock.aheadMs = random.pick(AHEAD_MS);
    kill(process.pid);
  },
};
