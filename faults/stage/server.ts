/** A PostgreSQL server, seen from outside of the service that uses it. */
import { setTimeout as delay } from "node:timers/promises";
import type { Sql } from "postgres";
import { connect } from "../../src/db/connect.js";
import { findPostmaster, type Postmaster } from "../../src/db/embedded/postmaster.js";
import { isUnavailable } from "../../src/db/sqlstate.js";

export interface ServerProcess {
  pid: number;
  /** "client backend", "checkpointer", … */
  kind: string;
  application: string;
  /** Whether it executes a statement. */
  active: boolean;
}

const POLL_MS = 20;

export interface ServerOptions {
  /** The directory of its files, which has the `postmaster.pid`. */
  data: string;
  /** URL of its database, for a port of this machine. */
  url: (port: number) => string;
  /** Ends all waiting for the server. */
  signal: AbortSignal;
}

export class Server {
  readonly url: (port: number) => string;

  constructor(protected readonly options: ServerOptions) {
    this.url = options.url;
  }

  /** The postmaster; waits until there is one and its port is known. */
  async postmaster(): Promise<Postmaster> {
    for (;;) {
      const running = await findPostmaster(this.options);
      if (running !== null && running.port > 0) return running;
      await delay(POLL_MS, undefined, { signal: this.options.signal });
    }
  }

  /** All processes of the server except the postmaster and the backend of this query. */
  processes(): Promise<ServerProcess[]> {
    return this.query(
      (sql) => sql<ServerProcess[]>`
        select pid, backend_type as kind, coalesce(application_name, '') as application, coalesce(state, '') = 'active' as active
        from pg_stat_activity
        where pid <> pg_backend_pid()
        order by pid`,
    );
  }

  /** Opens a connection for statements that may be repeated; starts over if the server, or a node that it needs, becomes unavailable. */
  async query<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await this.#once(work);
      } catch (error) {
        if (!isUnavailable(error)) throw error;
      }
      await delay(POLL_MS, undefined, { signal: this.options.signal });
    }
  }

  async #once<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    const { port } = await this.postmaster();
    const sql = connect(this.url(port), { max: 1, applicationName: "svc faults", statementTimeoutMs: 0 });
    try {
      return await work(sql);
    } finally {
      await sql.end({ timeout: 1 });
    }
  }
}
