import type { Fault } from "./fault.js";

/** Numbers of no process and of no transaction that there is: whoever prepared it is gone. */
const GONE = "citus_0_1_1";
let left = 0;

/**
 * A transaction that is prepared on a node, and of which nobody has said whether it is to commit: what its coordinator leaves when it ends
 * between the two phases. It holds the customers of the node until the cluster's maintenance rolls it back.
 */
export const transactionInDoubt: Fault = {
  name: "transaction in doubt on a node",
  strike: async ({ nodes, random }) => {
    await random.pick(nodes).server.query(async (sql) => {
      const shards = await sql<{ name: string }[]>`
        select shard_name(s.logicalrelid, s.shardid) as name
        from pg_catalog.pg_dist_shard as s
        join pg_catalog.pg_dist_placement as p on p.shardid = s.shardid
        join pg_catalog.pg_dist_local_group as g on g.groupid = p.groupid
        where s.logicalrelid = 'svc.customers'::regclass`;
      const locks = shards.map(({ name }) => `select from ${name} for update;`);
      await sql.unsafe(`begin; ${locks.join(" ")} prepare transaction '${GONE}_${++left}'`);
    });
  },
};
