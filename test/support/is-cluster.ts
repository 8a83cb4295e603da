import { inject } from "vitest";

/**
 * Whether the tables are spread over nodes. These have no triggers, by which tests hold up or refuse what is written, and the coordinator
 * does not show who waits for a lock there.
 */
export const isCluster = inject("database").nodes.length > 1;
