import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import pg from "pg";
import { createEmptyDatabase, type TestDatabase } from "../../support/database.js";

const FIXTURES = path.join(import.meta.dirname, "fixtures");

/** Secrets of a fixture's users that its database does not contain; scripts/upgrade-fixture.ts writes them. */
export interface Known {
  /** SVC_SECRET. */
  secret: string;
  organizationId: string;
  accessToken: string;
  ciToken: string;
  keys: { test: string; live: string; second: string; revoked: string };
  webhook: { id: string; secret: string };
  /** A webhook whose deliveries wait for another attempt. */
  failingWebhook: string;
  /** A request that was answered, to be repeated. */
  answered: { request: object; eventId: string };
  setAside: string;
}

/** The releases with fixture databases, by their last migration, oldest first. */
export const RELEASES = readdirSync(FIXTURES)
  .filter((name) => name.endsWith(".sql.gz"))
  .map((name) => name.replace(".sql.gz", ""))
  .sort();

/** The dump of a release, for psql, and its secrets. */
export async function dumpOf(release: string): Promise<{ sql: string; known: Known }> {
  const packed = await readFile(path.join(FIXTURES, `${release}.sql.gz`));
  return {
    sql: (await promisify(gunzip)(packed)).toString("utf8"),
    known: JSON.parse(await readFile(path.join(FIXTURES, `${release}.json`), "utf8")) as Known,
  };
}

/**
 * Creates a database as of a release, filled by the service of that release. Only its access tokens, which are valid for a day, and its
 * deliveries, of which all pending ones are due, are of the present.
 */
export async function loadRelease(release: string): Promise<{ database: TestDatabase; known: Known }> {
  const { sql, known } = await dumpOf(release);
  const database = await createEmptyDatabase();
  try {
    // On a separate connection, as a dump changes settings.
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      // Commands of psql, which protect the dump's content, are not for the server.
      await client.query(sql.replace(/^\\(un)?restrict .*$/gm, ""));
    } finally {
      await client.end();
    }
    await database.sql`update iam.access_tokens set expires_at = now() + interval '1 day'`;
    await database.sql`update svc.deliveries set next_attempt_at = now() where status = 'pending'`;
    // A later program has other functions, and applies them all. (A restored dump has the same meaning, but not the same text.)
    await database.sql`delete from svc_migrate.applied_code`;
    await database.sql`analyze`;
    return { database, known };
  } catch (error) {
    await database.drop();
    throw error;
  }
}
