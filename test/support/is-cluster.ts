import { inject } from "vitest";

/**
 * Whether the tables are distributed over nodes. Then tests cannot delay writes: a trigger runs on a node (`changeTriggers`), and would wait for
 * an advisory lock of that node. Nor can they examine plans as on a single server, or copy a single server's database.
 */
export const isCluster = inject("database").nodes.length > 1;
