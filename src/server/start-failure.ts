import { once } from "node:events";
import type { Server } from "node:net";
import path from "node:path";
import { databasePlace, requiresTls } from "../db/address.js";
import { MigrateError } from "../db/migrate/execute.js";
import { codeOf } from "../db/sqlstate.js";
import type { ServerConfig } from "./config.js";

/** A command of the operator cannot be carried out; the message says why and what to do. */
export class OperatorError extends Error {
  override name = "OperatorError";
}

/** A problem that prevents the start and that the operator can fix; the message says how, so no stack is printed. */
export class StartError extends Error {
  override name = "StartError";
}

type Failed = { message?: string; cause?: unknown; syscall?: string; path?: string; severity?: string };

/** Starts listening. Throws StartError for problems that the operator can fix. @param backlog the default of Node.js unless given */
export async function listenOn(
  server: Server,
  { host, port }: Pick<ServerConfig, "host" | "port">,
  backlog?: number,
): Promise<void> {
  try {
    await once(server.listen({ host, port, backlog }), "listening");
  } catch (error) {
    const problems: Record<string, string> = {
      EADDRINUSE: `another process listens on ${host}:${port}; end it, or set SVC_PORT to another port (0 takes a free one)`,
      EACCES: `this user may not listen on port ${port}; set SVC_PORT to one above 1023`,
      EADDRNOTAVAIL: `${host} is not an address of this machine; correct SVC_HOST`,
      ENOTFOUND: `there is no host ${host}; correct SVC_HOST`,
      EAI_AGAIN: `the name ${host} cannot be looked up; correct SVC_HOST`,
    };
    const problem = problems[codeOf(error)];
    throw problem === undefined ? error : new StartError(`cannot listen: ${problem}`, { cause: error });
  }
}

/** A StartError for a failure to open the database at `url`, which comes from `variable`; other errors unchanged. Null: the embedded database. */
export function databaseFailure(error: unknown, url: string | null, variable = "DATABASE_URL"): unknown {
  if (url === null || error instanceof StartError) return error;
  const at = new URL(url);
  const place = databasePlace(url);
  const tls = requiresTls(url);
  const name = decodeURIComponent(at.pathname.slice(1));
  const user = decodeURIComponent(at.username);
  const problem =
    error instanceof MigrateError
      ? migrating(error, name, user)
      : connecting(error, { variable, place, name, user, tls });
  return problem === null ? error : new StartError(problem, { cause: error });
}

/** A StartError for a migration of the embedded database for which its disk has no space; other errors unchanged. */
export function embeddedFailure(error: unknown, dataDir: string): unknown {
  if (!(error instanceof MigrateError) || codeOf(error.cause) !== "53100") return error;
  return new StartError(`${error.message}; free space on the disk of ${path.resolve(dataDir)}`, { cause: error });
}

/** As `databaseFailure`, for a command that only reads: a user without the privilege need not become the owner. */
export function lookFailure(error: unknown, url: string | null): unknown {
  if (url === null || codeOf(error) !== "42501") return databaseFailure(error, url);
  const user = decodeURIComponent(new URL(url).username);
  return new StartError(
    `the user ${user} may not read the service's tables (${(error as Error).message}); name the user that migrates the database in DATABASE_URL`,
    { cause: error },
  );
}

type Target = Record<"variable" | "place" | "name" | "user", string> & { tls: boolean };

/** The message for a failed connection, by SQLSTATE or by code of the system or of TLS; null if there is none. */
function connecting(error: unknown, { variable, place, name, user, tls }: Target): string | null {
  const { message = "", syscall = "", path, severity } = error as Failed;
  const code = codeOf(error);
  const server = `the database server at ${place}`;
  if (code === "EMFILE" || code === "ENFILE")
    return `too many files are open (${code}); let the process have 1,024 at least (ulimit -n, LimitNOFILE= of systemd)`;
  if (syscall === "open" || code === "EISDIR") {
    // Node.js does not name the path if it is a directory.
    const file = path === undefined ? "a file" : `the file ${path}`;
    return `cannot read ${file} that ${variable} names (${code}); correct sslrootcert, sslcert or sslkey there`;
  }
  if (/^(ECONNREFUSED|ENOENT)$/.test(code)) {
    const program = variable === "SVC_POOLER_URL" ? "pooler" : "database server";
    return `nothing listens at ${place} (${code}); start the ${program}, or correct ${variable}`;
  }
  if (/^(ENOTFOUND|EAI_)/.test(code)) {
    return `the name of ${server} cannot be looked up (${code}); correct ${variable}: in a password @, #, / and ? are written %40, %23, %2F and %3F`;
  }
  // Only at the beginning of a session an impossible setting ends it.
  const isOfSession = /^(22023|42601|42602|42704)$/.test(code) || /^permission denied to set parameter/.test(message);
  if (severity === "FATAL" && isOfSession) {
    return `${server} does not accept the settings of this session (${message}); correct options in ${variable}`;
  }
  if (code === "ECONNRESET" && tls) {
    return `${server} ends the connection as TLS begins (${code}); if it does not support TLS, remove sslmode from ${variable}, else see that it runs`;
  }
  if (/^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ECONNRESET|EPIPE)$/.test(code) || /timeout/i.test(message)) {
    return `${server} does not answer (${code || message}); see that it runs and can be reached, or correct ${variable}`;
  }
  if (code === "28P01") {
    return `${server} refuses the password of the user ${user}; correct ${variable}, or set the password: alter role … password '…'`;
  }
  if (code === "28000")
    return `${server} rejects this connection: ${message}; correct ${variable}, or the server's pg_hba.conf`;
  if (/^unsupported startup parameter/.test(message)) {
    return `a pooler answers at ${place} (${message}); name the database itself in ${variable}, and the pooler in SVC_POOLER_URL`;
  }
  // PgBouncer before 1.19 reports a wrong password, or an unknown database, with this code.
  if (code === "08P01")
    return `the pooler at ${place} refuses: ${message}; correct ${variable}, or the pooler's configuration`;
  if (code === "3D000")
    return `${server} has no database ${name}; create it (createdb ${name}), or correct ${variable}`;
  if (code === "42501") return `the user ${user} may not do this (${message}); ${owner(message, name, user)}`;
  if (code === "53100") return `the disk of ${server} is full (${message}); free space there`;
  if (code === "53300") return `${server} has no connections left (${message}); ${connectionLimit(message)}`;
  if (/^57P0/.test(code)) return `${server} is starting or stopping (${message}); start again in a moment`;
  if (code === "25006") return `${server} is read-only, a standby for example; name the primary in ${variable}`;
  if (/CERT|^ERR_TLS/.test(code)) {
    return `the certificate of ${server} is not trusted (${code}); name its authority's file as sslrootcert in ${variable}`;
  }
  if (/does not support SSL/.test(message)) return `${server} does not support TLS; remove sslmode from ${variable}`;
  return null;
}

/** What to raise: a role or a database may have a limit of its own. */
function connectionLimit(message: string): string {
  const [, kind, name] = /for (role|database) "(.*)"/.exec(message) ?? [];
  const raise = kind === undefined ? "raise max_connections" : `alter ${kind} "${name}" connection limit …`;
  return `${raise}, or end other clients`;
}

/** A migration needs two connections, and the ownership of the database and of objects in it. */
function migrating(error: MigrateError, name: string, user: string): string | null {
  const code = codeOf(error.cause);
  if (code === "53300") return `${error.message}; ${connectionLimit(error.message)}`;
  return code === "42501" ? `${error.message}; ${owner(error.message, name, user)}` : null;
}

/** What to do about a missing privilege: on the database, or on the objects of another user in it. */
function owner(message: string, name: string, user: string): string {
  if (message.includes("permission denied for database")) {
    return `start as the owner of the database, or make this user the owner: alter database "${name}" owner to "${user}"`;
  }
  return (
    "its objects belong to another user: name that one in DATABASE_URL, " +
    `or run as that one: reassign owned by current_user to "${user}"; a dump is restored for this user by pg_restore --no-owner --role="${user}"`
  );
}
