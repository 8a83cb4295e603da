import { spawn } from "node:child_process";
import type { Server } from "node:http";
import { createServer as createNetServer, type Server as NetServer, type Socket } from "node:net";
import type { Logger } from "pino";

/** Connections that are taken in one turn of the event loop. */
export const ACCEPTORS = 128;

/** Gives back each handle that it is sent, which is a new one then. */
const ECHO = `process.on("message", (message, handle) => process.send(message, handle));`;

/** The further acceptors of each server, until it closes. */
const acceptorsOf = new WeakMap<Server, NetServer[]>();

/**
 * Has a server that listens take up to ACCEPTORS connections in each turn of the event loop, not one, which is all that libuv takes of a listening
 * socket: under load a turn lasts a tenth of a second, and a thousand connections that are opened at once kept everybody else's waiting for minutes.
 * So the socket gets further handles. Node.js duplicates a handle only when it sends one to another process, so a child sends them back and ends,
 * a moment after the start; `onDone` is told. Where that fails the log says so, and the server takes fewer at a time. `backlog` is that of the
 * server, whose connections nobody else may listen to.
 */
export function acceptInParallel(server: Server, backlog: number, log: Logger, onDone?: () => void): void {
  const acceptors: NetServer[] = [];
  acceptorsOf.set(server, acceptors);
  const child = spawn(process.execPath, ["--eval", ECHO], { stdio: ["ignore", "ignore", "ignore", "ipc"], env: {} });
  const isDone = () => !server.listening || acceptors.length === ACCEPTORS - 1;
  const onFailure = (err: Error | null) => {
    if (!isDone())
      log.warn(
        { err, acceptors: acceptors.length + 1 },
        "fewer acceptors of connections were started than there should be: bursts of new connections wait longer",
      );
  };
  // The handle of a server is what net.Server.listen(handle) is documented to look for; sent as it is, it takes no connection in the child.
  const { _handle: handle } = server as unknown as { _handle: NetServer };
  const next = () => {
    if (isDone()) child.kill();
    else child.send("", handle);
  };
  child.on("message", (_, received) => {
    const acceptor = acceptorOn(received as NetServer, backlog, server);
    if (server.listening) acceptors.push(acceptor);
    else acceptor.close();
    next();
  });
  child.on("error", onFailure);
  child.once("exit", () => {
    onFailure(null);
    onDone?.();
  });
  next();
}

/** Closes the further acceptors of a server, and resolves when the connections that they took have ended. */
export async function closeAcceptors(server: Server): Promise<void> {
  const acceptors = acceptorsOf.get(server) ?? [];
  acceptorsOf.delete(server);
  await Promise.all(acceptors.map((acceptor) => new Promise((resolve) => acceptor.close(resolve))));
}

/** The options are those that Node.js gives to an HTTP server. */
function acceptorOn(handle: NetServer, backlog: number, server: Server): NetServer {
  const take = (socket: Socket) => void server.emit("connection", socket);
  return createNetServer({ allowHalfOpen: true, noDelay: true }, take).listen(handle, backlog);
}
