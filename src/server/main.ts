import yargs from "yargs";
import { MigrateError } from "../db/migrate.js";
import { bootstrapCommand } from "./bootstrap.js";
import { ConfigError, readConfig, type ServerConfig } from "./config.js";
import { createLogger, type Logger } from "./log.js";
import { migrateCommand } from "./migrate.js";
import { OperatorError } from "./operator.js";
import { tokensCommands, usersCommands } from "./operator-commands.js";
import { ROLES, startCommand } from "./start.js";

const DONE = 0;
const FAILED = 1;
const USAGE = 2;

/** A mistake on the command line, already in words for the operator. */
class UsageError extends Error {}

/** Runs `svc-server`; answers the exit code: 0 done, 1 failed, 2 usage. */
export async function main(args: string[]): Promise<number> {
  try {
    await parse(args);
    return DONE;
  } catch (error) {
    if (error instanceof UsageError) {
      process.stderr.write(`${error.message}\nRun svc-server --help for the commands.\n`);
      return USAGE;
    }
    process.stderr.write(`svc-server: ${isOperatorsMistake(error) ? (error as Error).message : describe(error)}\n`);
    return FAILED;
  }
}

async function parse(args: string[]): Promise<void> {
  await yargs(args)
    .scriptName("svc-server")
    .usage(
      "$0 <command>\n\nThe customer-success event service: HTTP, workers and database. Configured by variables; see README.md.",
    )
    .command(
      "start",
      "Migrate the database, then serve until SIGTERM",
      (command) =>
        command
          .option("role", { choices: ROLES, default: "all" as const, describe: "What this process does" })
          .example("svc-server start --role worker", "Workers only; HTTP runs elsewhere"),
      async ({ role }) => startCommand(...configure(), role),
    )
    .command("migrate", "Bring the database to this version and stop", {}, async () => migrateCommand(...configure()))
    .command(
      "bootstrap",
      "Make sure an organization and its owner exist and print a new access token",
      (command) =>
        command
          .option("organization", { type: "string", demandOption: true, describe: "Slug of the organization" })
          .option("email", { type: "string", demandOption: true, describe: "Address of its owner" })
          .option("json", { type: "boolean", default: false, describe: "Print {organizationId, accessToken}" })
          .example("svc-server bootstrap --organization acme --email ada@example.com --json", ""),
      async ({ organization, email, json }) => bootstrapCommand(...configure(), { organization, email, json }),
    )
    .command("users", "The users of this installation", usersCommands(configure))
    .command("tokens", "The headless access tokens of an organization", tokensCommands(configure))
    .demandCommand(1, "Name a command.")
    .strict()
    // Of an option given twice the last one counts.
    .parserConfiguration({ "duplicate-arguments-array": false })
    .recommendCommands()
    .exitProcess(false)
    .help()
    .version(false)
    .fail((message: string | null, error?: Error) => {
      throw error ?? new UsageError(message ?? "The command line cannot be understood.");
    })
    .parseAsync();
}

function configure(): [ServerConfig, Logger] {
  const { config, warnings } = readConfig(process.env);
  const logger = createLogger(config.logLevel);
  for (const warning of warnings) logger.warn(warning);
  return [config, logger];
}

/** What the operator can mend needs no stack. */
function isOperatorsMistake(error: unknown): boolean {
  if (error instanceof ConfigError || error instanceof MigrateError || error instanceof OperatorError) return true;
  return /^(EADDRINUSE|EACCES|EADDRNOTAVAIL|ECONNREFUSED|ENOTFOUND|28P01|3D000)/.test(
    (error as { code?: string }).code ?? "",
  );
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
