/** What an attack is. */
import type { Sender } from "../sender.js";
import type { Stage } from "../stage.js";
import type { Tally } from "../tally.js";

/** What one attack gets: the stage, and a project of its own in the attacker's organization, in environment test. */
export interface Ground {
  stage: Stage;
  project: string;
  key: string;
  sender: Sender;
  tally: Tally;
}

/** Goes on until the signal is aborted, or ends by itself once nothing is left to do; may be called again then. */
export type Strike = (signal: AbortSignal) => Promise<void>;

export interface Attack {
  /** As it is named on the command line. */
  name: string;
  /** In one line. */
  what: string;
  /** Makes ready what is harmless and takes time: customers, bodies. Answers what is done then. */
  prepare(ground: Ground): Promise<Strike>;
}
