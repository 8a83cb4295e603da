import { connect, createServer, type Socket } from "node:net";
import { listen } from "../../support/listen.js";

/** A proxy between the service and its database that simulates the network. */
export async function startProxy(databaseUrl: string) {
  const { hostname, port } = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let gone = false;
  const server = createServer((client) => {
    sockets.add(client.on("error", () => undefined));
    if (gone) return;
    const database = connect(Number(port), hostname);
    sockets.add(database.on("error", () => undefined));
    client.pipe(database).pipe(client);
  });
  const url = new URL(databaseUrl);
  url.host = new URL(await listen(server)).host;
  return {
    /** The database's address, through the proxy. */
    url: url.href,
    /** The machine behind it vanishes: nothing passes any more, and no connection is closed. */
    vanish: () => {
      gone = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    /** Another machine takes over its address: new connections work, old ones stay dead. */
    replace: () => {
      gone = false;
    },
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
