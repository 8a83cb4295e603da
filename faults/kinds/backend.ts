import type { Server } from "../stage/server.js";
import type { Fault, Target } from "./fault.js";
import { kill } from "./kill.js";

/** Kills one backend of the service, an active one if possible. The postmaster then ends all others and recovers. */
export const backendKilled: Fault = {
  name: "one backend killed",
  strike: ({ server, random }) => killBackend(server, /^svc (http|worker)/, random),
};

/** Kills one backend, if any, whose application name matches; an active one if possible. */
export async function killBackend(server: Server, name: RegExp, random: Target["random"]): Promise<void> {
  const backends = (await server.processes()).filter(({ application }) => name.test(application));
  const active = backends.filter(({ active }) => active);
  const choice = active.length > 0 ? active : backends;
  if (choice.length > 0) kill(random.pick(choice).pid);
}
