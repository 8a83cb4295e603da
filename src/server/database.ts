import { startEmbedded, type EmbeddedOptions } from "../db/embedded/embedded.js";
import type { ServerConfig } from "./config.js";
import type { Logger } from "./log.js";
import { databaseFailure, lookFailure } from "./start-failure.js";

export interface Database {
  url: string;
  /** Whether the service's processes act as their own roles. */
  useRoles: boolean;
  /** Gives the embedded server up; its last user stops it. Nothing to do for a server of the operator's. */
  release(): Promise<void>;
}

/** A server of PostgreSQL, with a database that may be of any version. */
export interface DatabaseServer {
  url: string;
  /** Gives the embedded server up; its last user stops it. Nothing to do for a server of the operator's. Safe to call twice. */
  stop(): Promise<void>;
}

/** The operator's database, or the embedded one, brought to this version. Throws StartError where the operator can mend what is wrong. */
export async function openDatabase(config: ServerConfig, logger: Logger): Promise<Database> {
  return bringToVersion(reachServer(config, logger), config, logger);
}

/** Works on the database once it is of this version. */
export async function onDatabase<T>(
  config: ServerConfig,
  logger: Logger,
  work: (url: string) => Promise<T>,
): Promise<T> {
  const database = await openDatabase(config, logger);
  try {
    return await work(database.url);
  } finally {
    await database.release();
  }
}

/** Looks at the database, whatever its version: that is neither made nor migrated by looking. Throws StartError where the operator can mend what is wrong. */
export async function lookAtDatabase<T>(
  config: ServerConfig,
  logger: Logger,
  look: (url: string) => Promise<T>,
): Promise<T> {
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
    return { url: server.url, useRoles: report.roles, release: () => server.stop() };
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
      logger.fatal({ err: error }, "the embedded PostgreSQL is gone");
      process.exit(1);
    },
    onMade: (dataDir) => logger.info({ dataDir }, "a new embedded PostgreSQL was made"),
    ...options,
  });
}
