import type { AnyCommand, ListedCommand } from "./command.js";

/** The nouns that commands begin with; each has a file or a folder of the same name. */
export const nouns: Readonly<Record<string, string>> = {
  ai: "Facts, and a language model's explanation of them",
  auth: "Signing in and out",
  config: "Versions of the deployed model",
  customers: "Customers and their computed states",
  emissions: "Changes and rule events that evaluation emitted",
  events: "Product events",
  health: "Health scores",
  invitations: "Invitations to the organization",
  journeys: "Customers' progress in journeys",
  keys: "Ingestion keys of an environment",
  members: "Members of the organization",
  organization: "The organization",
  projects: "Projects of the organization",
  rules: "Runs of rules",
  segments: "Segments and their members",
  signals: "Raised signals",
  tokens: "Access tokens of the organization, for pipelines and scripts",
  webhooks: "Endpoints that receive emissions",
};

/** Every command with its arguments and description, in the order of the help text. */
const USAGES: Readonly<Record<string, string>> = {
  whoami: "Show the user, the organization and the API",
  console: "Open the console in a browser, signed in as you are here",
  init: "Create a project, and a starter model for it in an empty directory",
  validate: "Check the local model; deploys nothing",
  dev: "Run the local model in memory and try it with events; needs no database and no key",
  deploy: "Validate the local model and deploy it as a new version",
  backtest: "Test on past data whether a model predicts an outcome; changes nothing",
  recompute: "Replay history under the active model, or only show what that would change",
  "recompute status <recomputeId>": "Show the progress of a recompute and its results so far",
  "recompute list": "List recomputes and dry runs, newest first",
  "recompute retry <recomputeId>": "Resume a recompute that was given up after too many failures, or cancelled",
  "recompute cancel <recomputeId>": "End a recompute before all of its customers are done",
  types: "Print TypeScript types of the active model's events and traits",
  overview: "Show the lifecycle's funnel, the segments' sizes and the totals",
  "trends [what]": "Show how an environment developed, by day, week or month",
  diagnose: "Check configuration and data for common problems; findings are no failure",
  mcp: "Serve facts to an assistant, such as Claude Desktop or Cursor, which starts this command",
  "completion <shell>": "Print a completion script for bash, zsh or fish",
  audit: "Show what was changed in the organization, and by whom",
  usage: "Show what the organization has used of its plan",
  "ai model-success": "Draft a model from guided questions",
  "ai suggest-events": "Show which events are used, missing or unknown, and what to send next",
  "ai explain-config": "Explain the local model",
  "ai debug-customer <customerId>": "Diagnose a customer: state, history, runs of rules, and problems found",
  "ai why-not-activated <customerId>": "Show which unmet conditions keep a customer from being activated",
  "ai generate-instrumentation-plan": "Write a plan of what to send from where, with examples for a framework",
  "auth login": "Sign in with a browser",
  "auth status": "The same as svc whoami",
  "auth logout": "End the session, here and on the service",
  "config versions": "List the deployed versions and where each is active",
  "config activations": "List which version became active when, and by whom",
  "config diff [from] [to]": "Compare two versions, or the local model with the latest one",
  "config promote": "Make a version that was active in test the active one of live",
  "config rollback": "Make a version active again that was active before",
  "config pull": "Download a deployed version for reading; never touches the model's sources",
  "customers list": "List customers",
  "customers inspect <customerId>": "Show a customer's computed state",
  "customers timeline <customerId>": "Show what happened to a customer's state",
  "customers transitions <customerId>": "Show a customer's lifecycle transitions, newest first",
  "customers export <customerId>": "Write everything that is stored about a customer, as one JSON document",
  "customers erase <customerId>": "Erase everything that is stored about a customer, for good",
  "customers release": "Release customers that were set aside because their evaluation failed",
  "emissions list": "List the emissions of all customers, newest first",
  "emissions inspect <emissionId>": "Show what caused an emission, and its deliveries to webhooks",
  "events send <event>": "Send one event",
  "events list": "List events, newest first",
  "events tail": "Show events as they are accepted",
  "events quarantine": "The same as svc events quarantine list",
  "events quarantine list": "List operations that were accepted but kept apart because they violate the schema",
  "events quarantine show <quarantineId>": "Show an operation in quarantine, and everything that is wrong with it",
  "events quarantine release [quarantineId]": "Store and evaluate operations that the active version now accepts",
  "events quarantine discard [quarantineId]": "Delete operations in quarantine, for good",
  "health explain <customerId>": "Show what a customer's health score is made of",
  "health history <customerId>": "Show how a customer's health score changed, newest change first",
  "journeys funnel <journeyId>": "Show a journey over all customers: who dropped off where, and how long steps took",
  "journeys inspect <customerId> <journeyId>": "Show a customer's progress in a journey, and how long its steps took",
  "keys list": "List the keys of an environment, newest first",
  "keys create": "Add a key to an environment and print it, once",
  "keys rotate <keyId>": "Replace a key with a new one and print that, once; the old one works for a while",
  "keys revoke <keyId>": "Revoke a key at once",
  "members list": "List the members of the organization",
  "members update <member>": "Give a member another role",
  "members remove <member>": "Remove a member, and revoke the tokens that the member created",
  "members reset-password <member>": "Create a link for a member to set a new password, and print it, once",
  "invitations list": "List open invitations",
  "invitations create <email>": "Invite an address, and print the link, once",
  "invitations revoke <invitationId>": "Revoke an open invitation",
  "organization update": "Change the organization's time zone",
  "projects list": "List the projects of the organization",
  "projects create": "Create a project and print its API keys, once",
  "rules logs": "Show when rules ran, and with what result",
  "segments inspect <segmentId>": "Show a segment's size and its members",
  "signals list": "List raised signals, latest first",
  "tokens list": "List the tokens of the organization, newest first",
  "tokens create": "Create a token that acts as you, and print it, once",
  "tokens revoke <tokenId>": "Revoke a token at once",
  "webhooks list": "List webhooks",
  "webhooks create": "Create a webhook and print its signing secret, once",
  "webhooks update <webhookId>": "Change, disable or enable a webhook",
  "webhooks delete <webhookId>": "Delete a webhook and all its deliveries",
  "webhooks test <webhookId>": "Send a test message to a webhook, and show what it answered",
  "webhooks deliveries <webhookId>": "List the deliveries to a webhook",
  "webhooks resend <webhookId> [deliveryId]": "Send a delivery again, or all that failed in a span of time",
  "webhooks rotate-secret <webhookId>":
    "Replace the signing secret and print the new one, once; the old one also signs for a while",
};

type Load<T> = () => Promise<{ default: T }>;

/** Files with one command, and commands that are in another file than those with the same beginning. */
const FILES: Readonly<Record<string, Load<AnyCommand>>> = {
  whoami: () => import("../commands/whoami.js"),
  console: () => import("../commands/console.js"),
  init: () => import("../commands/init/init.js"),
  validate: () => import("../commands/validate.js"),
  dev: () => import("../commands/dev/dev.js"),
  deploy: () => import("../commands/deploy/deploy.js"),
  backtest: () => import("../commands/backtest/backtest.js"),
  recompute: () => import("../commands/recompute/recompute.js"),
  types: () => import("../commands/types.js"),
  overview: () => import("../commands/overview.js"),
  trends: () => import("../commands/trends.js"),
  diagnose: () => import("../commands/diagnose.js"),
  mcp: () => import("../commands/mcp/mcp.js"),
  completion: () => import("../commands/completion.js"),
  audit: () => import("../commands/audit.js"),
  usage: () => import("../commands/usage.js"),
  "auth status": () => import("../commands/whoami.js"),
  "config diff": () => import("../commands/config/diff.js"),
  "customers list": () => import("../commands/customers/list.js"),
  "customers inspect": () => import("../commands/customers/inspect.js"),
  "customers export": () => import("../commands/customers/export.js"),
  "customers erase": () => import("../commands/customers/erase.js"),
  "customers release": () => import("../commands/customers/release.js"),
  "events quarantine": async () => ({ default: (await import("../commands/quarantine.js")).default.list }),
  "organization update": () => import("../commands/organization.js"),
  "rules logs": () => import("../commands/rules.js"),
  "segments inspect": () => import("../commands/segments.js"),
  "signals list": () => import("../commands/signals.js"),
  "webhooks deliveries": async () => ({
    default: (await import("../commands/webhooks/deliveries.js")).default.deliveries,
  }),
  "webhooks resend": async () => ({ default: (await import("../commands/webhooks/deliveries.js")).default.resend }),
};

/** Files with the commands of several verbs, by the words before the verb. */
const VERBS: Readonly<Record<string, Load<Readonly<Record<string, AnyCommand>>>>> = {
  ai: () => import("../commands/ai/commands.js"),
  auth: () => import("../commands/auth.js"),
  config: () => import("../commands/config/versions.js"),
  customers: () => import("../commands/customers/history.js"),
  emissions: () => import("../commands/emissions.js"),
  events: () => import("../commands/events.js"),
  "events quarantine": () => import("../commands/quarantine.js"),
  health: () => import("../commands/health.js"),
  invitations: () => import("../commands/invitations.js"),
  journeys: () => import("../commands/journeys.js"),
  keys: () => import("../commands/keys.js"),
  members: () => import("../commands/members.js"),
  projects: () => import("../commands/projects.js"),
  recompute: () => import("../commands/recompute/queue.js"),
  tokens: () => import("../commands/tokens.js"),
  webhooks: () => import("../commands/webhooks/endpoints.js"),
};

async function load(path: string): Promise<AnyCommand> {
  const own = FILES[path];
  if (own !== undefined) return (await own()).default;
  const verb = path.lastIndexOf(" ");
  return (await VERBS[path.slice(0, verb)]!()).default[path.slice(verb + 1)]!;
}

export const commands: readonly ListedCommand[] = Object.entries(USAGES).map(([usage, describe]) => {
  const words = usage.split(" ");
  const isArgument = (word: string) => /^[<[]/.test(word);
  const path = words.filter((word) => !isArgument(word)).join(" ");
  return { path, args: words.filter(isArgument).join(" "), describe, load: () => load(path) };
});

/** The commands that a command line may mean: those whose words it contains in order. */
export function candidates(argv: readonly string[]): ListedCommand[] {
  return commands.filter(({ path }) => {
    let from = 0;
    return path.split(" ").every((word) => (from = argv.indexOf(word, from) + 1) > 0);
  });
}
