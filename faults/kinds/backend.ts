import type { Fault } from "./fault.js";
import { kill } from "./kill.js";

/** One backend of the service, at work where one is. The postmaster then ends all others and recovers. */
export const backendKilled: Fault = {
  name: "one backend killed",
  strike: async ({ server, random }) => {
    const backends = (await server.processes()).filter(({ application }) => /^svc (http|worker)/.test(application));
    const active = backends.filter(({ active }) => active);
    const choice = active.length > 0 ? active : backends;
    if (choice.length > 0) kill(random.pick(choice).pid);
  },
};
