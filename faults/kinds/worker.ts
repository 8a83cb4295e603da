import type { Fault } from "./fault.js";
import { kill } from "./kill.js";

/** Kills one of several workers, with its jobs and deliveries. */
export const workerKilled: Fault = {
  name: "worker killed",
  strike: async ({ worker }) => kill(worker.pid),
};
