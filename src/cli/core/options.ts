import type { Options } from "./command.js";
import { ENVIRONMENTS } from "./settings.js";

/** Options that every command takes. */
export const sharedOptions = {
  directory: { type: "text", describe: "The project's directory; the current one unless given" },
  env: {
    type: "text",
    choices: ENVIRONMENTS,
    describe: "The environment: test or live; unless given, the project's default, or test",
  },
  json: { type: "flag", describe: "Print one JSON document, also for errors" },
  noColor: { type: "flag", describe: "Print without colours; so does the variable NO_COLOR" },
  debug: { type: "flag", describe: "Show stack traces" },
  noAi: { type: "flag", describe: "Ask no language model: svc ai tells facts only; so does SVC_NO_AI=1" },
} as const satisfies Options;

/** Options of commands that are about a project. */
export const projectOptions = {
  project: { type: "text", describe: "The project's slug; unless given, that of .kite/config.json" },
} as const satisfies Options;

/** Options of commands that list a part at a time. */
export const pageOptions = {
  limit: { type: "integer", min: 1, max: 10_000, default: 50, describe: "How many to show" },
  cursor: { type: "text", describe: "Go on where the page before ended" },
} as const satisfies Options;

/** Options of commands whose facts a language model may be asked about. */
export const aiOptions = {
  ...projectOptions,
  model: {
    type: "text",
    describe: "The language model or deployment to ask; unless given, the one the operator chose",
  },
  output: { type: "text", describe: "Write to this file too, which must not be there yet" },
  showContext: { type: "flag", describe: "Print exactly what would be sent, and send nothing" },
} as const satisfies Options;

/** The same of commands about a customer. */
export const customerAiOptions = {
  ...aiOptions,
  allow: {
    type: "list",
    describe: "A trait or property whose texts and dates may be sent too; may be given several times",
  },
} as const satisfies Options;

export const yesOption = {
  yes: { type: "flag", alias: "y", describe: "Do not ask for confirmation" },
} as const satisfies Options;

export const noWaitOption = {
  noWait: { type: "flag", describe: "Do not wait for the end: return once it is queued" },
} as const satisfies Options;

export const forceOption = {
  force: { type: "flag", describe: "Go on despite data that this would strand" },
} as const satisfies Options;
