import type { Fault } from "./fault.js";
import { kill } from "./kill.js";

/** Kills one of several HTTP processes, with its requests. */
export const httpKilled: Fault = {
  name: "HTTP process killed",
  strike: async ({ http }) => kill(http.pid),
};
