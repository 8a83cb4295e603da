import type { Api } from "../client/api.js";
import type { Io, Out } from "../output/out.js";
import type { CommandRegistry } from "./registry.js";
import type { Settings } from "./settings.js";

/** What a command works with. */
export interface Context {
  io: Io;
  out: Out;
  settings: Settings;
  api: Api;
  /** What forbids to send anything to a language model, as it was written; null where nothing does. */
  aiForbiddenBy: string | null;
  /** All commands, for those that tell of others: importing them from there would go in a circle. */
  registry: CommandRegistry;
}
