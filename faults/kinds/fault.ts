import type { Random } from "../../src/demo/simulate/random.js";
import type { Clock } from "../stage/clock.js";
import type { Node } from "../stage/citus-cluster.js";
import type { SmallDisk } from "../stage/disk.js";
import type { Relay } from "../stage/relay.js";
import type { Server } from "../stage/server.js";

/** A process that is restarted when it ends. */
export interface Process {
  readonly pid: number | undefined;
}

/** What a fault can strike. */
export interface Target {
  /** The service in one process, with its embedded database unless there is a cluster. */
  service: Process;
  /** Separate processes of the service, in addition to it. */
  http: Process;
  worker: Process;
  clocks: { http: Clock; worker: Clock };
  /** PostgreSQL: the embedded one, or the coordinator of the cluster. */
  server: Server;
  /** The nodes besides the coordinator; none without a cluster. */
  nodes: readonly Node[];
  /** Between the database and the separate processes. */
  network: Relay;
  /** Between the workers and the receiver of webhooks. */
  receiver: Relay;
  /** The disk of the data directory, or why it cannot be filled. */
  disk: SmallDisk | string;
  /** For the choices of a fault. */
  random: Random;
  /** Ends a fault that lasts. */
  signal: AbortSignal;
}

/** One kind of fault. To add one, add a file to this folder and an entry to `index.ts`. */
export interface Fault {
  name: string;
  /** Why it cannot strike here; null if it can. */
  missing?: (target: Target) => string | null;
  /** Causes the fault, and returns when it is over; recovery is up to the service, or to its supervisor. */
  strike: (target: Target) => Promise<void>;
}
