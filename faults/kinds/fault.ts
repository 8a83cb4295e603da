import type { Random } from "../../src/demo/simulate/random.js";
import type { Clock } from "../stage/clock.js";
import type { Node } from "../stage/citus-cluster.js";
import type { SmallDisk } from "../stage/disk.js";
import type { Relay } from "../stage/relay.js";
import type { Server } from "../stage/server.js";

/** A process that is brought back when it ends. */
export interface Process {
  readonly pid: number | undefined;
}

/** What a fault may strike. */
export interface Target {
  /** Everything in one process, with the database that it keeps, if it is not one of a cluster. */
  service: Process;
  /** More of the service, in processes of their own beside it. */
  http: Process;
  worker: Process;
  clocks: { http: Clock; worker: Clock };
  /** PostgreSQL: the embedded one, or the coordinator of the cluster. */
  server: Server;
  /** The nodes beside the coordinator; none where there is no cluster. */
  nodes: readonly Node[];
  /** Between the database and the processes beside the service. */
  network: Relay;
  /** Between the workers and the receiver of webhooks. */
  receiver: Relay;
  /** What the data directory lies on, or why that cannot be filled. */
  disk: SmallDisk | string;
  /** For the choices of a fault. */
  random: Random;
  /** Ends a fault that lasts. */
  signal: AbortSignal;
}

/** One kind of fault. A further kind is a file beside this one and an entry of `index.ts`. */
export interface Fault {
  name: string;
  /** Why it cannot strike here; null where it can. */
  missing?: (target: Target) => string | null;
  /** Does the damage, and returns when there is nothing more to come of it; repairing is the service's own work, or that of what supervises it. */
  strike: (target: Target) => Promise<void>;
}
