import type { Fault } from "./fault.js";
import { kill } from "./kill.js";

/** The service's process with all that is under way in it. The database goes on, and with it statements whose caller is gone. */
export const serviceKilled: Fault = {
  name: "service killed",
  strike: async ({ service }) => kill(service.pid),
};
