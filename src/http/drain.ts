import type { Server } from "node:http";
import { closeAcceptors } from "./acceptors.js";
import { silentConnections } from "./server.js";

/** What was sent just before the server stopped listening may still be on its way. */
const SILENT_MS_MAX = 250;

/**
 * Closes a server: idle connections at once, those on which nothing ever came a moment later; those with a request at hand get their
 * answer, within so many milliseconds.
 */
export async function drain(server: Server, withinMs: number): Promise<void> {
  const closed = Promise.all([new Promise((resolve) => server.close(resolve)), closeAcceptors(server)]);
  server.closeIdleConnections();
  const silent = setTimeout(() => {
    for (const socket of silentConnections(server)) socket.destroy();
  }, SILENT_MS_MAX);
  const force = setTimeout(() => server.closeAllConnections(), withinMs);
  await closed;
  clearTimeout(silent);
  clearTimeout(force);
}
