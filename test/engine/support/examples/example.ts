import type { Snapshot } from "../../../../src/model/snapshot/types.js";
import type { Outcome, ReplayOutcome, Step } from "../live.js";

/** A worked example: a tiny model, what happens, and what must be seen at each look, at the end and of each replay. */
export interface Example {
  name: string;
  snapshot: Snapshot;
  steps: Step[];
  looks?: Record<string, Outcome>;
  end: Outcome;
  replays?: ReplayOutcome[];
}
