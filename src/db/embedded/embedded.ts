import { setTimeout as delay } from "node:timers/promises";
import path from "node:path";
import pg from "pg";
import { DATABASE, openCluster, SUPERUSER, type Cluster, type ClusterOptions } from "./cluster.js";
import { makingFailure, SetupError } from "./command.js";
import { findPostmaster, halt, launch } from "./postmaster.js";

/**
 * Every process that uses an embedded server holds this advisory lock in shared mode, in the cluster's `postgres` database, for
 * as long as it runs. The process that obtains it exclusively is the last one and may stop the server.
 */
const USERS_LOCK = "7205759403792";

/** Crash recovery of a large database takes long; a server that does not answer for longer than this is broken. */
const READY_SECONDS_MAX = 600;
const POLL_MS = 50;
/** Between tries to start a server while processes of the last one linger; each try writes a line to the log. */
const LINGERING_POLL_MS = 500;

export interface EmbeddedOptions extends ClusterOptions {
  /** Called when the server died while in use and could not be restarted at the same address. */
  onServerLost?: (error: Error) => void;
}

export interface EmbeddedServer {
  /** URL of the database, with the superuser. */
  url: string;
  /** Stops using the server; the last process to do so stops it. Safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Starts the embedded PostgreSQL in `dataDir`, or joins one that already runs there, because another process uses it or because the process
 * that started it was killed. If the server dies while in use, it is restarted at the same address.
 */
export async function startEmbedded(dataDir: string, options: EmbeddedOptions = {}): Promise<EmbeddedServer> {
  const cluster = await openCluster(dataDir, options);
  const user = new ClusterUser(cluster, options);
  const port = await user.join();
  try {
    await createDatabaseOnce(cluster, port);
  } catch (error) {
    await user.leave();
    throw makingFailure(path.resolve(dataDir), error);
  }
  return { url: addressOf(cluster, port, DATABASE), stop: () => user.leave() };
}

/** This process as one of those that use a cluster: a connection that holds the shared lock. */
class ClusterUser {
  #client: pg.Client | null = null;
  #port = 0;
  #hasLaunched = false;
  #joining: Promise<void> | null = null;
  #leaving: Promise<void> | null = null;

  constructor(
    private readonly cluster: Cluster,
    private readonly options: Pick<EmbeddedOptions, "onServerLost" | "onWait">,
  ) {}

  /** Returns the server's port once we hold the lock. If that fails, a server that we started is stopped: nobody else would. */
  async join(): Promise<number> {
    try {
      return await this.#join();
    } catch (error) {
      if (this.#hasLaunched) await halt(this.cluster);
      throw error;
    } finally {
      this.#hasLaunched = false;
    }
  }

  async #join(): Promise<number> {
    const deadline = Date.now() + READY_SECONDS_MAX * 1000;
    for (;;) {
      const postmaster = await findPostmaster(this.cluster);
      if (postmaster === null) {
        if (!(await this.#launchOrFind())) await delay(LINGERING_POLL_MS);
      } else if (postmaster.port > 0 && (await this.#lock(postmaster.port))) return this.#port;
      else await delay(POLL_MS); // it is starting, recovering or stopping: postmaster.pid will soon show which
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
      // Release our shared lock first: of two processes that leave at once, each would otherwise be blocked by the other's.
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
   * If several processes start a server at once, PostgreSQL lets one succeed; the others find its server in their next round. False if none
   * can be started yet.
   */
  async #launchOrFind(): Promise<boolean> {
    try {
      this.#hasLaunched = await launch(this.cluster, this.options.onWait);
      return this.#hasLaunched;
    } catch (error) {
      if ((await findPostmaster(this.cluster)) === null) throw error;
      return true;
    }
  }

  /** Tries to connect and take the lock; false if the server does not accept connections now, or stops meanwhile. */
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
      void client.end(); // not awaited: if the server ended the connection first, it never resolves
      if (isTransient(error)) return false;
      throw loginFailure(this.cluster, error);
    }
    this.#client = client;
    this.#port = port;
    client.once("end", () => this.#onEnd(client));
    return true;
  }

  /** The server crashed or was stopped: join again, which starts it if necessary. */
  #onEnd(client: pg.Client): void {
    if (this.#client !== client) return; // we are leaving
    this.#client = null;
    const port = this.#port;
    this.#joining = this.join().then(
      (current) => {
        if (current !== port)
          this.options.onServerLost?.(
            new Error(`the embedded PostgreSQL moved from port ${port} to ${current}; restart`),
          );
      },
      (error: unknown) => this.options.onServerLost?.(error as Error),
    );
  }
}

/** A SetupError if the file with the password is empty or has another one than the data, as one of another cluster; other errors unchanged. */
function loginFailure({ home, data, password }: Cluster, error: unknown): unknown {
  if (password !== "" && (error as { code?: string }).code !== "28P01") return error;
  return new SetupError(
    `PostgreSQL in ${data} refuses the password in ${path.join(home, "password")}; ` +
      `restore that file as it was with this data, or write the password of the user ${SUPERUSER} into it`,
    { cause: error },
  );
}

/** The server is starting, stopping, or was lost while we waited: SQLSTATEs 57P01 to 57P03, 53300, and errors of the socket. */
function isTransient(error: unknown): boolean {
  const { code, message } = error as { code?: string; message: string };
  if (code !== undefined) return /^57P0[123]$|^53300$|^ECONN|^EPIPE$/.test(code);
  return /terminated|timeout/i.test(message);
}

/** `create database` cannot be conditional, and two processes may execute it at once. */
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
