import type { MigrateOptions } from "../db/migrate/migrate.js";
import { startEmbedded, type EmbeddedOptions, type EmbeddedServer } from "../db/embedded/embedded.js";
import type { ServerConfig } from "./config.js";
import type { Logger } from "./log.js";
import { databaseFailure, embeddedFailure, lookFailure } from "./start-failure.js";

/** A PostgreSQL server whose database may have any schema version. Stopping has no effect on the operator's server. */
export type DatabaseServer = EmbeddedServer;

/** A server whose database is migrated to this version. */
export interface Database extends DatabaseServer {
  /** Whether the service's processes act as their own roles. */
  useRoles: boolean;
}

/** `svc-server migrate`: brings the database to this version, repairs its functions, views and grants, and says so. */
export async function migrateCommand(config: ServerConfig, logger: Logger): Promise<void> {
  const database = await migrateServer(reachServer(config, logger), config, logger, { again: true });
  await database.stop();
  process.stdout.write("The database is up to date.\n");
}

/** Whether a command makes the embedded database if there is none, and what it then does, instead of a line in the log. */
export type Making = Pick<EmbeddedOptions, "make" | "onMade">;

/**
 * Runs `work` on the operator's database, or the embedded one, after migrating it. A missing one is not made unless `making` says so: whoever
 * forgot DATABASE_URL would change an empty database. Throws StartError for problems that the operator can fix.
 */
export async function onDatabase<T>(
  config: ServerConfig,
  logger: Logger,
  work: (url: string) => Promise<T>,
  making: Making = { make: false },
): Promise<T> {
  const database = await migrateServer(reachServer(config, logger, making), config, logger);
  try {
    return await work(database.url);
  } finally {
    await database.stop();
  }
}

/** Reads the database without creating or migrating it, whatever its version. Throws StartError for problems that the operator can fix. */
export async function readDatabase<T>(config: ServerConfig, logger: Logger, look: (url: string) => Promise<T>) {
  const server = await reachServer(config, logger, { make: false });
  try {
    return await look(server.url);
  } catch (error) {
    throw lookFailure(error, config.databaseUrl);
  } finally {
    await server.stop();
  }
}

/** Migrates the server's database; stops the server if that fails. Throws StartError for problems that the operator can fix. */
export async function migrateServer(
  reaching: Promise<DatabaseServer>,
  { databaseUrl, dataDir }: Pick<ServerConfig, "databaseUrl" | "dataDir">,
  logger: Logger,
  options: Pick<MigrateOptions, "again"> = {},
): Promise<Database> {
  // The migration code is loaded while the server starts.
  const [server, { migrate }] = await Promise.all([reaching, import("../db/migrate/migrate.js")]);
  try {
    const report = await migrate(server.url, { ...options, onWait: (sentence) => logger.warn(sentence) });
    for (const note of report.notes) logger.warn(note);
    if (report.migrations.length > 0) logger.info({ migrations: report.migrations }, "the database was migrated");
    return { ...server, useRoles: report.roles };
  } catch (error) {
    await server.stop();
    throw databaseUrl === null ? embeddedFailure(error, dataDir) : databaseFailure(error, databaseUrl);
  }
}

/**
 * The operator's server, or the embedded one, which is started if it does not run, and created if it does not exist, unless `make` is false.
 *
 * @param options.onWait called when other processes are creating or starting the embedded server, so that the caller can do other work
 */
export async function reachServer(
  config: ServerConfig,
  logger: Logger,
  options: Making & Pick<EmbeddedOptions, "onWait"> = {},
): Promise<DatabaseServer> {
  if (config.databaseUrl !== null) return { url: config.databaseUrl, stop: () => Promise.resolve() };
  forgetClientVariables();
  return startEmbedded(config.dataDir, {
    onServerLost: (error) => {
      logger.fatal({ err: error }, "the embedded PostgreSQL has stopped; this process exits");
      process.exit(1);
    },
    onMade: (dataDir) => logger.info({ dataDir }, "a new embedded PostgreSQL was made"),
    ...options,
  });
}

/** The drivers would connect by PGSSLMODE, PGOPTIONS and the like, which mean servers of the operator's. Threads copy what is left. */
function forgetClientVariables(): void {
  for (const name of Object.keys(process.env)) if (/^PG[A-Z]+$/.test(name)) delete process.env[name];
}
