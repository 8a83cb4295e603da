import { Socket } from "node:net";

/** What the driver knows of the addresses to connect to: one or more hosts with their ports, or the path of a socket. */
export interface Addresses {
  host: readonly string[];
  port: readonly number[];
  path: string | false | undefined;
}

/**
 * Makes the driver's sockets in its stead, ones that are destroyed where nothing was received for `silentMsMax`. The driver waits for an
 * answer as long as the connection stands, and a connection to a machine that has vanished stands for a quarter of an hour.
 *
 * @param sockets those that were made and have not been found destroyed yet, kept for whoever counts them.
 * @param silentMsMax more than a connection may be idle and a statement may then take, together.
 */
export function dialer(silentMsMax: number, sockets = new Set<Socket>()): (addresses: Addresses) => Socket {
  let turn = 0;
  return ({ host, port, path }) => {
    const socket = new Socket();
    const index = turn++ % host.length;
    const address = { host: host[index] ?? "", port: port[index] ?? 0 };
    // Not before the driver listens to it.
    queueMicrotask(() => (path ? socket.connect(path) : socket.connect(address)));
    sockets.add(socket);
    watch(socket, silentMsMax, () => sockets.delete(socket));
    return Object.assign(socket, path ? {} : address); // the driver looks for these on it
  };
}

/**
 * Destroys a socket that is silent, and tells when it is found destroyed. By the count of bytes and not by the socket's own timeout and
 * events, because the driver removes its listeners where it uses TLS.
 */
function watch(socket: Socket, msMax: number, onGone: () => void): void {
  let received = 0;
  let since = performance.now();
  const timer = setInterval(() => {
    if (socket.destroyed) {
      clearInterval(timer);
      onGone();
    } else if (socket.bytesRead !== received) {
      received = socket.bytesRead;
      since = performance.now();
    } else if (performance.now() - since >= msMax) {
      // Without an error, which would reach a connection with TLS before it has ended and leave it in use.
      socket.destroy();
    }
  }, msMax / 10).unref();
}
