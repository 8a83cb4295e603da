import { readFile } from "node:fs/promises";
import path from "node:path";
import { _migrateMigrationSchema } from "graphile-migrate/dist/migration.js";
import type { ParsedSettings } from "graphile-migrate/dist/settings.js";
import type { PoolClient } from "pg";
import { migrateChain } from "../../src/db/migrate/chain.js";
import { execute, executeAll, inMigrationTransaction } from "../../src/db/migrate/execute.js";
import { readCommitted, type SqlFile } from "../../src/db/migrate/files.js";
import { migrateWith, type MigrateReport } from "../../src/db/migrate/migrate.js";

/**
 * Does what `migrate` will do once `migrations/current.sql` is released: executes the chain, then that file, without recording it. So the
 * tests have the same tables as upgraded databases.
 */
export function migrateUnreleased(url: string): Promise<MigrateReport> {
  return migrateWith(url, {}, async (client, root, missing) => {
    await migrateChain(client, url, root, missing);
    const current = await readSql(root, "migrations/current.sql");
    await inMigrationTransaction(client, () => execute(client, current));
    return missing;
  });
}

/** Builds an empty database from `sql/schema`, the state after all migrations, and records these as executed. */
export function installFresh(url: string): Promise<MigrateReport> {
  return migrateWith(url, {}, async (client, root) => {
    const list = JSON.parse(await readFile(path.join(root, "sql/install.json"), "utf8")) as { schema: string[] };
    const schema = await Promise.all(list.schema.map((name) => readSql(root, name)));
    await inMigrationTransaction(client, async () => {
      await executeAll(client, schema);
      await recordChain(client, root);
    });
    return [];
  });
}

async function readSql(root: string, name: string): Promise<SqlFile> {
  return { name, text: await readFile(path.join(root, name), "utf8") };
}

async function recordChain(client: PoolClient, root: string): Promise<void> {
  await _migrateMigrationSchema(client, { manageGraphileMigrateSchema: true } as ParsedSettings);
  const insert = "insert into graphile_migrate.migrations (hash, previous_hash, filename) values ($1, $2, $3)";
  let previous: string | null = null;
  for (const { filename, hash } of await readCommitted(root)) {
    await client.query(insert, [hash, previous, filename]);
    previous = hash;
  }
}
