import type { Random } from "../../src/demo/simulate/random.js";
import type { EmbeddedCluster } from "../cluster.js";

/** What a fault may strike. */
export interface Target {
  /** The service's process, which is brought back when it ends. */
  service: { readonly pid: number | undefined };
  cluster: EmbeddedCluster;
  /** For the choices of a fault. */
  random: Random;
}

/** One kind of fault. A further kind is a file beside this one and an entry of `index.ts`. */
export interface Fault {
  name: string;
  /** Does the damage and returns at once; repairing it is the service's own work, or that of what supervises it. */
  strike: (target: Target) => Promise<void>;
}
