/** The environment of an attack: a service in one process with its embedded database, an attacker, and an observed neighbour. */
import { onService, type RunningService, type Tenant } from "../faults/stage/one-service.js";
import { NEIGHBOUR_MODEL } from "./models.js";
import { Observer } from "./observer/observer.js";

export interface Stage extends RunningService {
  attacker: Tenant;
  observer: Observer;
}

/** Makes timers of history due during the attack. */
const SETTINGS = { SVC_SETTLE_SECONDS: "1" };

/** The neighbour's project. */
export const NEIGHBOUR = "neighbour";

/** Opens a stage for the work, and ends and removes everything in any case. */
export async function onStage<T>(stop: AbortSignal, work: (stage: Stage) => Promise<T>): Promise<T> {
  return onService({ program: "attacks", settings: SETTINGS, stop }, async (running) => {
    const { service, databaseUrl, pids } = running;
    const attacker = await running.tenant("attacker");
    const { api, credentials } = await running.tenant(NEIGHBOUR);
    const key = await api.createProject(NEIGHBOUR, NEIGHBOUR);
    await api.deploy(NEIGHBOUR, NEIGHBOUR_MODEL);
    const settings = { url: service.url, key, project: NEIGHBOUR, credentials, databaseUrl, pids };
    const observer = await Observer.start(settings);
    try {
      return await work({ ...running, attacker, observer });
    } finally {
      await observer.stop();
    }
  });
}
