import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Logger } from "pino";
import { networkOf } from "./client-address.js";

/**
 * Lets each network have so many connections at once, and resets what it opens beyond: so that nobody has all that the process may hold, and
 * that reading slow ones leaves time for others. The log is told when a network reaches its limit.
 */
export function limitConnections(server: Server, each: number, log?: Logger): void {
  const open = new Map<string, { connections: number; isTold: boolean }>();
  server.on("connection", (socket: Socket) => {
    // Without an address it is gone already.
    const network = networkOf(socket.remoteAddress ?? "");
    const held = open.get(network) ?? { connections: 0, isTold: false };
    if (held.connections >= each) {
      if (!held.isTold)
        log?.warn({ network, connections: each }, "connections beyond the limit of a network are reset");
      held.isTold = true;
      socket.resetAndDestroy();
      return;
    }
    held.connections += 1;
    open.set(network, held);
    socket.once("close", () => {
      held.connections -= 1;
      if (held.connections === 0) open.delete(network);
    });
  });
}
