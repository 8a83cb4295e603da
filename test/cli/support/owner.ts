import { afterAll, beforeAll } from "vitest";

import { type Actor, type Reply, type Service, type ServiceOptions, startService } from "../../support/service.js";
import { type Result, type RunOptions, svc } from "./run-svc.js";

/** A service with the owner of its organization acme. */
export interface OwnersService extends Service {
  by: Actor;
  /** Sends a request as the owner. */
  ask(method: string, path: string, body?: unknown): Promise<Reply>;
  /** Runs a command line as the owner. */
  svc(argv: readonly string[], options?: RunOptions): Promise<Result>;
  /** Creates a project with that slug. */
  addProject(slug: string): Promise<Reply>;
}

/** Starts one for all tests of a file. */
export function useOwner(options: () => ServiceOptions = () => ({})): OwnersService {
  const service = {} as OwnersService;
  beforeAll(async () => {
    const started = await startService({}, options());
    const by = await started.owner("acme");
    const ask: OwnersService["ask"] = (method, path, body) => started.request(method, path, { by, body });
    Object.assign(service, started, {
      by,
      ask,
      svc: (argv, run) => svc(argv, { at: started.url, by, ...run }),
      addProject: (slug) => ask("POST", "/projects", { name: slug, slug }),
    } satisfies Partial<OwnersService>);
  });
  afterAll(() => service.stop());
  return service;
}
