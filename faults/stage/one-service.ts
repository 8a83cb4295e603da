/** A service in one process with its embedded database, which a run uses or kills. */
import path from "node:path";
import { DemoApi } from "../../src/demo/api.js";
import { Service } from "../../src/demo/service/service.js";
import { endServer, openEmbeddedServer } from "./embedded-server.js";
import { inRunDirectory, type RunningProgram } from "./leftovers.js";
import type { Server } from "./server.js";

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
  /** How processes of the service ended unexpectedly; it answers again. */
  ends: string[];
  cluster: Server;
  databaseUrl: string;
  pids: { service: number; postmaster: number };
  /** Creates an organization with its owner. */
  tenant: (slug: string) => Promise<Tenant>;
  /** Aborted when the run is stopped, or the service is lost for good. */
  signal: AbortSignal;
}

export interface OneServiceOptions {
  program: RunningProgram;
  /** Variables of the service. */
  settings?: Record<string, string>;
  stop: AbortSignal;
}

/** Starts a service for the work, and ends and removes everything in any case. */
export function onService<T>(
  { program, settings = {}, stop }: OneServiceOptions,
  work: (running: RunningService) => Promise<T>,
): Promise<T> {
  return inRunDirectory(program, async (directory, opened) => {
    const dataDir = path.join(directory, "data");
    const logFile = path.join(directory, "service.log");
    // The service stops the server, unless it was killed and had not restarted when the run ended.
    opened(dataDir, endServer);
    const ends: string[] = [];
    const service = opened(
      await Service.start({ dataDir, logFile, onRestart: (how) => void ends.push(how), environment: () => settings }),
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
    return work({
      service,
      logFile,
      ends,
      cluster,
      databaseUrl: cluster.url(postmaster.port),
      pids: { service: service.pid!, postmaster: postmaster.pid },
      tenant,
      signal,
    });
  });
}
