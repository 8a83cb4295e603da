import postgres, { type Notice, type Sql } from "postgres";
import type { Socket } from "node:net";
import { ARRAY_TYPES } from "./array-types.js";
import { dialer } from "./dial.js";

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
/** The driver would wait for up to 20 s before it connects to a server that was away, and so would every request meanwhile. */
const RECONNECT_SECONDS_MAX = 1;

/** Opens a pool. Connections are made when first needed, so this itself does not fail; end it with `sql.end()`. */
export function connect(url: string, options: ConnectOptions): Sql {
  return postgres(url, {
    max: options.max,
    connect_timeout: 10,
    idle_timeout: options.lasting ? 0 : options.silentMsMax === undefined ? 60 : 20,
    ...(options.lasting ? { max_lifetime: null } : {}),
    keep_alive: 15,
    backoff: (failures: number) => (0.5 + Math.random() / 2) * Math.min(3 ** failures / 100, RECONNECT_SECONDS_MAX),
    fetch_types: false,
    prepare: options.pooled !== true,
    types: ARRAY_TYPES,
    // Options that the driver's types leave out.
    ...(options.pipelineMax === undefined ? {} : { max_pipeline: options.pipelineMax }),
    ...(options.silentMsMax === undefined ? {} : { socket: dialer(options.silentMsMax, options.sockets) }),
    onnotice: options.onNotice ?? (() => undefined),
    connection: { application_name: options.applicationName, ...(options.pooled ? {} : sessionOf(options)) },
  });
}

/** What a session begins with. */
function sessionOf({ statementTimeoutMs, role, asynchronousCommit }: ConnectOptions) {
  return {
    statement_timeout: statementTimeoutMs ?? 30 * SECOND_MS,
    // A transaction left open by a fault of ours must not hold its locks, and vacuum, for ever.
    idle_in_transaction_session_timeout: 60 * SECOND_MS,
    ...(role === undefined ? {} : { role }),
    ...(asynchronousCommit ? { synchronous_commit: "off" } : {}),
  };
}

/** Where an environment's rows live. All access goes through this, so that more databases can follow without touching callers. */
export interface Databases {
  dbFor(environmentId: string): Sql;
  /** For work that is not of one environment. */
  every(): readonly Sql[];
}

/** All environments in one database, as today. */
export function oneDatabase(sql: Sql): Databases {
  return { dbFor: () => sql, every: () => [sql] };
}
