/** The environment of an attack: a service in one process with its embedded database, an attacker, and an observed neighbour. */
import { rm } from "node:fs/promises";
import path from "node:path";
import { DemoApi } from "../src/demo/api.js";
import { Service } from "../src/demo/service/service.js";
import { endServer, openEmbeddedServer } from "../faults/stage/embedded-server.js";
import { openRunDirectory, type RunningProgram } from "../faults/stage/leftovers.js";
import type { Server } from "../faults/stage/server.js";
import { NEIGHBOUR_MODEL } from "./models.js";
import { Observer } from "./observer/observer.js";

export interface Credentials {
  accessToken: string;
  organizationId: string;
}

/** An organization, with its API. */
export interface Tenant {
  credentials: Credentials;
  api: DemoApi;
}

/** A service in one process, with the embedded PostgreSQL in a separate directory. */
export interface RunningService {
  service: Service;
  logFile: string;
  /** How processes of the service ended unexpectedly. */
  ends: string[];
  cluster: Server;
  databaseUrl: string;
  pids: { service: number; postmaster: number };
  /** Creates an organization with its owner. */
  tenant: (slug: string) => Promise<Tenant>;
  /** Aborted when the run is stopped, or the service is lost for good. */
  signal: AbortSignal;
}

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
  return onService("attacks", stop, async (running) => {
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

/** Starts a service for the work, and ends and removes everything in any case. */
export async function onService<T>(
  program: RunningProgram,
  stop: AbortSignal,
  work: (running: RunningService) => Promise<T>,
): Promise<T> {
  const cleanUp: (() => Promise<void>)[] = [];
  const opened = <C>(it: C, close: (it: C) => Promise<void>): C => {
    cleanUp.unshift(() => close(it));
    return it;
  };
  try {
    const directory = opened(await openRunDirectory(program), (it) =>
      rm(it, { recursive: true, force: true, maxRetries: 10 }),
    );
    const dataDir = path.join(directory, "data");
    const logFile = path.join(directory, "service.log");
    // The service stops the server, unless it was killed and had not restarted when the run ended.
    opened(dataDir, endServer);
    const ends: string[] = [];
    const service = opened(
      await Service.start({ dataDir, logFile, onRestart: (how) => void ends.push(how), environment: () => SETTINGS }),
      (it) => it.stop(),
    );
    stop.throwIfAborted();
    const signal = AbortSignal.any([stop, service.lost]);
    const cluster = await openEmbeddedServer(dataDir, signal);
    const postmaster = await cluster.postmaster();
    const tenant = async (slug: string): Promise<Tenant> => {
      const credentials = await service.bootstrap(slug, `owner@${slug}.example`);
      return { credentials, api: new DemoApi({ url: service.url, ...credentials, signal }) };
    };
    return await work({
      service,
      logFile,
      ends,
      cluster,
      databaseUrl: cluster.url(postmaster.port),
      pids: { service: service.pid!, postmaster: postmaster.pid },
      tenant,
      signal,
    });
  } finally {
    for (const step of cleanUp) await step();
  }
}
