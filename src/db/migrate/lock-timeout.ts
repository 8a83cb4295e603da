import type { ClientBase } from "pg";
import { setTimeout as delay } from "node:timers/promises";
import { isLockConflict } from "../sqlstate.js";
import { describe, MigrateError } from "./execute.js";

/**
 * Who wants the same table meanwhile waits behind us, so this is how long the processes that are at work may stand still. Less than the
 * second after which the server looks for deadlocks: where they hold what we want next, we are who gives up.
 */
const LOCK_TIMEOUT_MS = 500;
/** For what waited to get through, before the next try. */
const PAUSE_MS = 1000;
const WAIT_MS_MAX = 10 * 60_000;

/** Of the session: a statement gives up on a lock that it does not get soon, and else takes as long as it needs. */
const LOCK_TIMEOUT = `lock_timeout=${LOCK_TIMEOUT_MS}`;
const NO_STATEMENT_TIMEOUT = "statement_timeout=0";

export interface LockTimeoutOptions {
  /** Told before each further try, in a sentence. */
  onWait?: ((sentence: string) => void) | undefined;
  /** Ten minutes unless given. */
  waitMsMax?: number | undefined;
}

/**
 * Does what changes tables that processes of the version before use. It waits for each lock for a moment only, gives way to them, and tries
 * again; `work` must leave nothing behind where it throws. The session must have LOCK_TIMEOUT.
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
      onWait?.(`the migration gives way to who holds a lock, and tries again: ${describe(error)}`);
      await delay(PAUSE_MS);
    }
  }
}

export async function setLockTimeout(client: ClientBase): Promise<void> {
  await client.query(`set ${LOCK_TIMEOUT}`);
}

/** The same URL, for a client that sets nothing by itself. */
export function withTimeouts(url: string): string {
  const changed = new URL(url);
  const options = changed.searchParams.get("options");
  const ours = `-c ${LOCK_TIMEOUT} -c ${NO_STATEMENT_TIMEOUT}`;
  changed.searchParams.set("options", options === null ? ours : `${options} ${ours}`);
  return changed.href;
}

function lockNotFree(error: unknown): MigrateError {
  return new MigrateError(
    `${describe(error)}; somebody has held a lock on a table of the service all the time: find the oldest transaction ` +
      `(select pid, application_name, xact_start, query from pg_stat_activity order by xact_start), end it, and start again`,
    { cause: error },
  );
}
