/** The embedded PostgreSQL of a data directory, seen from outside of the service that uses it. */
import { access } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Sql } from "postgres";
import { connect } from "../../src/db/connect.js";
import { DATABASE, openCluster, SUPERUSER, type Cluster } from "../../src/db/embedded/cluster.js";
import { findPostmaster, halt, type Postmaster } from "../../src/db/embedded/postmaster.js";

export interface ServerProcess {
  pid: number;
  /** "client backend", "checkpointer", … */
  kind: string;
  application: string;
  /** Whether it is at work on a statement. */
  active: boolean;
}

const POLL_MS = 20;

export class EmbeddedCluster {
  private constructor(
    private readonly cluster: Cluster,
    private readonly signal: AbortSignal,
  ) {}

  /** @param signal ends all waiting for the server */
  static async open(dataDir: string, signal: AbortSignal): Promise<EmbeddedCluster> {
    return new EmbeddedCluster(await openCluster(dataDir, {}), signal);
  }

  /** Of its database, by way of a port of this machine. */
  url(port: number): string {
    return `postgres://${SUPERUSER}:${this.cluster.password}@127.0.0.1:${port}/${DATABASE}`;
  }

  /** The postmaster; waits until there is one and its port is known. */
  async postmaster(): Promise<Postmaster> {
    for (;;) {
      const running = await findPostmaster(this.cluster);
      if (running !== null && running.port > 0) return running;
      await delay(POLL_MS, undefined, { signal: this.signal });
    }
  }

  /** All processes of the server but the postmaster and the one that answers this question. */
  processes(): Promise<ServerProcess[]> {
    return this.query(
      (sql) => sql<ServerProcess[]>`
        select pid, backend_type as kind, coalesce(application_name, '') as application, coalesce(state, '') = 'active' as active
        from pg_stat_activity
        where pid <> pg_backend_pid()
        order by pid`,
    );
  }

  /** Opens a connection for statements that may be repeated; begins again where the server goes away. */
  async query<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await this.#once(work);
      } catch (error) {
        if (!isUnreachable(error)) throw error;
      }
      await delay(POLL_MS, undefined, { signal: this.signal });
    }
  }

  async #once<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    const { port } = await this.postmaster();
    const sql = connect(this.url(port), {
      max: 1,
      applicationName: "svc faults",
      statementTimeoutMs: 0,
    });
    try {
      return await work(sql);
    } finally {
      await sql.end({ timeout: 1 });
    }
  }
}

/** Stops the server of a data directory, whoever left it running. */
export async function endServer(dataDir: string): Promise<void> {
  try {
    await access(path.join(dataDir, "postgres", "data", "postmaster.pid"));
  } catch {
    return;
  }
  await halt(await openCluster(dataDir, {}));
}

/** A server that starts or recovers, or was taken away during the statement. */
function isUnreachable(error: unknown): boolean {
  return /^(ECONN|EPIPE|CONNECTION_|CONNECT_TIMEOUT|57P0)/.test((error as { code?: string }).code ?? "");
}
