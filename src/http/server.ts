import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Logger } from "pino";
import { closeAcceptors } from "./acceptors.js";
import { answerClientErrors } from "./client-error.js";
import type { DocsUrl } from "./errors.js";
import { networkOf } from "./request/client-address.js";

/**
 * Lets each network have so many connections at once, and resets what it opens beyond: so that nobody has all that the process may hold, and
 * that reading slow ones leaves time for others. The log is told when a network reaches its limit.
 */
function limitConnections(server: Server, each: number, log?: Logger): void {
  const open = new Map<string, { connections: number; isTold: boolean }>();
  server.on("connection", (socket: Socket) => {
    // Without an address it is gone already.
    const network = networkOf(socket.remoteAddress ?? "");
    const held = open.get(network) ?? { connections: 0, isTold: false };
    if (held.connections >= each) {
      const message = "a client's network reached its limit of connections; further ones are reset";
      if (!held.isTold) log?.warn({ network, connectionsMax: each }, message);
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

/** How long a client may take, and how much it may have. What is slower is answered REQUEST_TIMEOUT. */
export const CLIENT_LIMITS = {
  /** Connections from one network at once; behind proxies all come from theirs, so there it is `Infinity`. */
  connectionsEach: 1_000,
  /** For a request's headers, from its first byte or from the connection on. */
  headersMsMax: 20_000,
  /** For a whole request. */
  requestMsMax: 60_000,
  /** Between two requests on a connection. */
  idleMsMax: 65_000,
  /** How often clients are checked. */
  checkMs: 2_000,
  /** A body that is not there after so long has to come at `bodyBytesPerSecondMin` at least, on average over each such time. */
  bodyLookMs: 10_000,
  bodyBytesPerSecondMin: 16 * 1024,
};

export type ClientLimits = typeof CLIENT_LIMITS;

/** The server of each request, for answers that go on as long as it does. */
const servers = new WeakMap<IncomingMessage, Server>();

/** The connections of each server. */
const sockets = new WeakMap<Server, Set<Socket>>();

/** What the client of each connection is held to. */
const limitsOf = new WeakMap<Socket, ClientLimits>();

/** Whether the server of a request no longer listens: it stops as soon as what it has at hand is answered. */
export function isStopping(request: IncomingMessage): boolean {
  return servers.get(request)?.listening === false;
}

/** Calls back when a request's body comes too slowly. Answers what ends the watch. */
export function watchRate(request: IncomingMessage, onSlow: () => void): () => void {
  const { socket } = request;
  const { bodyLookMs, bodyBytesPerSecondMin } = limitsOf.get(socket) ?? CLIENT_LIMITS;
  let seen = socket.bytesRead;
  const look = () => {
    if (socket.bytesRead - seen < (bodyBytesPerSecondMin * bodyLookMs) / 1000) onSlow();
    seen = socket.bytesRead;
  };
  let timer: NodeJS.Timeout | undefined;
  // Most bodies are there with their headers, and read by then. What arrived while we were busy is read first.
  let turn = setImmediate(() => (timer = setInterval(() => (turn = setImmediate(look)), bodyLookMs)));
  return () => {
    clearImmediate(turn);
    clearInterval(timer);
  };
}

/**
 * A server that answers every client, whatever it sends and however slowly, with the application's envelope. The log is told of what never
 * reaches the application.
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
    // Refused in the application, because Node.js does it with an empty answer.
    requireHostHeader: false,
  };
  const server = createServer(options, (request: IncomingMessage, response: ServerResponse) => {
    servers.set(request, server);
    // All who want to know how it ends, of an export more than the ten at which Node.js suspects a leak and says so.
    response.setMaxListeners(20);
    // A client would keep its connection, and a server that stops wait for it.
    response.once("finish", () => server.listening || request.socket.destroySoon());
    // The parser reads no request after it, as if we had taken the offer; what follows would wait for ever.
    if (request.headers.upgrade !== undefined) response.setHeader("Connection", "close");
    void handle(request, response);
  });
  // A client that closes its half of the connection after its request still gets the answer. An option that Node.js' types leave out.
  Object.assign(server, { httpAllowHalfOpen: true });
  limitConnections(server, limits.connectionsEach, log);
  const open = new Set<Socket>();
  sockets.set(server, open);
  server.on("connection", (socket) => {
    open.add(socket);
    limitsOf.set(socket, limits);
    socket.once("close", () => open.delete(socket));
  });
  askForBodiesLate(server);
  answerClientErrors(server, docsUrl, log);
  return server;
}

/** Requests with `Expect: 100-continue` whose clients wait to be told that the body is wanted. */
const waiting = new WeakSet<IncomingMessage>();

/** Leaves it to whoever reads a body to ask for it, so that a request that is refused by its headers never sends one. */
function askForBodiesLate(server: Server): void {
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    waiting.add(request);
    // Where no body is asked for, nobody knows whether one follows.
    response.setHeader("Connection", "close");
    server.emit("request", request, response);
  });
  // Node.js would answer an expectation that it does not know with an empty 417; we have none to meet.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
}

/** Tells a client that waits for it to send the body. */
export function askForBody(request: IncomingMessage, response: ServerResponse): void {
  if (!waiting.delete(request)) return;
  response.removeHeader("Connection");
  response.writeContinue();
}

/** Whether the client still waits to be told. */
export function bodyIsHeldBack(request: IncomingMessage): boolean {
  return waiting.has(request);
}

/**
 * Closes a server: idle connections at once, those on which nothing ever came a moment later; those with a request at hand get their
 * answer, within so many milliseconds.
 */
export async function drain(server: Server, withinMs: number): Promise<void> {
  const closed = Promise.all([new Promise((resolve) => server.close(resolve)), closeAcceptors(server)]);
  server.closeIdleConnections();
  // What was sent just before the server stopped listening may still be on its way.
  const silent = setTimeout(() => {
    // Node.js counts connections on which nothing has come yet among those with a request at hand.
    for (const socket of sockets.get(server) ?? []) if (socket.bytesRead === 0) socket.destroy();
  }, 250);
  const force = setTimeout(() => server.closeAllConnections(), withinMs);
  await closed;
  clearTimeout(silent);
  clearTimeout(force);
}
