import { Socket } from "node:net";
import pg from "pg";
import postgres, { type Notice, type PostgresType, type Sql } from "postgres";
import { driverOptions, type SessionSettings, withSession } from "./address.js";

/** Object ids, which never change, of the PostgreSQL array types that the service uses. */
const ARRAYS = [
  1000, // boolean
  1001, // bytea
  ...[1005, 1007, 1021, 1022, 1028], // smallint, integer, real, double precision, oid
  1016, // bigint, whose values stay strings: they may exceed a double
  ...[1009, 1015, 2951], // text, varchar, uuid
  1185, // timestamptz
  ...[199, 3807], // json, jsonb
];

/** pg's types do not have the object ids of arrays. */
const parserOf = pg.types.getTypeParser as (type: number) => (literal: string) => unknown;

/**
 * Arrays are parsed as in `pg`. The driver would query all array types on each new connection; if that connection is lost meanwhile, the
 * failure of the query is unhandled and would end the process.
 */
const ARRAY_TYPES: Record<string, PostgresType> = Object.fromEntries(
  ARRAYS.map((type) => [`array ${type}`, { to: type, from: [type], serialize: serializeArray, parse: parserOf(type) }]),
);

/** For arrays of strings and numbers, the only ones passed. Any other value is an array literal already. */
function serializeArray(values: unknown): unknown {
  if (!Array.isArray(values)) return values;
  const items = values.map((value) => (value === null ? "NULL" : `"${String(value).replace(/["\\]/g, "\\$&")}"`));
  return `{${items.join(",")}}`;
}

/** The driver's options of where to connect: a host with its port, in lists, or the path of a socket. */
interface Address {
  host: readonly [string];
  port: readonly [number];
  path: string | false | undefined;
}

/**
 * Creates sockets for the driver that are destroyed when nothing was received for `silentMsMax`. The driver waits for an answer as long as
 * the connection exists, and a connection to a machine that has vanished exists for a quarter of an hour.
 *
 * @param silentMsMax more than the maximum idle time of a connection plus the statement timeout
 * @param sockets keeps the sockets that were created and not yet found destroyed, so that they can be counted
 */
function dialer(silentMsMax: number, sockets = new Set<Socket>()): (address: Address) => Socket {
  return ({ host: [host], port: [port], path }) => {
    const socket = new Socket();
    const address = { host, port };
    // Later, when the driver has added its listeners.
    queueMicrotask(() => (path ? socket.connect(path) : socket.connect(address)));
    sockets.add(socket);
    watch(socket, silentMsMax, () => sockets.delete(socket));
    return Object.assign(socket, path ? {} : address); // the driver looks for these on it
  };
}

/**
 * Destroys a socket that is silent, and calls `onGone` once it is destroyed. Checks the count of bytes instead of using the socket's own
 * timeout and events, because the driver removes all listeners when it uses TLS.
 */
function watch(socket: Socket, msMax: number, onGone: () => void): void {
  let received = 0;
  let since = performance.now();
  const timer = setInterval(() => {
    if (socket.destroyed) {
      clearInterval(timer);
      onGone();
    } else if (socket.bytesRead !== received) {
      received = socket.bytesRead;
      since = performance.now();
    } else if (performance.now() - since >= msMax) {
      // Without an error, which would reach a TLS connection before it has ended and leave it in use.
      socket.destroy();
    }
  }, msMax / 10).unref();
}

export interface ConnectOptions {
  /** Maximum of connections. */
  max: number;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** Every connection acts as this role (`svc_http`, …); it must exist, and the URL's user must be a member of it. */
  role?: string;
  /**
   * The URL leads to a pooler in transaction mode: the next transaction may run in another session of the server. So no statements are
   * prepared, and no session settings are sent: role, time limits and mode of commit must be set for the URL's user in the database.
   */
  pooled?: boolean;
  /** The server cancels a statement that runs longer (SQLSTATE 57014); 0 = never. Default: 30 s. */
  statementTimeoutMs?: number;
  /**
   * How many further queries may be sent on a busy connection; default: the driver's 100. If a connection with such queries is lost, the
   * driver does not always settle them, so a pool that must survive lost connections under load sets 0. A pool that opens transactions
   * must not: the driver loses track of a `begin` that fills the pipeline.
   */
  pipelineMax?: number;
  /**
   * Closes a connection, and fails its queries, if the server sends nothing for this long; by default only TCP detects lost connections.
   * Must exceed the statement timeout plus 20 s, the idle timeout of such a pool.
   */
  silentMsMax?: number;
  /** Receives the pool's sockets, including those destroyed recently; only with `silentMsMax`. */
  sockets?: Set<Socket>;
  /**
   * Commits return before they are on disk. A crash of the server then loses the latest of them, in order; a transaction that must not be
   * lost sets `synchronous_commit` for itself, and whatever was committed before it is then on disk too.
   */
  asynchronousCommit?: boolean;
  /** Connections have no limit of lifetime or idle time, because their sessions hold locks of jobs. */
  lasting?: boolean;
  /** Receives the server's notices; dropped by default. The driver would print them on stdout, which is reserved. */
  onNotice?: (notice: Notice) => void;
}

const SECOND_MS = 1000;
/**
 * Lifetime of a connection. Defaults of a database or a user apply to new sessions only: after a time as read-only, which hosts set when the
 * disk is full, sessions from that time stay read-only, and the driver would keep them for up to an hour.
 */
const lifetimeSeconds = () => 60 * (5 + 5 * Math.random());
/** The driver would wait up to 20 s before it reconnects to a server that was down, and so would every request meanwhile. */
const RECONNECT_SECONDS_MAX = 1;

/**
 * Opens a pool, to be ended with `sql.end()`. Connections are opened when first needed.
 *
 * @throws the error of Node.js if a certificate file cannot be read
 */
export function connect(url: string, options: ConnectOptions): Sql {
  const { address, settings } = driverOptions(options.pooled ? url : withSession(url, settingsOf(options)));
  // Options that the driver accepts, but its types do not have.
  const untyped: object = {
    ...address,
    max_lifetime: options.lasting ? null : lifetimeSeconds,
    ...(options.pipelineMax === undefined ? {} : { max_pipeline: options.pipelineMax }),
    ...(options.silentMsMax === undefined ? {} : { socket: dialer(options.silentMsMax, options.sockets) }),
  };
  return postgres({
    ...untyped,
    max: options.max,
    connect_timeout: 10,
    idle_timeout: options.lasting ? 0 : options.silentMsMax === undefined ? 60 : 20,
    keep_alive: 15,
    backoff: (failures: number) => (0.5 + Math.random() / 2) * Math.min(3 ** failures / 100, RECONNECT_SECONDS_MAX),
    fetch_types: false,
    prepare: options.pooled !== true,
    types: ARRAY_TYPES,
    onnotice: options.onNotice ?? (() => undefined),
    connection: { application_name: options.applicationName, ...(settings === undefined ? {} : { options: settings }) },
  });
}

function settingsOf({ statementTimeoutMs, role, asynchronousCommit }: ConnectOptions): SessionSettings {
  return {
    statement_timeout: statementTimeoutMs ?? 30 * SECOND_MS,
    // A transaction left open by a bug must not hold its locks, and vacuum back, forever.
    idle_in_transaction_session_timeout: 60 * SECOND_MS,
    ...(role === undefined ? {} : { role }),
    ...(asynchronousCommit ? { synchronous_commit: "off" } : {}),
  };
}
