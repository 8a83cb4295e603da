import type { Argv } from "yargs";
import { ROLES } from "../db/calls-organization.js";
import { EXPIRES_IN_DAYS_MAX } from "../http/admin/organization/tokens.js";
import type { ServerConfig } from "./config.js";
import type { Logger } from "./log.js";
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
          .option("expires-in-days", { type: "number", default: EXPIRES_IN_DAYS_MAX, describe: "1 to 90" })
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
