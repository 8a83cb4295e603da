import type { Fault } from "./fault.js";
import { kill } from "./kill.js";

/** A worker of several, with the jobs and the deliveries that it has in hand. */
export const workerKilled: Fault = {
  name: "worker killed",
  strike: async ({ worker }) => kill(worker.pid),
};
