import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { DATABASE, openCluster, SUPERUSER, type Cluster, type ClusterOptions } from "./cluster.js";
import { findPostmaster, halt, launch } from "./postmaster.js";
import { SetupError } from "./command.js";

/**
 * Every process that uses an embedded server holds this advisory lock in shared mode, on the cluster's `postgres` database, for
 * as long as it lives. Who obtains it exclusively is the last one and may stop the server.
 */
const USERS_LOCK = "7205759403792";

/** Crash recovery of a large database takes its time; a server that is silent for longer is broken. */
const READY_SECONDS_MAX = 600;
const POLL_MS = 50;
/** Each try leaves a line in the log. */
const LINGERING_POLL_MS = 500;

export interface EmbeddedOptions extends ClusterOptions {
  /** Told when the server died under us and could not be brought back at the same address. */
  onLost?: (error: Error) => void;
  /** Told whenever there is nothing to do but wait for PostgreSQL's programs: time for other work. */
  onWait?: () => void;
}

export interface EmbeddedServer {
  /** Of the database to use, as its superuser. */
  url: string;
  /** Gives the server up; the last process to do so stops it. Safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Starts the embedded PostgreSQL in `dataDir`, or joins the one that runs there already, because another process uses it or
 * because the process that started it was killed. While we use it, a server that dies is started again at the same address.
 */
export async function startEmbedded(dataDir: string, options: EmbeddedOptions = {}): Promise<EmbeddedServer> {
  const cluster = await openCluster(dataDir, options);
  const user = new ClusterUser(cluster, options);
  const port = await user.join();
  await createDatabaseOnce(cluster, port);
  return { url: addressOf(cluster, port, DATABASE), stop: () => user.leave() };
}

/** Our membership among the processes that use a cluster: one connection that holds the shared lock. */
class ClusterUser {
  #client: pg.Client | null = null;
  #port = 0;
  #joining: Promise<void> | null = null;
  #leaving: Promise<void> | null = null;

  constructor(
    private readonly cluster: Cluster,
    private readonly options: Pick<EmbeddedOptions, "onLost" | "onWait">,
  ) {}

  /** Returns the server's port once we hold the lock. */
  async join(): Promise<number> {
    const deadline = Date.now() + READY_SECONDS_MAX * 1000;
    for (;;) {
      const postmaster = await findPostmaster(this.cluster);
      if (postmaster === null) {
        if (!(await this.#launchOrMeet())) await delay(LINGERING_POLL_MS);
      } else if (postmaster.port > 0 && (await this.#lock(postmaster.port))) return this.#port;
      else await delay(POLL_MS); // it is starting, recovering or stopping: postmaster.pid tells which, soon
      if (Date.now() > deadline) {
        throw new SetupError(`PostgreSQL in ${this.cluster.data} does not answer; its log is ${this.cluster.log}`);
      }
    }
  }

  leave(): Promise<void> {
    return (this.#leaving ??= this.#leave());
  }

  async #leave(): Promise<void> {
    await this.#joining;
    const client = this.#client;
    this.#client = null;
    if (client === null) return;
    try {
      // Our own shared lock goes first: two that leave at once and both still held theirs would both find it taken.
      await client.query(`select pg_advisory_unlock_shared(${USERS_LOCK})`);
      const { rows } = await client.query<{ last: boolean }>(`select pg_try_advisory_lock(${USERS_LOCK}) as last`);
      if (rows[0]?.last === true) await halt(this.cluster); // which also ends this connection
      else await client.end();
    } catch (error) {
      void client.end();
      if (!isTransient(error)) throw error; // otherwise the server is gone, and there is nothing to stop
    }
  }

  /**
   * Of several processes that start a server at once, PostgreSQL lets one; the others meet it on their next round. False where none
   * can be started yet.
   */
  async #launchOrMeet(): Promise<boolean> {
    try {
      return await launch(this.cluster, this.options.onWait);
    } catch (error) {
      if ((await findPostmaster(this.cluster)) === null) throw error;
      return true;
    }
  }

  /** Tries to connect and take the lock; false where the server does not take connections now, or stops meanwhile. */
  async #lock(port: number): Promise<boolean> {
    const client = new pg.Client({
      connectionString: addressOf(this.cluster, port, "postgres"),
      application_name: "svc embedded server",
      connectionTimeoutMillis: 10_000,
      keepAlive: true,
    });
    client.on("error", () => undefined); // an ended connection shows as "end", below, and as failed queries
    try {
      await client.connect();
      await client.query(`select pg_advisory_lock_shared(${USERS_LOCK})`);
    } catch (error) {
      void client.end(); // not awaited: where the server ended the connection first, that never resolves
      if (isTransient(error)) return false;
      throw error;
    }
    this.#client = client;
    this.#port = port;
    client.once("end", () => this.#onEnd(client));
    return true;
  }

  /** The server crashed, or somebody stopped it: join again, which starts it where nobody did. */
  #onEnd(client: pg.Client): void {
    if (this.#client !== client) return; // we are leaving
    this.#client = null;
    const port = this.#port;
    this.#joining = this.join().then(
      (current) => {
        if (current !== port)
          this.options.onLost?.(new Error(`the embedded PostgreSQL moved from port ${port} to ${current}; restart`));
      },
      (error: unknown) => this.options.onLost?.(error as Error),
    );
  }
}

/** Not up yet, going down, or taken away while we waited: `cannot_connect_now`, class 57P, and the socket's own errors. */
function isTransient(error: unknown): boolean {
  const { code, message } = error as { code?: string; message: string };
  if (code !== undefined) return /^57P0[123]$|^53300$|^ECONN|^EPIPE$/.test(code);
  return /terminated|timeout/i.test(message);
}

/** `create database` cannot be conditional, and two processes may come to it at once. */
async function createDatabaseOnce(cluster: Cluster, port: number): Promise<void> {
  const client = new pg.Client({ connectionString: addressOf(cluster, port, "postgres") });
  await client.connect();
  try {
    const { rows } = await client.query("select from pg_database where datname = $1", [DATABASE]);
    if (rows.length === 0) await client.query(`create database ${DATABASE}`);
  } catch (error) {
    const { code } = error as { code?: string };
    if (code !== "42P04" && code !== "23505") throw error;
  } finally {
    await client.end();
  }
}

function addressOf(cluster: Cluster, port: number, database: string): string {
  return `postgres://${SUPERUSER}:${cluster.password}@127.0.0.1:${port}/${database}`;
}
