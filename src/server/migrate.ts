import type { ServerConfig } from "./config.js";
import { openDatabase } from "./database.js";
import type { Logger } from "./log.js";

/** `svc-server migrate`: brings the database to this version and says so. */
export async function migrateCommand(config: ServerConfig, logger: Logger): Promise<void> {
  const database = await openDatabase(config, logger);
  await database.release();
  process.stdout.write("The database is up to date.\n");
}
