import type { Api } from "./api.js";
import type { Io } from "./io.js";
import type { Out } from "./out.js";
import type { Settings } from "./settings.js";

/** What a command works with. */
export interface Context {
  io: Io;
  out: Out;
  settings: Settings;
  api: Api;
}
