import pg from "pg";

// Administration of the nodes of a Citus cluster, if TEST_DATABASE_URL names its coordinator. A database has a part on each node. Nodes are
// given as URLs of their administrative databases, the coordinator's first.

/** The nodes that the administrative database of a server knows; that server alone if it has no Citus. */
export async function findNodes(url: string): Promise<readonly string[]> {
  const nodes = await withClient(url, async (client) => {
    const { rowCount } = await client.query("select from pg_extension where extname = 'citus'");
    if (rowCount === 0) return [];
    const { rows } = await client.query<{ host: string; port: number }>(
      "select nodename as host, nodeport as port from pg_catalog.pg_dist_node where isactive order by groupid",
    );
    return rows;
  });
  if (nodes.length === 0) return [url];
  return nodes.map(({ host, port }) => Object.assign(new URL(url), { hostname: host, port: String(port) }).href);
}

/** Creates an empty database with Citus that knows the nodes; it has few shards, because every test copies it. */
export async function createClusterDatabase(nodes: readonly string[], name: string): Promise<void> {
  for (const node of nodes) {
    await execute(node, `create database ${name} encoding 'UTF8' template template0`);
    await execute(withDatabase(node, name), "create extension citus");
  }
  const [coordinator = "", ...workers] = nodes;
  const address = (url: string) => [new URL(url).hostname, Number(new URL(url).port)];
  await withClient(withDatabase(coordinator, name), async (client) => {
    await client.query("select citus_set_coordinator_host($1, $2)", address(coordinator));
    for (const worker of workers) await client.query("select citus_add_node($1, $2)", address(worker));
  });
  for (const node of nodes) await execute(node, `alter database ${name} set citus.shard_count = ${workers.length}`);
}

/** Refuses all further connections, also of Citus's own process, so that the database can be copied. */
export async function closeDatabase(nodes: readonly string[], name: string): Promise<void> {
  for (const node of nodes) {
    await execute(node, `alter database ${name} with allow_connections false`);
    await execute(node, `select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = '${name}'`);
  }
}

/** Executes a statement on each node. */
export async function onEachNode(nodes: readonly string[], statement: string): Promise<void> {
  await Promise.all(nodes.map((node) => execute(node, statement)));
}

async function execute(url: string, statement: string): Promise<void> {
  await withClient(url, (client) => client.query(statement));
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: "svc test administration" });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The URL of another database of the same server. */
export function withDatabase(url: string, database: string): string {
  return Object.assign(new URL(url), { pathname: `/${database}` }).href;
}
