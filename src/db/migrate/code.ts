import { createHash } from "node:crypto";
import type { ClientBase } from "pg";
import { executeAll, inTransaction } from "./execute.js";
import type { Install, SqlFile } from "./files.js";

/**
 * Applies functions, triggers, views and, where the roles exist, their grants: all in one transaction, so that other processes
 * see either the old code or the new. Skipped where the database says that it has exactly this already.
 */
export async function applyCode(
  client: ClientBase,
  install: Install,
  rolesPresent: boolean,
): Promise<"applied" | "unchanged"> {
  const files = [...install.code, ...(rolesPresent ? install.roles : [])];
  const hash = hashOf(files);
  if ((await appliedHash(client)) === hash) return "unchanged";
  await inTransaction(client, async () => {
    await executeAll(client, files);
    await recordHash(client, hash);
  });
  return "applied";
}

function hashOf(files: SqlFile[]): string {
  const hash = createHash("sha256");
  for (const { name, text } of files) hash.update(`${name}\0${text}\0`);
  return hash.digest("hex");
}

async function appliedHash(client: ClientBase): Promise<string | null> {
  const { rows } = await client.query<{ present: boolean }>(
    "select to_regclass('svc_migrate.applied_code') is not null as present",
  );
  if (rows[0]?.present !== true) return null;
  return (await client.query<{ hash: string }>("select hash from svc_migrate.applied_code")).rows[0]?.hash ?? null;
}

async function recordHash(client: ClientBase, hash: string): Promise<void> {
  await client.query(`
    create schema if not exists svc_migrate;
    comment on schema svc_migrate is 'What migrate remembers, beside the ledger in graphile_migrate.';
    create table if not exists svc_migrate.applied_code (
      single boolean primary key default true constraint applied_code_single check (single),
      hash text not null,
      applied_at timestamptz not null default now()
    );
    comment on table svc_migrate.applied_code is 'Which functions, triggers, views and grants the database has.';
    comment on column svc_migrate.applied_code.single is 'Keeps the table to one row.';
    comment on column svc_migrate.applied_code.hash is 'SHA-256 of the files applied last, in order; hex.';
    comment on column svc_migrate.applied_code.applied_at is 'When they were applied.';
  `);
  await client.query(
    `insert into svc_migrate.applied_code (hash) values ($1)
     on conflict (single) do update set hash = excluded.hash, applied_at = now()`,
    [hash],
  );
}
