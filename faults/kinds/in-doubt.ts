import type { Fault } from "./fault.js";

/** Names a process and a transaction that do not exist, as if their coordinator had crashed. */
const GONE = "citus_0_1_1";
let count = 0;

/**
 * Leaves prepared transactions on the nodes without a decision to commit, as a coordinator does that crashes between the two phases. They lock
 * all customers until the cluster's maintenance rolls them back.
 */
export const transactionsInDoubt: Fault = {
  name: "transactions in doubt on the nodes",
  strike: async ({ nodes }) => {
    for (const { server } of nodes)
      await server.query(async (sql) => {
        const shards = await sql<{ name: string }[]>`
          select shard_name(s.logicalrelid, s.shardid) as name
          from pg_catalog.pg_dist_shard as s
          join pg_catalog.pg_dist_placement as p on p.shardid = s.shardid
          join pg_catalog.pg_dist_local_group as g on g.groupid = p.groupid
          where s.logicalrelid = 'svc.customers'::regclass`;
        const locks = shards.map(({ name }) => `select from ${name} for update;`);
        await sql.unsafe(`begin; ${locks.join(" ")} prepare transaction '${GONE}_${++count}'`);
      });
  },
};
