/** What the codes of errors say: the server's SQLSTATEs, and the codes of the driver and of the system where there is no server to ask. */

/**
 * What comes as an internal error, XX000, and is none: by message the code that says what it is. Of faults of a node within a statement these
 * are Citus's own words, and those of the library that it connects by; where it cannot connect it says 08006 itself. PostgreSQL says the last
 * one to whoever connects to a full disk before a new file of its catalogs is written.
 */
const INTERNAL_BY_NAME: readonly (readonly [code: string, message: RegExp])[] = [
  [
    "08006",
    /^(could not commit transaction for shard|failed to commit transaction on|postmaster was shut down|server closed the connection|could not (receive data from|send data to) server|connection not open|no connection to the server|connection to the remote node|SSL connection has been closed|SSL SYSCALL error|lost synchronization with server)/,
  ],
  ["53100", /: No space left on device$|^could not write init file$/],
];

/** Of an error without one, and of what is no error, the empty text. */
export function codeOf(error: unknown): string {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code !== "string") return "";
  if (code !== "XX000" || typeof message !== "string") return code;
  return INTERNAL_BY_NAME.find(([, said]) => said.test(message))?.[0] ?? code;
}

const is = (codes: RegExp) => (error: unknown) => codes.test(codeOf(error));

/** The way to the server is gone: CONNECTION_CLOSED, CONNECT_TIMEOUT, … of postgres.js, and ENOENT of the socket of a server that is down. */
const AWAY = "08|CONNECT|ECONN|EPIPE|ETIMEDOUT|ENOENT";
/** serialization_failure, deadlock_detected: others were at the same rows. */
const CONFLICT = "40001|40P01";

/** The way to the server, or to a node of a cluster, is gone, or the server restarts. */
export const isAway = is(new RegExp(`^(${AWAY}|57P0[123])`));

/** The same statement may succeed in a moment, on another connection: lost ones, a server that restarts or is full, a deadlock. */
export const isTransient = is(new RegExp(`^(${AWAY}|${CONFLICT}|53300|57P0[123])`));

/**
 * The server cannot do it for now, or did not in time, whatever was asked: insufficient resources, a lock that was not free (55P03), recovery
 * under way (55000), a timeout of the statement (57014), a shutdown or a crash (57P), a failover that left it read-only (25006); or it does
 * not let us in (28) or to the database (3D), while an operator changes a password or restores.
 */
export const isUnavailable = is(new RegExp(`^(${AWAY}|${CONFLICT}|28|3D|53|55P03|55000|57014|57P|25006)`));

/** The fault is not in what was tried: a lack of room or of connections, conflicts, the state of the server, a refusal of ours. */
export const isOfCircumstances = is(/^(25|40|53[134]|55|58|SV)/);

/** Another holds a lock that was not to be waited for, or waits for one of ours: nothing was changed. */
export const isLockConflict = is(/^(55P03|40P01)$/);

/** The server refused a statement: SQLSTATEs have a digit, and other codes are longer or have none. */
export const isOfServer = is(/^(?=.*\d)[0-9A-Z]{5}$/);

/** The server ends, or has just begun, and ends what was under way. */
export const isShutdown = is(/^57P..$/);

/** The data is at fault, so that trying again is no use: data exceptions, violated constraints, program limits. */
export const isDataFault = is(/^(22|23|54)...$/);

/** A value cannot be stored: data exceptions, program limits. */
export const isBadValue = is(/^(22|54)...$/);

export const isDiskFull = is(/^53100$/);

/** The server does not let the service in, or not to its database: a password, a role, pg_hba.conf or a name was changed. */
export const isShutOut = is(/^(28|3D)/);

/** The session is read-only, and stays so where the database is no more. */
export const isReadOnly = is(/^25006$/);

/** A function, table or schema is not there. */
export const isUndefined = is(/^(42883|42P01|3F000)$/);

/** Of svc_api: another worker has the recompute. */
export const isTakenOver = is(/^SV011$/);

/** A function of ours refuses it, and says why. */
export const isRefusal = is(/^SV/);
