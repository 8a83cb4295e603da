import type { AnyCommand } from "./command.js";

/** What commands are about; each has a folder of the same name with a file per verb. */
export const nouns: Readonly<Record<string, string>> = {
  auth: "Who you are to the service",
  config: "Versions of the deployed model",
  customers: "Customers and what was derived of them",
  events: "Product events",
  projects: "Projects of the organization",
  segments: "Segments and their members",
  webhooks: "Endpoints that receive what customers' states emit",
};

type Load = () => Promise<{ default: AnyCommand }>;

const whoami: Load = () => import("./commands/whoami.js");

/** Every command by its path, in the order of the help text. A file is loaded when its command may be meant, and not before. */
export const commands: Readonly<Record<string, Load>> = {
  whoami,
  "auth status": whoami,
  "projects create": () => import("./commands/projects/create.js"),
  validate: () => import("./commands/validate.js"),
  dev: () => import("./commands/dev.js"),
  deploy: () => import("./commands/deploy.js"),
  "config versions": () => import("./commands/config/versions.js"),
  recompute: () => import("./commands/recompute.js"),
  "recompute status": () => import("./commands/recompute/status.js"),
  "recompute list": () => import("./commands/recompute/list.js"),
  "recompute retry": () => import("./commands/recompute/retry.js"),
  overview: () => import("./commands/overview.js"),
  diagnose: () => import("./commands/diagnose.js"),
  "events send": () => import("./commands/events/send.js"),
  "customers list": () => import("./commands/customers/list.js"),
  "customers inspect": () => import("./commands/customers/inspect.js"),
  "customers timeline": () => import("./commands/customers/timeline.js"),
  "customers release": () => import("./commands/customers/release.js"),
  "segments inspect": () => import("./commands/segments/inspect.js"),
  "webhooks create": () => import("./commands/webhooks/create.js"),
  "webhooks list": () => import("./commands/webhooks/list.js"),
  "webhooks deliveries": () => import("./commands/webhooks/deliveries.js"),
};

/** The commands among which the words of a command line choose: those that begin with one of its words, or else those of one word. */
export async function candidates(words: readonly string[]): Promise<[path: string, command: AnyCommand][]> {
  const first = (path: string) => path.split(" ", 1)[0] ?? path;
  const named = Object.keys(commands).filter((path) => words.includes(first(path)));
  const paths = named.length > 0 ? named : Object.keys(commands).filter((path) => first(path) === path);
  return Promise.all(paths.map(async (path) => [path, (await (commands[path] as Load)()).default]));
}
