import { startEmbedded, type EmbeddedOptions, type EmbeddedServer } from "../db/embedded/embedded.js";
import type { ServerConfig } from "./config.js";
import type { Logger } from "./log.js";
import { databaseFailure, lookFailure } from "./start-failure.js";

/** A server of PostgreSQL, with a database that may be of any version. To stop one of the operator's there is nothing to do. */
export type DatabaseServer = EmbeddedServer;

/** The same with the database of this version. */
export interface Database extends DatabaseServer {
  /** Whether the service's processes act as their own roles. */
  useRoles: boolean;
}

/** `svc-server migrate`: brings the database to this version and says so. */
export async function migrateCommand(config: ServerConfig, logger: Logger): Promise<void> {
  await onDatabase(config, logger, () => Promise.resolve());
  process.stdout.write("The database is up to date.\n");
}

/** Works on the operator's database, or the embedded one, once it is of this version. Throws StartError where the operator can mend what is wrong. */
export async function onDatabase<T>(config: ServerConfig, logger: Logger, work: (url: string) => Promise<T>) {
  const database = await bringToVersion(reachServer(config, logger), config, logger);
  try {
    return await work(database.url);
  } finally {
    await database.stop();
  }
}

/** Looks at the database, whatever its version: that is neither made nor migrated by looking. Throws StartError where the operator can mend what is wrong. */
export async function lookAtDatabase<T>(config: ServerConfig, logger: Logger, look: (url: string) => Promise<T>) {
  const server = await reachServer(config, logger, { make: false });
  try {
    return await look(server.url);
  } catch (error) {
    throw lookFailure(error, config.databaseUrl);
  } finally {
    await server.stop();
  }
}

/** Migrates the server's database; where that fails, gives the server up. Throws StartError where the operator can mend what is wrong. */
export async function bringToVersion(
  reaching: Promise<DatabaseServer>,
  { databaseUrl }: Pick<ServerConfig, "databaseUrl">,
  logger: Logger,
): Promise<Database> {
  // Loaded while the server starts.
  const [server, { migrate }] = await Promise.all([reaching, import("../db/migrate/migrate.js")]);
  try {
    const report = await migrate(server.url, { onWait: (sentence) => logger.warn(sentence) });
    for (const note of report.notes) logger.warn(note);
    if (report.migrations.length > 0) logger.info({ migrations: report.migrations }, "the database was migrated");
    return { ...server, useRoles: report.roles };
  } catch (error) {
    await server.stop();
    throw databaseFailure(error, databaseUrl);
  }
}

/**
 * The operator's server, or the embedded one, which is started where it does not run, and made where it is not there unless `make` is false.
 *
 * @param options.onWait told whenever other processes make or start the embedded one, and there is time for other work
 */
export async function reachServer(
  config: ServerConfig,
  logger: Logger,
  options: Pick<EmbeddedOptions, "make" | "onWait"> = {},
): Promise<DatabaseServer> {
  if (config.databaseUrl !== null) return { url: config.databaseUrl, stop: () => Promise.resolve() };
  return startEmbedded(config.dataDir, {
    onLost: (error) => {
      logger.fatal({ err: error }, "the embedded PostgreSQL has stopped; this process exits");
      process.exit(1);
    },
    onMade: (dataDir) => logger.info({ dataDir }, "a new embedded PostgreSQL was made"),
    ...options,
  });
}
