import { setTimeout as delay } from "node:timers/promises";
import type { ClientBase } from "pg";
import { isLockConflict } from "../sqlstate.js";
import type { SqlFile } from "./files.js";

/** A database that cannot be migrated as it is; the message says what to do and needs no stack. */
export class MigrateError extends Error {
  override name = "MigrateError";
}

/** Executes a file's statements; a failure names file and line. */
export async function execute(client: ClientBase, file: SqlFile): Promise<void> {
  try {
    await client.query(file.text);
  } catch (error) {
    throw new MigrateError(`${file.name}:${lineOf(file.text, error)}: ${describe(error)}`, { cause: error });
  }
}

/**
 * Executes files in one round trip, of which a start would else have hundreds. In a transaction. A failure names file and line: the server
 * does not always say where in the text it was, so then they are executed one by one.
 */
export async function executeAll(client: ClientBase, files: readonly SqlFile[]): Promise<void> {
  await client.query("savepoint files");
  try {
    await client.query(files.map(({ text }) => `${text}\n;`).join("\n"));
  } catch {
    await client.query("rollback to savepoint files");
    for (const file of files) await execute(client, file);
  }
}

/** The transaction is rolled back where `work` throws. */
export async function inMigrationTransaction<T>(client: ClientBase, work: () => Promise<T>): Promise<T> {
  await client.query("begin");
  try {
    const result = await work();
    await client.query("commit");
    return result;
  } catch (error) {
    await client.query("rollback");
    throw error;
  }
}

/** Whether there is a table of this name. */
export async function hasTable(client: ClientBase, name: string): Promise<boolean> {
  const { rows } = await client.query<{ present: boolean }>("select to_regclass($1) is not null as present", [name]);
  return rows[0]?.present === true;
}

/** The server's error in one line: message, SQLSTATE, detail. */
export function describe(error: unknown): string {
  const { message, code, detail } = error as { message: string; code?: string; detail?: string };
  return [message, code === undefined ? "" : ` (${code})`, detail === undefined ? "" : `: ${detail}`].join("");
}

function lineOf(text: string, error: unknown): number {
  const position = Number((error as { position?: string }).position ?? 1); // in characters, from 1
  const before = [...text].slice(0, position - 1).join("");
  return before.split("\n").length;
}

/**
 * Who wants the same table meanwhile waits behind us, so this is how long the processes that are at work may stand still. Less than the
 * second after which the server looks for deadlocks: where they hold what we want next, we are who gives up.
 */
const LOCK_TIMEOUT_MS = 500;
/** For what waited to get through, before the next try. */
const PAUSE_MS = 1000;
const WAIT_MS_MAX = 10 * 60_000;

/** Of a session: a statement gives up on a lock that it does not get soon, and else takes as long as it needs. */
export const MIGRATION_SESSION = { lock_timeout: LOCK_TIMEOUT_MS, statement_timeout: 0 };

export interface LockTimeoutOptions {
  /** Told, in a sentence, when the migration waits: for another process's, or for the processes that use the database. */
  onWait?: (sentence: string) => void;
  /** How long it waits for them in all before it gives up; ten minutes unless given. */
  waitMsMax?: number;
}

/**
 * Does what changes tables that processes of the version before use. It waits for each lock for a moment only, gives way to them, and tries
 * again; `work` must leave nothing behind where it throws. The session must have MIGRATION_SESSION.
 *
 * @throws {MigrateError} where somebody held a lock all the time.
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

export async function setLockTimeout(client: ClientBase): Promise<void> {
  await client.query(`set lock_timeout = ${LOCK_TIMEOUT_MS}`);
}

function lockNotFree(error: unknown): MigrateError {
  return new MigrateError(
    `${describe(error)}; somebody has held a lock on a table of the service all the time: find the oldest transaction ` +
      `(select pid, application_name, xact_start, query from pg_stat_activity order by xact_start), end it, and start again`,
    { cause: error },
  );
}
