import { Logger } from "@graphile/logger";
import type { PoolClient } from "pg";
import path from "node:path";
import { describe, hasTable, MigrateError } from "./execute.js";
import { readCommitted, type Committed } from "./files.js";

/** Without the record, the first migration would fail at the first table. */
const NO_LEDGER =
  "the database has the service's tables, but no record of its migrations, as after a restore of a dump without data; " +
  "restore the schemas graphile_migrate, graphile_worker and svc_migrate with their data, too, or name an empty database";

/** The committed migrations that the database does not have. Throws MigrateError if it has others. */
export async function missingMigrations(client: PoolClient, root: string): Promise<string[]> {
  const committed = await readCommitted(root);
  const isMigrated = await hasTable(client, "svc.customers");
  if (!isMigrated) await refuseForeignSchemas(client);
  const recorded = await readLedger(client);
  if (isMigrated && recorded.length === 0) throw new MigrateError(NO_LEDGER);
  refuseUnknown(committed, recorded);
  return committed.slice(recorded.length).map(({ filename }) => filename);
}

/**
 * Executes the missing committed migrations in the session of the client, which has the lock: the library's own sessions end the process if
 * the server stops meanwhile.
 */
export async function migrateChain(client: PoolClient, url: string, root: string, missing: readonly string[]) {
  if (missing.length === 0) return;
  // Loaded only when needed, and not by the library's main module, which loads four times as much.
  const { getLastMigration, getMigrationsAfter, runCommittedMigration } =
    await import("graphile-migrate/dist/migration.js");
  const { parseSettings } = await import("graphile-migrate/dist/settings.js");
  const settings = await parseSettings({
    connectionString: url,
    databaseOwner: "unused", // our migrations mention no owner, and a URL may name no user
    migrationsFolder: path.join(root, "migrations"),
    logger: new Logger(() => () => undefined),
  });
  try {
    for (const migration of await getMigrationsAfter(settings, await getLastMigration(client, settings))) {
      await runCommittedMigration(client, settings, { database: settings.databaseName }, migration, "");
    }
  } catch (error) {
    throw new MigrateError(`migrations/committed: ${describe(error)}`, { cause: error });
  }
}

async function readLedger(client: PoolClient): Promise<Committed[]> {
  if (!(await hasTable(client, "graphile_migrate.migrations"))) return [];
  return (await client.query<Committed>("select filename, hash from graphile_migrate.migrations order by filename"))
    .rows;
}

/** Before the first migration: the schemas must be free; those that the libraries and a pack make may exist if this user owns them. */
async function refuseForeignSchemas(client: PoolClient): Promise<void> {
  const { rows } = await client.query<{ schema: string; owner: string }>(
    `select nspname as schema, nspowner::regrole::text as owner
     from pg_namespace
     where nspname in ('iam', 'svc', 'svc_api', 'svc_inspect')
       or nspname in ('graphile_migrate', 'graphile_worker', 'svc_migrate', 'svc_citus') and not pg_has_role(nspowner, 'member')
     order by nspname`,
  );
  if (rows.length === 0) return;
  const schemas = rows.map(({ schema, owner }) => `${schema} of ${owner}`).join(", ");
  throw new MigrateError(
    `another application has schemas in this database that the service needs for itself: ${schemas}; name another database`,
  );
}

function refuseUnknown(committed: Committed[], recorded: Committed[]): void {
  for (const [index, { filename, hash }] of recorded.entries()) {
    const known = committed[index];
    if (known === undefined) {
      throw new MigrateError(
        `the database is newer than this program: it has migration ${filename}, the newest known here is ` +
          `${committed.at(-1)?.filename ?? "none"}; install the version that made it, or a later one`,
      );
    }
    if (known.filename !== filename || known.hash !== hash) {
      throw new MigrateError(
        `the database was made by a different build: its migration ${filename} is not the one known here; ` +
          `use that build, or an empty database`,
      );
    }
  }
}
