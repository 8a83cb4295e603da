import type { Sql } from "postgres";
import type { Static } from "typebox";
import type { Argv } from "yargs";
import { ROLES, TOKEN_EXPIRES_IN_DAYS_MAX } from "../db/api/access.js";
import { call } from "../db/api/call.js";
import type { token } from "../http/admin/organization.js";
import { isEmailAddress } from "../http/admin/parameters.js";
import { newCredential, passwordLink } from "../http/request/credentials.js";
import { linkInWords, makeSignInLink } from "./links.js";
import { addressOf, ConfigError, type ServerConfig } from "./config.js";
import type { Logger } from "./log.js";
import { asOperator, type Configure, jsonOption, readAsOperator, print } from "./operator.js";

interface BootstrapOptions {
  organization: string;
  email: string;
  /** Removes the password of an existing user and ends all its sessions and tokens. */
  resetUser: boolean;
  json: boolean;
}

/**
 * `svc-server bootstrap`: creates a user, an organization that the user owns, and an access token. Can run while the service does. Running it
 * again only adds a token. An existing user whose password somebody else may have set is refused.
 */
export async function bootstrapCommand(
  config: ServerConfig,
  logger: Logger,
  { organization, email, resetUser, json }: BootstrapOptions,
): Promise<void> {
  const problems: string[] = [];
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(organization))
    problems.push(`--organization must be 1 to 63 lower-case letters, digits and hyphens, not \`${organization}\``);
  if (!isEmailAddress(email)) problems.push(`--email must be an address, not \`${email}\``);
  if (problems.length > 0) throw new ConfigError(problems);
  const token = newCredential("token");
  const work = async (sql: Sql) => {
    // First, so that after a failure in between nobody can sign in as that user and the command can be repeated.
    const revoked = resetUser ? await call(sql, "operator_lock_out_user", email) : 0;
    const document = await call(sql, "bootstrap", organization, email, token.hash);
    // Programs do not use a link, and with SVC_PORT=0 its address may be unknown.
    const publicUrl = json ? null : await knownBase(sql, config);
    return { revoked, document, link: publicUrl === null ? null : await makeSignInLink(sql, publicUrl, email) };
  };
  const { revoked, document, link } = await asOperator(config, logger, work, { make: true, onMade: sayMade });
  const { organizationId, joined } = JSON.parse(document) as { organizationId: string; joined: string | null };
  if (joined !== null) {
    process.stderr.write(`svc-server: ${email} was a user already; its organizations so far: ${joined}\n`);
  }
  if (revoked > 0) {
    process.stderr.write(
      `svc-server: the headless tokens of ${email} were revoked, ${revoked} in all; programs that used them need new ones\n`,
    );
  }
  const credentials = { organizationId, accessToken: token.text };
  print(json, JSON.stringify(credentials), inWords(credentials), REVOKE);
  // To standard error, because shells evaluate standard output.
  if (link !== null) process.stderr.write(`${linkInWords(link)}\n`);
}

/** The token is worth nothing to whoever meant another database. */
function sayMade(dataDir: string): void {
  process.stderr.write(`svc-server: a new embedded database was made in ${dataDir}, because DATABASE_URL is not set\n`);
}

const REVOKE = "find the token with svc-server tokens list and revoke it, then run this again";

/** Lines that people can read and a shell can evaluate. */
function inWords({ organizationId, accessToken }: Record<"organizationId" | "accessToken", string>): string[] {
  return [
    "# The token is shown only now. These variables let svc use it:",
    `export SVC_ORGANIZATION=${organizationId}`,
    `export SVC_ACCESS_TOKEN=${accessToken}`,
  ];
}

interface User {
  email: string;
  hasPassword: boolean;
  organizations: { slug: string; role: string }[];
  /** Null if the password may have been set by somebody who does not receive mail at the address. */
  emailVerifiedAt: string | null;
}

/** `svc-server users …`: lists all users with their organizations, and makes links: to set a password, also the first one after `bootstrap`, or
 * to sign a browser in. */
export const usersCommands = (configure: Configure) => (command: Argv) =>
  command
    .command(
      "list",
      "List the users with their organizations",
      (list) => list.option("json", jsonOption("Print an array of users")),
      async ({ json }) => {
        const document = await readAsOperator(...configure(), (sql) => call(sql, "operator_list_users"));
        print(json, document, (JSON.parse(document) as User[]).map(userInWords));
      },
    )
    .command(
      "link",
      "Print a one-time link with which a user sets a password",
      (link) =>
        link
          .option("email", { type: "string", demandOption: true, describe: "Address of the user" })
          .option("json", jsonOption("Print {email, expiresAt, link}"))
          .example("svc-server users link --email ada@example.com", "Also for the first password, after bootstrap"),
      async ({ email, json }) => {
        const [config, logger] = configure();
        const secret = newCredential("link");
        const [publicUrl, document] = await asOperator(config, logger, async (sql) => [
          await linkBase(sql, config),
          await call(sql, "operator_create_password_link", email, secret.hash),
        ]);
        const made = JSON.parse(document) as { email: string; expiresAt: string };
        const link = passwordLink(publicUrl, secret);
        await printLink({ json, publicUrl }, `sets the password of ${made.email}`, { ...made, link });
      },
    )
    .command(
      "sign-in",
      "Print a one-time link that signs a browser in as a user",
      (signIn) =>
        signIn
          .option("email", { type: "string", demandOption: true, describe: "Address of the user" })
          .option("json", jsonOption("Print {email, expiresAt, link}"))
          .example("svc-server users sign-in --email ada@example.com", "Open the console as ada"),
      async ({ email, json }) => {
        const [config, logger] = configure();
        const [publicUrl, made] = await asOperator(config, logger, async (sql) => {
          const base = await linkBase(sql, config);
          return [base, await makeSignInLink(sql, base, email)];
        });
        await printLink({ json, publicUrl }, `is signed in as ${made.email}`, made);
      },
    )
    .demandCommand(1, "Name a command of users: list, link or sign-in.");

/** @param does what happens to whoever opens the link */
async function printLink(
  { json, publicUrl }: { json: boolean; publicUrl: string },
  does: string,
  made: { expiresAt: string; link: string },
): Promise<void> {
  const says = `# Whoever opens this link ${does}. It works once, until ${made.expiresAt}:`;
  print(json, JSON.stringify(made), [says, made.link], "run this again for another link");
  await warnIfUnreachable(publicUrl);
}

function userInWords({ email, hasPassword, organizations, emailVerifiedAt }: User): string {
  const roles = organizations.map(({ slug, role }) => `${slug}:${role}`).join(",");
  const verified = emailVerifiedAt === null ? "password, address not verified" : "password, address verified";
  return [email, roles === "" ? "-" : roles, hasPassword ? verified : "no password"].join("\t");
}

/** The address at which people reach the service: SVC_PUBLIC_URL, else the one its processes recorded, else host and port; null with port 0. */
async function knownBase(sql: Sql, { publicUrl, host, port }: ServerConfig): Promise<string | null> {
  return publicUrl ?? (await call(sql, "operator_public_url")) ?? (port === 0 ? null : addressOf(host, port));
}

/** As `knownBase`, but throws a ConfigError if the address is unknown. */
async function linkBase(sql: Sql, config: ServerConfig): Promise<string> {
  const base = await knownBase(sql, config);
  if (base !== null) return base;
  throw new ConfigError(["SVC_PUBLIC_URL must be set when SVC_PORT is 0: the link has to lead to the service"]);
}

const ANSWER_MS_MAX = 2_000;

/** Warns if nothing answers at the link's address: this process may be configured with another address or port than the service. */
async function warnIfUnreachable(publicUrl: string): Promise<void> {
  try {
    await fetch(`${publicUrl}/livez`, { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
  } catch {
    process.stderr.write(
      `note: nothing answers at ${publicUrl} now; set SVC_PUBLIC_URL, or SVC_HOST and SVC_PORT, as for the service, or start it\n`,
    );
  }
}

type Token = Static<typeof token>;

/** `svc-server tokens …`: the headless tokens of an organization. A new token is shown only once; a revoked one stops working at once. */
export const tokensCommands = (configure: Configure) => (command: Argv) => {
  const organization = { type: "string", demandOption: true, describe: "Slug of the organization" } as const;
  return command
    .command(
      "list",
      "List the tokens of an organization, newest first",
      (list) => list.option("organization", organization).option("json", jsonOption("Print an array of tokens")),
      async ({ organization, json }) => {
        const document = await readAsOperator(...configure(), (sql) => call(sql, "operator_list_tokens", organization));
        const lines = (JSON.parse(document) as Token[]).map((token) =>
          [token.id, token.label, token.role ?? "all", token.user.email, stateOf(token)].join("\t"),
        );
        print(json, document, lines);
      },
    )
    .command(
      "create",
      "Create a token and print it; it is shown only once",
      (create) =>
        create
          .option("organization", organization)
          .option("label", { type: "string", demandOption: true, describe: "What the token is for" })
          .option("role", { choices: ROLES, describe: "Highest role of the token; the member's role unless given" })
          .option("email", { type: "string", describe: "Member that the token acts as; the oldest owner unless given" })
          .option("expires-in-days", { type: "number", default: TOKEN_EXPIRES_IN_DAYS_MAX, describe: "1 to 90" })
          .option("json", jsonOption("Print the token as JSON"))
          .example("svc-server tokens create --organization acme --label CI --role developer", ""),
      async ({ organization, label, role, email, expiresInDays, json }) => {
        const context = configure();
        await checkNewToken(label, expiresInDays);
        const { text: accessToken, hash } = newCredential("token");
        const document = await asOperator(...context, (sql) =>
          call(sql, "operator_create_token", organization, email, label, role, expiresInDays, hash),
        );
        const { organizationId, token } = JSON.parse(document) as { organizationId: string; token: Token };
        const text = JSON.stringify({ organizationId, ...token, accessToken });
        print(json, text, inWords({ organizationId, accessToken }), REVOKE);
      },
    )
    .command(
      "revoke <token-id>",
      "Revoke a token; it stops working at once",
      (revoke) =>
        revoke
          .positional("token-id", { type: "string", demandOption: true, describe: "tok_…, as tokens list shows it" })
          .option("json", jsonOption("Print the token without its secret")),
      async ({ tokenId, json }) => {
        const document = await asOperator(...configure(), (sql) => call(sql, "operator_revoke_token", tokenId));
        const { id, label, revokedAt } = JSON.parse(document) as Token;
        print(json, document, [`${id} (${label}) was revoked at ${revokedAt}.`]);
      },
    )
    .demandCommand(1, "Name a command of tokens: list, create or revoke.");
};

function stateOf({ revokedAt, expiresAt }: Token): string {
  if (revokedAt !== null) return `revoked ${revokedAt}`;
  return `${Date.parse(expiresAt) <= Date.now() ? "expired" : "expires"} ${expiresAt}`;
}

/** @throws {ConfigError} with all problems at once */
async function checkNewToken(label: string, expiresInDays: number): Promise<void> {
  // The schema that HTTP uses; loaded here because it takes long to load.
  const { Compile } = await import("typebox/compile");
  const { displayName } = await import("../http/admin/parameters.js");
  const problems: string[] = [];
  if (!Compile(displayName).Check(label))
    problems.push(
      "--label must have 1 to 256 characters, none of which controls the terminal or changes the direction of text",
    );
  if (!Number.isInteger(expiresInDays) || expiresInDays < 1 || expiresInDays > TOKEN_EXPIRES_IN_DAYS_MAX)
    problems.push(`--expires-in-days must be a whole number from 1 to ${TOKEN_EXPIRES_IN_DAYS_MAX}`);
  if (problems.length > 0) throw new ConfigError(problems);
}
