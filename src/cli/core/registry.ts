import type { AnyCommand, ListedCommand } from "./command.js";

/** What commands are about; each has a folder of the same name with a file per verb. */
export const nouns: Readonly<Record<string, string>> = {
  ai: "Facts, and what a language model makes of them",
  auth: "Who you are to the service",
  config: "Versions of the deployed model",
  customers: "Customers and what was derived of them",
  events: "Product events",
  health: "Health scores",
  journeys: "Customers' progress in journeys",
  keys: "Ingestion keys of an environment",
  projects: "Projects of the organization",
  rules: "What rules did",
  segments: "Segments and their members",
  webhooks: "Endpoints that receive what customers' states emit",
};

/** Every command, in the order of the help text. */
export const commands: readonly ListedCommand[] = [
  listed("whoami", "Show the user, the organization and the API", () => import("../commands/whoami.js")),
  listed(
    "init",
    "Create a project, and a starter for it in an empty directory",
    () => import("../commands/init/init.js"),
  ),
  listed("validate", "Check the local model; deploys nothing", () => import("../commands/validate.js")),
  listed(
    "dev",
    "Run the local model in memory and try it with events; no database, no key",
    () => import("../commands/dev/dev.js"),
  ),
  listed(
    "deploy",
    "Validate the local model and deploy it as a new version",
    () => import("../commands/deploy/deploy.js"),
  ),
  listed(
    "recompute",
    "Read history again under the active model, or only tell what that would change",
    () => import("../commands/recompute/recompute.js"),
  ),
  listed(
    "recompute status <recomputeId>",
    "Show how far a recompute is, and what came of it so far",
    () => import("../commands/recompute/status.js"),
  ),
  listed(
    "recompute list",
    "List recomputes and dry runs, the newest first",
    () => import("../commands/recompute/list.js"),
  ),
  listed(
    "recompute retry <recomputeId>",
    "Go on with a recompute that was given up after it failed too often",
    () => import("../commands/recompute/retry.js"),
  ),
  listed(
    "types",
    "Print TypeScript types of the active model's events and traits",
    () => import("../commands/types/types.js"),
  ),
  listed(
    "overview",
    "Show the lifecycle's funnel, the segments' sizes and the totals",
    () => import("../commands/overview.js"),
  ),
  listed(
    "diagnose",
    "Check configuration and data for common problems; finding some is no failure",
    () => import("../commands/diagnose.js"),
  ),
  listed(
    "completion <shell>",
    "Print a script that completes command lines in bash, zsh or fish",
    () => import("../commands/completion/completion.js"),
  ),
  listed("ai model-success", "Draft a model from guided questions", () => import("../commands/ai/model-success.js")),
  listed(
    "ai suggest-events",
    "Show which events are used, missing or unknown, and what to send next",
    () => import("../commands/ai/suggest-events.js"),
  ),
  listed("ai explain-config", "Explain the local model", () => import("../commands/ai/explain-config.js")),
  listed(
    "ai debug-customer <customerId>",
    "Diagnose a customer: state, history, runs of rules, and what is wrong",
    () => import("../commands/ai/debug-customer.js"),
  ),
  listed(
    "ai why-not-activated <customerId>",
    "Show which conditions a customer lacks to be activated",
    () => import("../commands/ai/why-not-activated.js"),
  ),
  listed(
    "ai generate-instrumentation-plan",
    "Write what to send from where, with examples for a framework",
    () => import("../commands/ai/generate-instrumentation-plan.js"),
  ),
  listed("auth login", "Sign in at a browser", () => import("../commands/auth/login.js")),
  listed("auth status", "The same as svc whoami", () => import("../commands/whoami.js")),
  listed("auth logout", "End the session, here and at the service", () => import("../commands/auth/logout.js")),
  listed(
    "config versions",
    "List the deployed versions and where each is active",
    () => import("../commands/config/versions.js"),
  ),
  listed(
    "config activations",
    "List which version became active when, and by whom",
    () => import("../commands/config/activations.js"),
  ),
  listed(
    "config diff [from] [to]",
    "Compare two versions, or the local model with the latest one",
    () => import("../commands/config/diff.js"),
  ),
  listed(
    "config promote",
    "Make a version that was active in test the active one of live",
    () => import("../commands/config/promote.js"),
  ),
  listed(
    "config rollback",
    "Make a version active again that was active before",
    () => import("../commands/config/rollback.js"),
  ),
  listed(
    "config pull",
    "Download a deployed version, to read; never touches the model's sources",
    () => import("../commands/config/pull.js"),
  ),
  listed("customers list", "List customers", () => import("../commands/customers/list.js")),
  listed(
    "customers inspect <customerId>",
    "Show a customer's computed state",
    () => import("../commands/customers/inspect.js"),
  ),
  listed(
    "customers timeline <customerId>",
    "Show what happened to a customer's state",
    () => import("../commands/customers/timeline.js"),
  ),
  listed(
    "customers export <customerId>",
    "Write everything that is held about a customer, as one JSON document",
    () => import("../commands/customers/export.js"),
  ),
  listed(
    "customers erase <customerId>",
    "Erase everything that is held about a customer, for good",
    () => import("../commands/customers/erase.js"),
  ),
  listed(
    "customers release",
    "Evaluate customers again that were set aside because their evaluation failed",
    () => import("../commands/customers/release.js"),
  ),
  listed("events send <event>", "Send one event", () => import("../commands/events/send.js")),
  listed("events list", "List events, the newest first", () => import("../commands/events/list.js")),
  listed("events tail", "Show events as they are accepted", () => import("../commands/events/tail.js")),
  listed(
    "health explain <customerId>",
    "Show what a customer's health score is made of",
    () => import("../commands/health/explain.js"),
  ),
  listed(
    "journeys inspect <customerId> <journeyId>",
    "Show a customer's progress in a journey, and how long its steps took",
    () => import("../commands/journeys/inspect.js"),
  ),
  listed("keys list", "List the keys of an environment, the newest first", () => import("../commands/keys/list.js")),
  listed("keys create", "Add a key to an environment and print it, once", () => import("../commands/keys/create.js")),
  listed(
    "keys rotate <keyId>",
    "Replace a key by a new one and print that, once; the old one works for a while",
    () => import("../commands/keys/rotate.js"),
  ),
  listed("keys revoke <keyId>", "End a key at once", () => import("../commands/keys/revoke.js")),
  listed("projects list", "List the projects of the organization", () => import("../commands/projects/list.js")),
  listed(
    "projects create",
    "Create a project and print its API keys, once",
    () => import("../commands/projects/create.js"),
  ),
  listed("rules logs", "Show when rules ran and how that ended", () => import("../commands/rules/logs.js")),
  listed(
    "segments inspect <segmentId>",
    "Show a segment's size and its members",
    () => import("../commands/segments/inspect.js"),
  ),
  listed("webhooks list", "List webhooks", () => import("../commands/webhooks/list.js")),
  listed(
    "webhooks create",
    "Create a webhook and print its signing secret, once",
    () => import("../commands/webhooks/create.js"),
  ),
  listed(
    "webhooks update <webhookId>",
    "Change, disable or enable a webhook",
    () => import("../commands/webhooks/update.js"),
  ),
  listed(
    "webhooks delete <webhookId>",
    "Delete a webhook, with all its deliveries",
    () => import("../commands/webhooks/delete.js"),
  ),
  listed(
    "webhooks test <webhookId>",
    "Send a test message to a webhook, and show what it answered",
    () => import("../commands/webhooks/test.js"),
  ),
  listed(
    "webhooks deliveries <webhookId>",
    "Show what was delivered to a webhook",
    () => import("../commands/webhooks/deliveries.js"),
  ),
  listed(
    "webhooks resend <webhookId> [deliveryId]",
    "Send a delivery again, or what failed in a span of time",
    () => import("../commands/webhooks/resend.js"),
  ),
  listed(
    "webhooks rotate-secret <webhookId>",
    "Replace the signing secret and print the new one, once; the old one signs too for a while",
    () => import("../commands/webhooks/rotate-secret.js"),
  ),
];

function listed(usage: string, describe: string, load: () => Promise<{ default: AnyCommand }>): ListedCommand {
  const words = usage.split(" ");
  const isArgument = (word: string) => /^[<[]/.test(word);
  return {
    path: words.filter((word) => !isArgument(word)).join(" "),
    args: words.filter(isArgument).join(" "),
    describe,
    load: async () => (await load()).default,
  };
}

/** The commands that a command line may mean: those whose words it has in their order. */
export function candidates(argv: readonly string[]): ListedCommand[] {
  return commands.filter(({ path }) => {
    let from = 0;
    return path.split(" ").every((word) => (from = argv.indexOf(word, from) + 1) > 0);
  });
}
