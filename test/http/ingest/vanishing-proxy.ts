import { connect, createServer, type Socket } from "node:net";
import { listen } from "../../support/listen.js";

/** A proxy between the service and its database that simulates the network. */
export async function startProxy(databaseUrl: string) {
  const { hostname, port } = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const held: (() => void)[] = [];
  let state: "passing" | "paused" | "gone" = "passing";
  const server = createServer((client) => {
    sockets.add(client.on("error", () => undefined));
    if (state === "gone") return;
    const database = connect(Number(port), hostname);
    sockets.add(database.on("error", () => undefined));
    const pass = () => void client.pipe(database).pipe(client);
    held.push(pass);
    if (state === "passing") pass();
  });
  const stop = () => {
    for (const socket of sockets) socket.unpipe().pause();
  };
  const url = new URL(databaseUrl);
  url.host = new URL(await listen(server)).host;
  return {
    /** The database's address, through the proxy. */
    url: url.href,
    /** The machine behind it vanishes: nothing passes any more, and no connection is closed. */
    vanish: () => {
      state = "gone";
      stop();
    },
    /** Another machine takes over its address: new connections work, old ones stay dead. */
    replace: () => {
      state = "passing";
    },
    /** The machine stops for a while: it takes connections and what is sent, and does nothing. */
    pause: () => {
      state = "paused";
      stop();
    },
    /** It goes on with all that it was sent. */
    resume: () => {
      state = "passing";
      for (const pass of held) pass();
    },
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
