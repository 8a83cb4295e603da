import { setTimeout as delay } from "node:timers/promises";
import type { ClientBase } from "pg";
import { isLockConflict } from "../sqlstate.js";
import type { SqlFile } from "./files.js";

/** One migration, of the service or of a pack, at a time per database; graphile-migrate's own lock fails instead of waiting. */
export const MIGRATE_LOCK = "7205759403793";

/** A database that cannot be migrated; the message says what to do and needs no stack. */
export class MigrateError extends Error {
  override name = "MigrateError";
}

/** Executes a file's statements; an error names file and line. */
export async function execute(client: ClientBase, file: SqlFile): Promise<void> {
  try {
    await client.query(file.text);
  } catch (error) {
    throw new MigrateError(`${file.name}:${lineOf(file.text, error)}: ${describe(error)}`, { cause: error });
  }
}

/**
 * Executes files in one round trip instead of hundreds; to be called in a transaction. An error names file and line: because the server does
 * not always say where in the text it occurred, the files are then executed one by one.
 */
export async function executeAll(client: ClientBase, files: readonly SqlFile[]): Promise<void> {
  await client.query("savepoint files");
  try {
    await client.query(files.map(({ text }) => `${text}\n;`).join("\n"));
  } catch (error) {
    await unlessBroken(error, client.query("rollback to savepoint files"));
    for (const file of files) await execute(client, file);
  }
}

/** Does work in a transaction, which is rolled back if `work` throws. */
export async function inMigrationTransaction<T>(client: ClientBase, work: () => Promise<T>): Promise<T> {
  await client.query("begin");
  try {
    const result = await work();
    await client.query("commit");
    return result;
  } catch (error) {
    await unlessBroken(error, client.query("rollback"));
    throw error;
  }
}

/** Waits for the statement that undoes what failed. If that fails, too, the connection is broken, and the first error says why. */
async function unlessBroken(error: unknown, undone: Promise<unknown>): Promise<void> {
  await undone.catch(() => {
    throw new MigrateError(describe(error), { cause: error });
  });
}

/** Whether a table exists, also in a schema that the user may not use. @param name with its schema, as in SQL */
export async function hasTable(client: ClientBase, name: string): Promise<boolean> {
  const { rows } = await client.query(
    `select from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
     where n.nspname = (parse_ident($1))[1]::name and c.relname = (parse_ident($1))[2]::name`,
    [name],
  );
  return rows.length > 0;
}

/** The messages of the server and of the driver when a connection breaks; later statements fail with the second one. */
const BROKEN = /^terminating connection|^Client has encountered a connection error|^Connection terminated/;

/** The server's error in one line: message, SQLSTATE, detail; if the connection broke, also what to do. */
export function describe(error: unknown): string {
  const { message, code, detail } = error as { message: string; code?: string; detail?: string };
  const text = [message, code === undefined ? "" : ` (${code})`, detail === undefined ? "" : `: ${detail}`].join("");
  return BROKEN.test(message)
    ? `${text}; the connection to the database broke: start again when its server runs`
    : text;
}

function lineOf(text: string, error: unknown): number {
  const position = Number((error as { position?: string }).position ?? 1); // in characters, from 1
  const before = [...text].slice(0, position - 1).join("");
  return before.split("\n").length;
}

/**
 * Sessions that need the same table queue behind us, so this is how long working processes may be blocked. Less than the second after which
 * the server looks for deadlocks: if another session holds what we need next, we give up, not it.
 */
export const LOCK_TIMEOUT_MS = 500;
/** Lets queued sessions proceed before the next try. */
const PAUSE_MS = 1000;
const WAIT_MS_MAX = 10 * 60_000;

export interface LockTimeoutOptions {
  /** Called with a sentence when the migration waits for another process's migration, or for a lock of another session. */
  onWait?: (sentence: string) => void;
  /** How long it waits for locks in total before it gives up; default: ten minutes. */
  waitMsMax?: number;
}

/**
 * Does work that changes tables which processes of the previous version use: waits only briefly for each lock, lets those processes proceed,
 * and tries again. `work` must leave nothing behind when it throws. The setting `lock_timeout` of its
 * sessions must be LOCK_TIMEOUT_MS.
 *
 * @throws {MigrateError} if a lock was never free
 */
export async function withLockTimeout<T>(
  work: () => Promise<T>,
  { onWait, waitMsMax = WAIT_MS_MAX }: LockTimeoutOptions,
): Promise<T> {
  const end = Date.now() + waitMsMax;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isLockConflict(error) && !isLockConflict((error as Error).cause)) throw error;
      if (Date.now() > end) throw lockNotFree(error);
      onWait?.(`the migration waits for a lock that another session holds, and tries again: ${describe(error)}`);
      await delay(PAUSE_MS);
    }
  }
}

function lockNotFree(error: unknown): MigrateError {
  return new MigrateError(
    `${describe(error)}; another session has held a lock on a table of the service all the time: find the oldest transaction ` +
      `(select pid, application_name, xact_start, query from pg_stat_activity order by xact_start), end it, and start again`,
    { cause: error },
  );
}
