import type { Fault } from "./fault.js";
import { kill } from "./kill.js";

/** Kills the service's process with all its work. The database keeps running, and finishes statements whose caller is gone. */
export const serviceKilled: Fault = {
  name: "service killed",
  strike: async ({ service }) => kill(service.pid),
};
