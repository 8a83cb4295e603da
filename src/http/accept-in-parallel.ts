import { spawn } from "node:child_process";
import type { Server } from "node:http";
import { createServer as createNetServer, type Server as NetServer, type Socket } from "node:net";
import type { Logger } from "pino";

/** Connections that are accepted in one turn of the event loop. */
export const ACCEPTORS = 128;

/** A program that sends back each handle that it receives, which is then a duplicate. */
const ECHO = `process.on("message", (message, handle) => process.send(message, handle));`;

/** The additional acceptors of each server, until it closes. */
const acceptorsOf = new WeakMap<Server, NetServer[]>();

/**
 * Makes a listening server accept up to ACCEPTORS connections in each turn of the event loop. libuv accepts only one per listening handle: under
 * load a turn lasts a tenth of a second, and a thousand connections that are opened at once would keep all others waiting for minutes. So the
 * socket gets additional handles. Node.js duplicates a handle only when it sends it to another process, so a child process sends them back; it
 * ends a moment after the start, and `onDone` is called. If this fails, it is logged, and the server accepts fewer connections at a time.
 * `backlog` must be that of the server, whose socket must not be shared with other processes.
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
  // `_handle` is what net.Server.listen(handle) is documented to look for. Sending the bare handle makes the child accept no connections.
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

/** Closes the additional acceptors of a server, and resolves when the connections that they accepted have ended. */
export async function closeAcceptors(server: Server): Promise<void> {
  const acceptors = acceptorsOf.get(server) ?? [];
  acceptorsOf.delete(server);
  await Promise.all(acceptors.map((acceptor) => new Promise((resolve) => acceptor.close(resolve))));
}

/** The options are the ones that Node.js uses for an HTTP server. */
function acceptorOn(handle: NetServer, backlog: number, server: Server): NetServer {
  const accept = (socket: Socket) => void server.emit("connection", socket);
  return createNetServer({ allowHalfOpen: true, noDelay: true }, accept).listen(handle, backlog);
}
