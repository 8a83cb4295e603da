import { inject } from "vitest";

/**
 * Whether the tables are spread over nodes. These have no triggers, by which tests hold up or refuse what is written, no plans that one server
 * could show, and no copy of a database of one server.
 */
export const isCluster = inject("database").nodes.length > 1;
