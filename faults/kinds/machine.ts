import { clusterKilled } from "./cluster.js";
import type { Fault } from "./fault.js";
import { kill } from "./kill.js";

/** Kills service and database together, as if a machine stopped. */
export const machineKilled: Fault = {
  name: "service and PostgreSQL killed",
  strike: async (target) => {
    await clusterKilled.strike(target);
    kill(target.service.pid);
  },
};
