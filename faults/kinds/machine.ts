import { clusterKilled } from "./cluster.js";
import type { Fault } from "./fault.js";
import { kill } from "./kill.js";

/** Service and database together, as where a machine stops. */
export const machineKilled: Fault = {
  name: "service and PostgreSQL killed",
  strike: async (target) => {
    await clusterKilled.strike(target);
    kill(target.service.pid);
  },
};
