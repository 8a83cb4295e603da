/** A database on an existing Citus cluster, with relays between the coordinator and the nodes. */
import { randomBytes } from "node:crypto";
import { setMaxListeners } from "node:events";
import type { Sql } from "postgres";
import { connect } from "../../src/db/connect.js";
import { isAlive } from "../../src/db/embedded/cluster.js";
import { DemoFailure, messageOf } from "../../src/demo/failure.js";
import { Relay } from "./relay.js";
import { SupervisedServer } from "./supervised-server.js";

/** A node with a part of the tables. */
export interface Node {
  server: SupervisedServer;
  /** Between the coordinator and the node; all nodes know the node by its address. */
  network: Relay;
}

const HOST = "127.0.0.1";
/** The name of a run's database, with its process id. */
const NAME = /^svc_faults_(\d+)_/;
/** Enough for environments on different nodes, and few enough to be created quickly. */
const SHARDS_A_NODE = 4;

export class CitusCluster {
  private constructor(
    private readonly name: string,
    readonly coordinator: SupervisedServer,
    readonly nodes: readonly Node[],
  ) {}

  /**
   * Creates an empty database on all nodes. Throws a DemoFailure with exit code 2 if that fails.
   *
   * @param directories data directories of the coordinator and of each worker
   * @param stop ends all waiting for a server
   */
  static async open(directories: readonly string[], stop: AbortSignal): Promise<CitusCluster> {
    const signal = AbortSignal.any([stop]);
    setMaxListeners(0, signal); // every query of a server listens
    const name = `svc_faults_${process.pid}_${randomBytes(4).toString("hex")}`;
    const servers: SupervisedServer[] = [];
    const nodes: Node[] = [];
    try {
      for (const data of directories)
        servers.push(await SupervisedServer.open({ data, url: (port) => urlOf(port, name), signal }));
      const [coordinator, ...workers] = servers as [SupervisedServer, ...SupervisedServer[]];
      for (const server of workers) {
        const network = await Relay.start(async () => ({ host: HOST, port: (await server.postmaster()).port }));
        nodes.push({ server, network });
      }
      const cluster = new CitusCluster(name, coordinator, nodes);
      await cluster.#create().catch(async (error: unknown) => {
        await cluster.#drop();
        throw new DemoFailure(`no database could be created on the nodes: ${messageOf(error)}`, 2, { cause: error });
      });
      return cluster;
    } catch (error) {
      for (const { network } of nodes) await network.stop();
      for (const server of servers) await server.leave();
      throw error;
    }
  }

  /** URL of the coordinator's database, without a relay. */
  async url(): Promise<string> {
    return this.coordinator.url((await this.coordinator.postmaster()).port);
  }

  /** Removes the database; the servers keep running as before. */
  async close(): Promise<void> {
    await this.#drop();
    for (const { network } of this.nodes) await network.stop();
    for (const server of this.#servers) await server.leave();
  }

  get #servers(): readonly SupervisedServer[] {
    return [this.coordinator, ...this.nodes.map(({ server }) => server)];
  }

  async #create(): Promise<void> {
    for (const server of this.#servers) {
      await administer(server, async (sql) => {
        await dropLeftovers(sql);
        await sql.unsafe(`create database ${this.name} encoding 'UTF8' template template0`);
        await sql.unsafe(`alter database ${this.name} set citus.shard_count = ${SHARDS_A_NODE * this.nodes.length}`);
      });
      await server.query((sql) => sql`create extension if not exists citus`);
    }
    const { port } = await this.coordinator.postmaster();
    await this.coordinator.query(async (sql) => {
      await sql`select citus_set_coordinator_host(${HOST}, ${port}::integer)`;
      for (const { network } of this.nodes) await sql`select citus_add_node(${HOST}, ${network.port}::integer)`;
    });
  }

  async #drop(): Promise<void> {
    for (const server of this.#servers)
      await administer(server, (sql) => sql.unsafe(`drop database if exists ${this.name} with (force)`));
  }
}

/** Works in the administrative database of a server, once that is available. */
async function administer(server: SupervisedServer, work: (sql: Sql) => Promise<unknown>): Promise<void> {
  const { port } = await server.postmaster();
  const sql = connect(urlOf(port, "postgres"), { max: 1, applicationName: "svc faults", statementTimeoutMs: 0 });
  try {
    await work(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** Drops the databases of runs that were killed. */
async function dropLeftovers(sql: Sql): Promise<void> {
  for (const { name } of await sql<{ name: string }[]>`select datname as name from pg_database`) {
    const pid = NAME.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) await sql.unsafe(`drop database ${name} with (force)`);
  }
}

/** URL with a superuser whom all nodes accept from this machine. */
function urlOf(port: number, database: string): string {
  const url = new URL(`postgres://${HOST}:${port}/${database}`);
  url.username = process.env["PGUSER"] ?? "postgres";
  url.password = process.env["PGPASSWORD"] ?? "";
  return url.href;
}
