/** The meaning of error codes: the server's SQLSTATEs, and those of the driver and the system when the server cannot be reached. */

/**
 * Errors that are reported as internal (XX000) but are not: the code that they should have, by message. The first are failures of a cluster's
 * node within a statement, in the words of Citus and of libpq (if it cannot connect, Citus itself reports 08006). The last is PostgreSQL's
 * answer to a new connection when the disk is full and a file of its catalogs cannot be written.
 */
const CODES_BY_MESSAGE: readonly (readonly [code: string, message: RegExp])[] = [
  [
    "08006",
    /^(could not commit transaction for shard|failed to commit transaction on|postmaster was shut down|server closed the connection|could not (receive data from|send data to) server|connection not open|no connection to the server|connection to the remote node|SSL connection has been closed|SSL SYSCALL error|lost synchronization with server)/,
  ],
  ["53100", /: No space left on device$|^could not write init file$/],
];

/** The code of an error; empty if it has none. */
export function codeOf(error: unknown): string {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code !== "string") return "";
  if (code !== "XX000" || typeof message !== "string") return code;
  return CODES_BY_MESSAGE.find(([, pattern]) => pattern.test(message))?.[0] ?? code;
}

const is = (codes: RegExp) => (error: unknown) => codes.test(codeOf(error));

/**
 * The connection is lost or impossible: CONNECTION_CLOSED, CONNECT_TIMEOUT, … of postgres.js; ENOENT for the socket of a stopped server; ENOTFOUND
 * and EAI_AGAIN for its name, which containers lose with it; EMFILE for too many open files.
 */
const AWAY = "08|CONNECT|ECONN|EPIPE|ETIMEDOUT|ENOENT|ENOTFOUND|EAI_|EHOST|ENET|EMFILE|ENFILE";
/** serialization_failure, deadlock_detected: conflicts with concurrent transactions. */
const CONFLICT = "40001|40P01";

/** The server, or a node of a cluster, cannot be reached, or the server restarts. */
export const isUnreachable = is(new RegExp(`^(${AWAY}|57P0[123])`));

/** The same statement may soon succeed on another connection: a lost one, a restart, too many connections, a deadlock. */
export const isTransient = is(new RegExp(`^(${AWAY}|${CONFLICT}|53300|57P0[123])`));

/**
 * The server cannot execute anything now, or not in time: insufficient resources, a lock that was not free (55P03), recovery (55000), a
 * statement timeout (57014), a shutdown or crash (57P), a failover that left it read-only (25006); or it refuses the login (28) or the
 * database (3D), while an operator changes a password or restores.
 */
export const isUnavailable = is(new RegExp(`^(${AWAY}|${CONFLICT}|28|3D|53|55P03|55000|57014|57P|25006)`));

/** The tried data is not the cause: a lack of space or connections, conflicts, the state of the server, a refusal by our functions. */
export const isEnvironmental = is(/^(25|40|53[134]|55|58|SV)/);

/** A lock was not free in time, or a deadlock: nothing was changed. */
export const isLockConflict = is(/^(55P03|40P01)$/);

/** The server rejected a statement: SQLSTATEs have a digit, and other codes are longer or have none. */
export const isServerError = is(/^(?=.*\d)[0-9A-Z]{5}$/);

/** The server shuts down, crashed or is starting, so what was under way has ended. */
export const isShutdown = is(/^57P..$/);

/** The data is at fault, so a retry is useless: data exceptions, violated constraints, program limits. */
export const isDataFault = is(/^(22|23|54)...$/);

/** A value cannot be stored: data exceptions, program limits. */
export const isBadValue = is(/^(22|54)...$/);

export const isDiskFull = is(/^53100$/);

/** All connections of the server, the database or the role are in use. */
export const hasNoConnections = is(/^53300$/);

/** The server refuses the login or the database: a password, a role, pg_hba.conf or a name was changed. */
export const isLoginRefused = is(/^(28|3D)/);

/** The role may not do it. */
export const isForbidden = is(/^42501$/);

/** The session is read-only, and stays so when the database no longer is. */
export const isReadOnly = is(/^25006$/);

/** A function, table or schema does not exist. */
export const isUndefined = is(/^(42883|42P01|3F000)$/);

/** From svc_api: another worker has taken the recompute over. */
export const isJobTakenOver = is(/^SV011$/);

/** One of our functions refused, with a reason. */
export const isRefusal = is(/^SV/);
