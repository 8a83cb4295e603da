/** The definition of an attack. */
import type { Sender } from "../sender.js";
import type { Stage } from "../stage.js";
import type { Tally } from "../tally.js";

/** The context of one attack: the stage, and a separate project in the attacker's organization, environment test. */
export interface Ground {
  stage: Stage;
  project: string;
  key: string;
  sender: Sender;
  tally: Tally;
}

/** Runs until the signal is aborted, or ends by itself once there is nothing left to do; can then be called again. */
export type Strike = (signal: AbortSignal) => Promise<void>;

export interface Attack {
  /** Its name on the command line. */
  name: string;
  /** Description in one line. */
  what: string;
  /** Prepares what is harmless and takes time: customers, bodies. Returns the attack itself. */
  prepare(ground: Ground): Promise<Strike>;
}
