import type { Server } from "../stage/server.js";
import type { Fault, Target } from "./fault.js";
import { kill } from "./kill.js";

/** One backend of the service, at work where one is. The postmaster then ends all others and recovers. */
export const backendKilled: Fault = {
  name: "one backend killed",
  strike: ({ server, random }) => killBackend(server, /^svc (http|worker)/, random),
};

/** Ends one backend whose application is called so, at work where one is; none where there is none. */
export async function killBackend(server: Server, called: RegExp, random: Target["random"]): Promise<void> {
  const backends = (await server.processes()).filter(({ application }) => called.test(application));
  const active = backends.filter(({ active }) => active);
  const choice = active.length > 0 ? active : backends;
  if (choice.length > 0) kill(random.pick(choice).pid);
}
