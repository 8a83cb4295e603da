import { inject } from "vitest";

/**
 * Whether the tables are spread over nodes. There tests cannot hold up what is written: a trigger runs on a node (`changeTriggers`), and the
 * advisory lock that it would wait for is that node's. Nor are there plans that one server could show, or a copy of one server's database.
 */
export const isCluster = inject("database").nodes.length > 1;
