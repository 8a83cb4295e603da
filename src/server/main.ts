import yargs from "yargs";
import { SetupError } from "../db/embedded/command.js";
import { MigrateError } from "../db/migrate/execute.js";
import { version } from "../http/version.js";
import { ConfigError, readConfig, PROCESS_ROLES, type ServerConfig } from "./config.js";
import { stacksOf, createLogger, hideSecrets, type Logger } from "./log.js";
import { OperatorError, StartError } from "./start-failure.js";

export { logCrashes } from "./log.js";

const DONE = 0;
const FAILED = 1;
const USAGE = 2;

/** The reader of a pipe may close it before everything is written, as `head` does: that ends neither a command nor a service. */
export function outliveReaders(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
}

/** A mistake on the command line; the message is meant for the operator. */
class UsageError extends Error {}

/** Runs `svc-server` and returns the exit code: 0 done, 1 failed or `doctor` found something, 2 usage. */
export async function main(args: string[]): Promise<number> {
  try {
    return await parse(args);
  } catch (error) {
    if (error instanceof UsageError) {
      process.stderr.write(`${error.message}\nRun svc-server --help for the commands.\n`);
      return USAGE;
    }
    const isMistake = MISTAKES.some((kind) => error instanceof kind);
    process.stderr.write(`svc-server: ${isMistake ? inWords(error as Error) : stacks(error)}\n`);
    return FAILED;
  }
}

/** Each command loads only the code it needs: loading everything takes a second. */
async function parse(args: string[]): Promise<number> {
  let code = DONE;
  await yargs(args)
    .scriptName("svc-server")
    .usage(
      "$0 <command>\n\nThe customer-success event service: HTTP, workers and database. Configured by environment variables; see docs/configuration.md.",
    )
    .command(
      "start",
      "Migrate the database, then serve until SIGTERM",
      (command) =>
        command
          .option("role", { choices: PROCESS_ROLES, default: "all" as const, describe: "What this process does" })
          .example("svc-server start --role worker", "Workers only; HTTP runs elsewhere"),
      async ({ role }) => (await import("./start.js")).startCommand(...configure(), role),
    )
    .command("migrate", "Bring the database to this version and stop", {}, async () =>
      (await import("./database.js")).migrateCommand(...configure()),
    )
    .command(
      "bootstrap",
      "Make sure an organization and its owner exist and print a new access token",
      (command) =>
        command
          .option("organization", { type: "string", demandOption: true, describe: "Slug of the organization" })
          .option("email", { type: "string", demandOption: true, describe: "Address of its owner" })
          .option("reset-user", {
            type: "boolean",
            default: false,
            describe: "Remove the password of an existing user, and end all its sessions and tokens",
          })
          .option("json", { type: "boolean", default: false, describe: "Print {organizationId, accessToken}" })
          .example("svc-server bootstrap --organization acme --email ada@example.com --json", ""),
      async (options) => (await import("./access.js")).bootstrapCommand(...configure(), options),
    )
    .command("users", "The users of this installation", async (command) =>
      (await import("./access.js")).usersCommands(configure)(command),
    )
    .command("tokens", "The headless access tokens of an organization", async (command) =>
      (await import("./access.js")).tokensCommands(configure)(command),
    )
    .command("plans", "The plans: what organizations may use", async (command) =>
      (await import("./plans.js")).plansCommands(configure)(command),
    )
    .command("environments", "Move an environment to another database, or delete one", async (command) =>
      (await import("./environments.js")).environmentsCommands(configure)(command),
    )
    .command("packs", "Optional parts of the database", async (command) =>
      (await import("./packs.js")).packsCommands(configure)(command),
    )
    .command(
      "doctor",
      "Check that nothing is lost, doubled or left behind; reads everything, changes nothing",
      (command) =>
        command
          .option("json", { type: "boolean", default: false, describe: "Print the findings as JSON" })
          .example("svc-server doctor", "Exits with 1 if something is wrong"),
      async ({ json }) => {
        if (!(await (await import("./doctor.js")).doctorCommand(...configure(), { json }))) code = FAILED;
      },
    )
    .demandCommand(1, "Name a command.")
    .strict()
    // If an option is given twice, the last one counts.
    .parserConfiguration({ "duplicate-arguments-array": false })
    .recommendCommands()
    .exitProcess(false)
    .help()
    .version(version)
    .fail((message: string | null, error?: Error) => {
      throw error ?? new UsageError(message ?? "The command line cannot be understood.");
    })
    .parseAsync();
  return code;
}

function configure(): [ServerConfig, Logger] {
  const { config, warnings } = readConfig(process.env);
  const logger = createLogger(config.logLevel);
  for (const warning of warnings) logger.warn(warning);
  return [config, logger];
}

/** Errors that the operator can fix. */
const MISTAKES = [ConfigError, MigrateError, OperatorError, SetupError, StartError];

/** The message, and with LOG_LEVEL debug or trace also the stacks. */
function inWords(error: Error): string {
  const isVerbose = /^(debug|trace)$/i.test(process.env["LOG_LEVEL"]?.trim() ?? "");
  return isVerbose ? `${error.message}\n${stacks(error)}` : error.message;
}

/** The stacks without secrets, which unexpected errors may quote. */
function stacks(error: unknown): string {
  return hideSecrets(stacksOf(error));
}
