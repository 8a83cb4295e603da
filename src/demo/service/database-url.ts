/** Where psql finds the embedded database. */
import { readFile } from "node:fs/promises";
import path from "node:path";

/**
 * The address of the embedded PostgreSQL in a data directory, its superuser's password included: the password lies beside the
 * cluster, and the fourth line of postmaster.pid is the port. Fit for a person at this machine, not for a log.
 */
export async function databaseUrl(dataDir: string): Promise<string> {
  const home = path.join(dataDir, "postgres");
  const password = (await readFile(path.join(home, "password"), "utf8")).trim();
  const port = (await readFile(path.join(home, "data", "postmaster.pid"), "utf8")).split("\n")[3]?.trim() ?? "5432";
  return `postgres://svc:${encodeURIComponent(password)}@127.0.0.1:${port}/svc`;
}
