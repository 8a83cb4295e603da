import type { Argv } from "yargs";
import { ROLES, TOKEN_EXPIRES_IN_DAYS_MAX } from "../db/api/organization.js";
import type { ServerConfig } from "./config.js";
import type { Logger } from "./log.js";
import {
  assignPlanCommand,
  listPlansCommand,
  QUOTAS,
  removePlanCommand,
  setPlanCommand,
  showPlanCommand,
  type Quota,
} from "./plans.js";
import { createTokenCommand, listTokensCommand, revokeTokenCommand } from "./tokens.js";
import { linkUserCommand, listUsersCommand } from "./users.js";

/** What the process was told by its variables; called only once the command line is understood. */
type Configure = () => [ServerConfig, Logger];

/** `svc-server users …` */
export const usersCommands = (configure: Configure) => (command: Argv) =>
  command
    .command(
      "list",
      "List the users with their organizations",
      (list) => list.option("json", { type: "boolean", default: false, describe: "Print an array of users" }),
      async ({ json }) => listUsersCommand(...configure(), { json }),
    )
    .command(
      "link",
      "Print a one-time link by which a user sets a password",
      (link) =>
        link
          .option("email", { type: "string", demandOption: true, describe: "Address of the user" })
          .option("json", { type: "boolean", default: false, describe: "Print {email, expiresAt, link}" })
          .example("svc-server users link --email ada@example.com", "Also for the first password, after bootstrap"),
      async ({ email, json }) => linkUserCommand(...configure(), { email, json }),
    )
    .demandCommand(1, "Name a command of users: list or link.");

/** `svc-server tokens …` */
export const tokensCommands = (configure: Configure) => (command: Argv) => {
  const organization = { type: "string", demandOption: true, describe: "Slug of the organization" } as const;
  return command
    .command(
      "list",
      "List the tokens of an organization, newest first",
      (list) =>
        list
          .option("organization", organization)
          .option("json", { type: "boolean", default: false, describe: "Print an array of tokens" }),
      async ({ organization, json }) => listTokensCommand(...configure(), { organization, json }),
    )
    .command(
      "create",
      "Make a token and print it, this once",
      (create) =>
        create
          .option("organization", organization)
          .option("label", { type: "string", demandOption: true, describe: "What the token is for" })
          .option("role", {
            choices: ROLES,
            describe: "The most it may do; all that its member may unless given",
          })
          .option("email", { type: "string", describe: "Member that it acts as; the oldest owner unless given" })
          .option("expires-in-days", { type: "number", default: TOKEN_EXPIRES_IN_DAYS_MAX, describe: "1 to 90" })
          .option("json", { type: "boolean", default: false, describe: "Print the token as JSON" })
          .example("svc-server tokens create --organization acme --label CI --role developer", ""),
      async ({ organization, label, role, email, expiresInDays, json }) =>
        createTokenCommand(...configure(), { organization, label, role, email, expiresInDays, json }),
    )
    .command(
      "revoke <token-id>",
      "Revoke a token; it stops at once",
      (revoke) =>
        revoke
          .positional("token-id", { type: "string", demandOption: true, describe: "tok_…, as tokens list shows it" })
          .option("json", { type: "boolean", default: false, describe: "Print the token without its secret" }),
      async ({ tokenId, json }) => revokeTokenCommand(...configure(), { tokenId, json }),
    )
    .demandCommand(1, "Name a command of tokens: list, create or revoke.");
};

const limitOptions = {
  "rate-per-second": { type: "string", describe: "Operations per second of an API key, lasting" },
  "rate-burst": { type: "string", describe: "Operations of an API key at once; at least 1000" },
  "monthly-events": { type: "string", describe: "Events that may be stored a month, or none" },
  "retention-days": { type: "string", describe: "Days that events are kept, or none: for ever" },
  // As booleans, all values but `true` would count as `false`.
  "cloud-execution": { type: "string", describe: "Whether events are taken; --no-cloud-execution" },
  ai: { type: "string", describe: "Whether a language model may be asked; --no-ai" },
  "state-bytes": { type: "string", describe: "Bytes that a model may remember for one customer" },
} as const;

const quotaOptions = {
  projects: { type: "string", describe: "Projects of an organization" },
  members: { type: "string", describe: "Members and open invitations of an organization" },
  tokens: { type: "string", describe: "Working access tokens of an organization" },
  versions: { type: "string", describe: "Configuration versions of a project" },
  "version-bytes": { type: "string", describe: "Bytes that the versions of a project take" },
  keys: { type: "string", describe: "Working API keys of an environment" },
  webhooks: { type: "string", describe: "Webhooks of an environment" },
  recomputes: { type: "string", describe: "Unfinished recomputes and dry runs of an environment" },
  previews: { type: "string", describe: "Unfinished previews of an environment" },
  changes: { type: "string", describe: "Changes by a member in a minute" },
} as const;

/** `svc-server plans …` */
export const plansCommands = (configure: Configure) => (command: Argv) => {
  const plan = { type: "string", demandOption: true, describe: "Name of the plan" } as const;
  return command
    .command(
      "list",
      "List the plans with their limits",
      (list) => list.option("json", { type: "boolean", default: false, describe: "Print an array of plans" }),
      async ({ json }) => listPlansCommand(...configure(), { json }),
    )
    .command(
      "show <plan>",
      "Show a plan and the organizations that have it",
      (show) =>
        show
          .positional("plan", plan)
          .option("json", { type: "boolean", default: false, describe: "Print the plan as JSON" }),
      async ({ plan, json }) => showPlanCommand(...configure(), { plan, json }),
    )
    .command(
      "set <plan>",
      "Change limits of a plan, or make one; effective from the next request on",
      (set) =>
        set
          .positional("plan", plan)
          .option(limitOptions)
          .option(quotaOptions)
          .option("json", { type: "boolean", default: false, describe: "Print {plan, changes}" })
          .example("svc-server plans set starter --rate-per-second 100 --rate-burst 5000 --retention-days 90", ""),
      async ({
        plan,
        ratePerSecond,
        rateBurst,
        monthlyEvents,
        retentionDays,
        cloudExecution,
        ai,
        stateBytes,
        json,
        ...quotas
      }) =>
        setPlanCommand(...configure(), {
          plan,
          ratePerSecond,
          rateBurst,
          monthlyEvents,
          retentionDays,
          cloudExecution,
          ai,
          stateBytes,
          quotas: Object.fromEntries(QUOTAS.map((quota) => [quota, quotas[quota]])) as Record<
            Quota,
            string | undefined
          >,
          json,
        }),
    )
    .command(
      "assign <organization> <plan>",
      "Give an organization a plan; effective from the next request on",
      (assign) =>
        assign
          .positional("organization", { type: "string", demandOption: true, describe: "Slug of the organization" })
          .positional("plan", plan)
          .option("json", { type: "boolean", default: false, describe: "Print what was assigned as JSON" }),
      async ({ organization, plan, json }) => assignPlanCommand(...configure(), { organization, plan, json }),
    )
    .command(
      "remove <plan>",
      "Remove a plan that no organization has",
      (remove) =>
        remove
          .positional("plan", plan)
          .option("json", { type: "boolean", default: false, describe: "Print the plan as it was" }),
      async ({ plan, json }) => removePlanCommand(...configure(), { plan, json }),
    )
    .demandCommand(1, "Name a command of plans: list, show, set, assign or remove.");
};
