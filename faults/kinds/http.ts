import type { Fault } from "./fault.js";
import { kill } from "./kill.js";

/** A process for requests, of several, with what it was handed. */
export const httpKilled: Fault = {
  name: "HTTP process killed",
  strike: async ({ http }) => kill(http.pid),
};
