import { startEmbedded } from "../db/embedded.js";
import { migrate } from "../db/migrate.js";
import type { ServerConfig } from "./config.js";
import type { Logger } from "./log.js";

export interface Database {
  url: string;
  /** Whether the service's processes act as their own roles. */
  useRoles: boolean;
  /** Gives the embedded server up; its last user stops it. Nothing to do for a server of the operator's. */
  release(): Promise<void>;
}

/** The operator's database, or the embedded one, brought to this version. */
export async function openDatabase(config: ServerConfig, logger: Logger): Promise<Database> {
  const server = await reachServer(config, logger);
  try {
    const report = await migrate(server.url);
    for (const note of report.notes) logger.warn(note);
    if (report.migrations.length > 0) logger.info({ migrations: report.migrations }, "the database was migrated");
    return { url: server.url, useRoles: report.roles, release: () => server.stop() };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

async function reachServer(config: ServerConfig, logger: Logger): Promise<{ url: string; stop(): Promise<void> }> {
  if (config.databaseUrl !== null) return { url: config.databaseUrl, stop: () => Promise.resolve() };
  return startEmbedded(config.dataDir, {
    onLost: (error) => {
      logger.fatal({ err: error }, "the embedded PostgreSQL is gone");
      process.exit(1);
    },
  });
}
