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
const USAGES = {
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
} as const;

/** For a file with the commands of several verbs: loads one of them. */
function verbsOf<Verbs extends Readonly<Record<string, AnyCommand>>>(load: () => Promise<{ default: Verbs }>) {
  return (verb: keyof Verbs) => async () => ({ default: (await load()).default[verb]! });
}

const ai = verbsOf(() => import("../commands/ai/commands.js"));
const auth = verbsOf(() => import("../commands/auth.js"));
const versions = verbsOf(() => import("../commands/config/versions.js"));
const history = verbsOf(() => import("../commands/customers/history.js"));
const emissions = verbsOf(() => import("../commands/emissions.js"));
const events = verbsOf(() => import("../commands/events.js"));
const health = verbsOf(() => import("../commands/health.js"));
const invitations = verbsOf(() => import("../commands/invitations.js"));
const journeys = verbsOf(() => import("../commands/journeys.js"));
const keys = verbsOf(() => import("../commands/keys.js"));
const members = verbsOf(() => import("../commands/members.js"));
const projects = verbsOf(() => import("../commands/projects.js"));
const quarantine = verbsOf(() => import("../commands/quarantine.js"));
const queue = verbsOf(() => import("../commands/recompute/queue.js"));
const tokens = verbsOf(() => import("../commands/tokens.js"));
const deliveries = verbsOf(() => import("../commands/webhooks/deliveries.js"));
const endpoints = verbsOf(() => import("../commands/webhooks/endpoints.js"));

const LOADERS: Readonly<Record<keyof typeof USAGES, () => Promise<{ default: AnyCommand }>>> = {
  whoami: () => import("../commands/whoami.js"),
  console: () => import("../commands/console.js"),
  init: () => import("../commands/init/init.js"),
  validate: () => import("../commands/validate.js"),
  dev: () => import("../commands/dev/dev.js"),
  deploy: () => import("../commands/deploy/deploy.js"),
  backtest: () => import("../commands/backtest/backtest.js"),
  recompute: () => import("../commands/recompute/recompute.js"),
  "recompute status <recomputeId>": queue("status"),
  "recompute list": queue("list"),
  "recompute retry <recomputeId>": queue("retry"),
  "recompute cancel <recomputeId>": queue("cancel"),
  types: () => import("../commands/types.js"),
  overview: () => import("../commands/overview.js"),
  "trends [what]": () => import("../commands/trends.js"),
  diagnose: () => import("../commands/diagnose.js"),
  mcp: () => import("../commands/mcp/mcp.js"),
  "completion <shell>": () => import("../commands/completion.js"),
  audit: () => import("../commands/audit.js"),
  usage: () => import("../commands/usage.js"),
  "ai model-success": ai("model-success"),
  "ai suggest-events": ai("suggest-events"),
  "ai explain-config": ai("explain-config"),
  "ai debug-customer <customerId>": ai("debug-customer"),
  "ai why-not-activated <customerId>": ai("why-not-activated"),
  "ai generate-instrumentation-plan": ai("generate-instrumentation-plan"),
  "auth login": auth("login"),
  "auth status": () => import("../commands/whoami.js"),
  "auth logout": auth("logout"),
  "config versions": versions("versions"),
  "config activations": versions("activations"),
  "config diff [from] [to]": () => import("../commands/config/diff.js"),
  "config promote": versions("promote"),
  "config rollback": versions("rollback"),
  "config pull": versions("pull"),
  "customers list": () => import("../commands/customers/list.js"),
  "customers inspect <customerId>": () => import("../commands/customers/inspect.js"),
  "customers timeline <customerId>": history("timeline"),
  "customers transitions <customerId>": history("transitions"),
  "customers export <customerId>": () => import("../commands/customers/export.js"),
  "customers erase <customerId>": () => import("../commands/customers/erase.js"),
  "customers release": () => import("../commands/customers/release.js"),
  "emissions list": emissions("list"),
  "emissions inspect <emissionId>": emissions("inspect"),
  "events send <event>": events("send"),
  "events list": events("list"),
  "events tail": events("tail"),
  "events quarantine": quarantine("list"),
  "events quarantine list": quarantine("list"),
  "events quarantine show <quarantineId>": quarantine("show"),
  "events quarantine release [quarantineId]": quarantine("release"),
  "events quarantine discard [quarantineId]": quarantine("discard"),
  "health explain <customerId>": health("explain"),
  "health history <customerId>": health("history"),
  "journeys funnel <journeyId>": journeys("funnel"),
  "journeys inspect <customerId> <journeyId>": journeys("inspect"),
  "keys list": keys("list"),
  "keys create": keys("create"),
  "keys rotate <keyId>": keys("rotate"),
  "keys revoke <keyId>": keys("revoke"),
  "members list": members("list"),
  "members update <member>": members("update"),
  "members remove <member>": members("remove"),
  "members reset-password <member>": members("reset-password"),
  "invitations list": invitations("list"),
  "invitations create <email>": invitations("create"),
  "invitations revoke <invitationId>": invitations("revoke"),
  "organization update": () => import("../commands/organization.js"),
  "projects list": projects("list"),
  "projects create": projects("create"),
  "rules logs": () => import("../commands/rules.js"),
  "segments inspect <segmentId>": () => import("../commands/segments.js"),
  "signals list": () => import("../commands/signals.js"),
  "tokens list": tokens("list"),
  "tokens create": tokens("create"),
  "tokens revoke <tokenId>": tokens("revoke"),
  "webhooks list": endpoints("list"),
  "webhooks create": endpoints("create"),
  "webhooks update <webhookId>": endpoints("update"),
  "webhooks delete <webhookId>": endpoints("delete"),
  "webhooks test <webhookId>": endpoints("test"),
  "webhooks deliveries <webhookId>": deliveries("deliveries"),
  "webhooks resend <webhookId> [deliveryId]": deliveries("resend"),
  "webhooks rotate-secret <webhookId>": endpoints("rotate-secret"),
};

export const commands: readonly ListedCommand[] = Object.entries(USAGES).map(([usage, describe]) => {
  const words = usage.split(" ");
  const isArgument = (word: string) => /^[<[]/.test(word);
  return {
    path: words.filter((word) => !isArgument(word)).join(" "),
    args: words.filter(isArgument).join(" "),
    describe,
    load: async () => (await LOADERS[usage as keyof typeof USAGES]()).default,
  };
});

/** The commands that a command line may mean: those whose words it contains in order. */
export function candidates(argv: readonly string[]): ListedCommand[] {
  return commands.filter(({ path }) => {
    let from = 0;
    return path.split(" ").every((word) => (from = argv.indexOf(word, from) + 1) > 0);
  });
}
