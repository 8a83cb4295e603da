import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";
import type { Logger } from "pino";
import { closeAcceptors } from "./accept-in-parallel.js";
import { answerClientErrors } from "./client-error.js";
import type { DocsUrl } from "./errors.js";
import { subscriberNetwork } from "./request/client-address.js";
import { inTurn } from "./requests-in-turn.js";

/**
 * Limits the concurrent connections of each network and resets further ones, so that no client uses up the connections of the process, and
 * slow clients leave time for others. Logs when a network reaches its limit.
 */
function limitConnections(server: Server, each: number, log?: Logger): void {
  const open = new Map<string, { connections: number; isLogged: boolean }>();
  server.on("connection", (socket: Socket) => {
    // A socket without an address is closed already.
    const network = subscriberNetwork(socket.remoteAddress ?? "");
    const held = open.get(network) ?? { connections: 0, isLogged: false };
    if (held.connections >= each) {
      const message = "a client's network reached its limit of connections; further ones are reset";
      if (!held.isLogged) log?.warn({ network, connectionsMax: each }, message);
      held.isLogged = true;
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

/** Limits of each client. Requests that are slower are answered REQUEST_TIMEOUT. */
export const CLIENT_LIMITS = {
  /** Concurrent connections from one network. It is `Infinity` behind proxies, because all connections come from their network. */
  connectionsEach: 1_000,
  /** For a request's headers, counted from its first byte or from the connection. */
  headersMsMax: 20_000,
  /** For a whole request. */
  requestMsMax: 60_000,
  /** Between two requests on a connection. */
  idleMsMax: 65_000,
  /** How often clients are checked. */
  checkMs: 2_000,
  /** A body that is not complete after this time must arrive at `bodyBytesPerSecondMin` at least, on average over each interval of this length. */
  bodyLookMs: 10_000,
  bodyBytesPerSecondMin: 16 * 1024,
};

export type ClientLimits = typeof CLIENT_LIMITS;

/** The server of each request, for streams that last until it stops. */
const servers = new WeakMap<IncomingMessage, Server>();

/** The open connections of each server, with the last answer of each, which may still be under way; null before the first one. */
const connections = new WeakMap<Server, Map<Socket, ServerResponse | null>>();

/** The servers whose answers end their connections. */
const ending = new WeakSet<Server>();

/** The client limits of each connection. */
const limitsOf = new WeakMap<Socket, ClientLimits>();

/** Whether the server of a request no longer listens: it stops once the current requests are answered. */
export function isStopping(request: IncomingMessage): boolean {
  return servers.get(request)?.listening === false;
}

/** Calls `onSlow` when a request's body arrives too slowly. Returns a function that ends the watch. */
export function watchBodyRate(request: IncomingMessage, onSlow: () => void): () => void {
  const { socket } = request;
  const { bodyLookMs, bodyBytesPerSecondMin } = limitsOf.get(socket) ?? CLIENT_LIMITS;
  let seen = socket.bytesRead;
  const look = () => {
    if (socket.bytesRead - seen < (bodyBytesPerSecondMin * bodyLookMs) / 1000) onSlow();
    seen = socket.bytesRead;
  };
  let timer: NodeJS.Timeout | undefined;
  // Most bodies arrive with their headers and are read before the timer starts. Bytes that arrived while the process was busy are read first.
  let turn = setImmediate(() => (timer = setInterval(() => (turn = setImmediate(look)), bodyLookMs)));
  return () => {
    clearImmediate(turn);
    clearInterval(timer);
  };
}

/**
 * A server that answers every client with the application's envelope, even clients that are slow or do not send valid HTTP. Requests that never
 * reach the application are logged.
 *
 * @param handle answers one request; of an application, its `callback()`
 */
export function createHttpServer(
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
  docsUrl: DocsUrl,
  limits = CLIENT_LIMITS,
  log?: Logger,
): Server {
  const options = {
    headersTimeout: limits.headersMsMax,
    requestTimeout: limits.requestMsMax,
    keepAliveTimeout: limits.idleMsMax,
    connectionsCheckingInterval: limits.checkMs,
    // The application refuses a missing Host itself, because Node.js does it with an empty answer.
    requireHostHeader: false,
  };
  const open = new Map<Socket, ServerResponse | null>();
  const begin = inTurn(handle);
  const server = createServer(options, (request: IncomingMessage, response: ServerResponse) => {
    servers.set(request, server);
    open.set(request.socket, response);
    if (ending.has(server)) response.shouldKeepAlive = false;
    // An export has more listeners for the end of its response than the ten at which Node.js warns of a leak.
    response.setMaxListeners(20);
    // A stopping server would otherwise wait for a client that keeps its connection open. Further requests that were sent on it are answered.
    response.once("finish", () => {
      if (!server.listening && open.get(request.socket) === response) request.socket.destroySoon();
    });
    // After a request to upgrade, the parser reads no further request, as if we had upgraded; a next one would wait forever.
    if (request.headers.upgrade !== undefined) response.setHeader("Connection", "close");
    begin(request, response);
  });
  connections.set(server, open);
  // A client that closes its half of the connection after its request still gets the answer. Node.js' types lack this option.
  Object.assign(server, { httpAllowHalfOpen: true });
  limitConnections(server, limits.connectionsEach, log);
  server.on("connection", (socket) => {
    open.set(socket, null);
    limitsOf.set(socket, limits);
    socket.once("close", () => open.delete(socket));
  });
  askForBodiesLate(server);
  answerClientErrors(server, docsUrl, log);
  return server;
}

/** Requests with `Expect: 100-continue` whose clients wait for a 100 before they send the body. */
const waiting = new WeakSet<IncomingMessage>();

/** Delays the 100 until the body is read, so that the client of a request that is refused for its headers does not send the body. */
function askForBodiesLate(server: Server): void {
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    waiting.add(request);
    // If the body is not asked for, it is unknown whether it follows.
    response.setHeader("Connection", "close");
    server.emit("request", request, response);
  });
  // Node.js would answer an unknown expectation with an empty 417; we ignore it.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
}

/** Asks a client that waits for a 100 to send the body. */
export function sendContinue(request: IncomingMessage, response: ServerResponse): void {
  if (!waiting.delete(request)) return;
  // After a request to upgrade, the connection is closed in any case.
  if (request.headers.upgrade === undefined) response.removeHeader("Connection");
  response.writeContinue();
}

/** Whether the client still waits for a 100. */
export function awaitsContinue(request: IncomingMessage): boolean {
  return waiting.has(request);
}

/**
 * From now on each answer asks its client to close the connection, so that the next request comes on a new one, which a load balancer leads
 * to another process.
 */
export function disableKeepAlive(server: Server): void {
  ending.add(server);
  // Without effect on an answer whose headers are sent.
  for (const answer of connections.get(server)?.values() ?? []) if (answer !== null) answer.shouldKeepAlive = false;
}

/**
 * Closes a server: connections that are idle a moment later, since bytes that were sent just before it stopped listening may still be on
 * their way. Requests in progress have `withinMs` to finish.
 */
export async function drain(server: Server, withinMs: number): Promise<void> {
  disableKeepAlive(server);
  // Not by the server's own `close`, which ends idle connections at once; from Node.js 26 on also those that were just opened.
  const stopped = new Promise((resolve) => NetServer.prototype.close.call(server, resolve));
  const closed = Promise.all([stopped, closeAcceptors(server)]);
  const idle = setTimeout(() => {
    server.closeIdleConnections();
    // For Node.js before 26, connections that have not received anything yet are not idle.
    for (const socket of connections.get(server)?.keys() ?? []) if (socket.bytesRead === 0) socket.destroy();
  }, 250);
  const force = setTimeout(() => server.closeAllConnections(), withinMs);
  await closed;
  clearTimeout(idle);
  clearTimeout(force);
}
