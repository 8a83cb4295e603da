/** The clock of a process, which may be wrong. */
import { pathToFileURL } from "node:url";
import path from "node:path";
import { ROOT } from "../../src/demo/service/service.js";

const PRELOADED = pathToFileURL(path.join(ROOT, "faults", "stage", "shifted-clock.js")).href;

export class Clock {
  /** How far it is ahead, in milliseconds; takes effect at the next start. */
  aheadMs = 0;

  environment(): Record<string, string> {
    return { NODE_OPTIONS: `--import=${PRELOADED}`, FAULTS_CLOCK_AHEAD_MS: String(this.aheadMs) };
  }
}
