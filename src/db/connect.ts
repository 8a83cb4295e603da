import { Socket } from "node:net";
import pg from "pg";
import postgres, { type Notice, type PostgresType, type Sql } from "postgres";
import { driverOptions, type SessionSettings, withSession } from "./address.js";

/** Object ids of PostgreSQL's array types, which never change, as far as the service uses them. */
const ARRAYS = [
  1000, // boolean
  1001, // bytea
  ...[1005, 1007, 1021, 1022, 1028], // smallint, integer, real, double precision, oid
  1016, // bigint, whose values stay texts: they may exceed a double
  ...[1009, 1015, 2951], // text, varchar, uuid
  1185, // timestamptz
  ...[199, 3807], // json, jsonb
];

/** Its types know object ids of no array. */
const parserOf = pg.types.getTypeParser as (type: number) => (literal: string) => unknown;

/**
 * Arrays, read as `pg` reads them. The driver would ask each new connection for all array types there are; where that connection is lost
 * meanwhile, nobody handles the failure of its question, and the process would end.
 */
const ARRAY_TYPES: Record<string, PostgresType> = Object.fromEntries(
  ARRAYS.map((type) => [`array ${type}`, { to: type, from: [type], serialize: serializeArray, parse: parserOf(type) }]),
);

/** Of texts and numbers, which is what is passed in arrays. What is none is a literal already. */
function serializeArray(values: unknown): unknown {
  if (!Array.isArray(values)) return values;
  const items = values.map((value) => (value === null ? "NULL" : `"${String(value).replace(/["\\]/g, "\\$&")}"`));
  return `{${items.join(",")}}`;
}

/** What the driver knows of the addresses to connect to: one or more hosts with their ports, or the path of a socket. */
interface Addresses {
  host: readonly string[];
  port: readonly number[];
  path: string | false | undefined;
}

/**
 * Makes the driver's sockets in its stead, ones that are destroyed where nothing was received for `silentMsMax`. The driver waits for an
 * answer as long as the connection stands, and a connection to a machine that has vanished stands for a quarter of an hour.
 *
 * @param sockets those that were made and have not been found destroyed yet, kept for whoever counts them.
 * @param silentMsMax more than a connection may be idle and a statement may then take, together.
 */
function dialer(silentMsMax: number, sockets = new Set<Socket>()): (addresses: Addresses) => Socket {
  let turn = 0;
  return ({ host, port, path }) => {
    const socket = new Socket();
    const index = turn++ % host.length;
    const address = { host: host[index] ?? "", port: port[index] ?? 0 };
    // Not before the driver listens to it.
    queueMicrotask(() => (path ? socket.connect(path) : socket.connect(address)));
    sockets.add(socket);
    watch(socket, silentMsMax, () => sockets.delete(socket));
    return Object.assign(socket, path ? {} : address); // the driver looks for these on it
  };
}

/**
 * Destroys a socket that is silent, and tells when it is found destroyed. By the count of bytes and not by the socket's own timeout and
 * events, because the driver removes its listeners where it uses TLS.
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
      // Without an error, which would reach a connection with TLS before it has ended and leave it in use.
      socket.destroy();
    }
  }, msMax / 10).unref();
}

export interface ConnectOptions {
  /** Connections at most. */
  max: number;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** Every connection acts as this role (`svc_http`, …); it must exist and the URL's user must be its member. */
  role?: string;
  /**
   * The URL leads to a pooler in transaction mode: the next transaction may run in another session of the server. So there are no prepared
   * statements, and who acts and for how long is set for the URL's user there: role, time limits and commit are not asked for.
   */
  pooled?: boolean;
  /** A statement that runs longer is cancelled by the server (SQLSTATE 57014); 0 = never. 30 s unless given. */
  statementTimeoutMs?: number;
  /**
   * How many queries may wait on a connection that is busy, in the server's keeping; the driver's 100 unless given. Where a connection is
   * lost with others than the one under way, the driver does not always settle those, so a pool that must outlive lost connections under
   * load sets 0. A pool that opens transactions must not: the driver loses track of a `begin` that fills the pipeline.
   */
  pipelineMax?: number;
  /**
   * A connection is given up where the server says nothing for so long, with what was asked on it; only by TCP's own means unless given.
   * More than a statement may take and 20 s, for which such a pool's connections may be idle.
   */
  silentMsMax?: number;
  /** Where to keep the pool's sockets, the last destroyed ones among them; of a pool with `silentMsMax` only. */
  sockets?: Set<Socket>;
  /**
   * A commit answers before it is on disk. A crash of the server then loses the last of them, in order; a transaction that must not be lost
   * sets `synchronous_commit` for itself, and what was committed before it is on disk with it.
   */
  asynchronousCommit?: boolean;
  /** Connections are kept, however long they live and are idle: what their sessions hold counts. */
  lasting?: boolean;
  /** Told what the server says beside its answers; dropped unless given. Never printed: stdout is not ours to write on. */
  onNotice?: (notice: Notice) => void;
}

const SECOND_MS = 1000;
/**
 * How long a connection lives. What a database or a user has as a default is that of new sessions only: where it was read-only for a while, as
 * hosts make it where its disk is full, sessions of that time stay so, and the driver would keep them for up to an hour.
 */
const lifetimeSeconds = () => 60 * (5 + 5 * Math.random());
/** The driver would wait for up to 20 s before it connects to a server that was away, and so would every request meanwhile. */
const RECONNECT_SECONDS_MAX = 1;

/**
 * Opens a pool, to be ended with `sql.end()`. Connections are made when first needed.
 *
 * @throws what Node.js says of a file of certificates that cannot be read
 */
export function connect(url: string, options: ConnectOptions): Sql {
  const { address, settings } = driverOptions(options.pooled ? url : withSession(url, settingsOf(options)));
  // As the driver takes it; its types leave some of it out.
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
    // A transaction left open by a fault of ours must not hold its locks, and vacuum, for ever.
    idle_in_transaction_session_timeout: 60 * SECOND_MS,
    ...(role === undefined ? {} : { role }),
    ...(asynchronousCommit ? { synchronous_commit: "off" } : {}),
  };
}
