import postgres, { type Notice, type Sql } from "postgres";
import { ARRAY_TYPES } from "./array-types.js";

export interface ConnectOptions {
  /** Connections at most. */
  max: number;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** Every connection acts as this role (`svc_http`, …); it must exist and the URL's user must be its member. */
  role?: string;
  /** A statement that runs longer is cancelled by the server (SQLSTATE 57014); 0 = never. 30 s unless given. */
  statementTimeoutMs?: number;
  /** Told what the server says beside its answers; dropped unless given. Never printed: stdout is not ours to write on. */
  onNotice?: (notice: Notice) => void;
}

const SECOND_MS = 1000;

/**
 * How many queries may wait on a connection that is busy, an option that the driver's types leave out. Few, so that none waits behind
 * long ones; and where a connection is lost with many under way, the driver does not always recover it.
 */
const UNDOCUMENTED = { max_pipeline: 1 };

/** Opens a pool. Connections are made when first needed, so this itself does not fail; end it with `sql.end()`. */
export function connect(url: string, options: ConnectOptions): Sql {
  return postgres(url, {
    max: options.max,
    connect_timeout: 10,
    idle_timeout: 60,
    fetch_types: false,
    types: ARRAY_TYPES,
    ...UNDOCUMENTED,
    onnotice: options.onNotice ?? (() => undefined),
    connection: {
      application_name: options.applicationName,
      statement_timeout: options.statementTimeoutMs ?? 30 * SECOND_MS,
      // A transaction left open by a fault of ours must not hold its locks, and vacuum, for ever.
      idle_in_transaction_session_timeout: 60 * SECOND_MS,
      ...(options.role === undefined ? {} : { role: options.role }),
    },
  });
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
