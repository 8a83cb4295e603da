import type { Server } from "node:http";

/** Closes a server: idle connections at once; those with a request at hand get their answer, within so many milliseconds. */
export async function drain(server: Server, withinMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const force = setTimeout(() => server.closeAllConnections(), withinMs);
  await closed;
  clearTimeout(force);
}
