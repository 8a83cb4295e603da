import { once } from "node:events";
import type { Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import Koa from "koa";
import { pino } from "pino";
import { expect, it, onTestFinished } from "vitest";
import { acceptInParallel, ACCEPTORS } from "../../src/http/acceptors.js";
import { discardUnread } from "../../src/http/middleware/unread-body.js";
import { CLIENT_LIMITS, createHttpServer, drain } from "../../src/http/server.js";
import { createDatabase } from "../support/database.js";
import { listen } from "../support/listen.js";
import { startServiceProcess } from "../support/service-process.js";
import { openConnection } from "./ingest/raw-connection.js";

const OK = "HTTP/1.1 200 OK";
const REQUEST = "GET /livez HTTP/1.1\r\nHost: svc\r\n\r\n";

async function serve(connectionsEach: number): Promise<number> {
  const limits = { ...CLIENT_LIMITS, connectionsEach };
  const server = createHttpServer((_, response) => Promise.resolve(void response.end()), undefined, limits);
  const url = await listen(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return Number(new URL(url).port);
}

function open(port: number, localAddress = "127.0.0.1"): Socket {
  const socket = connect({ host: "127.0.0.1", port, localAddress });
  socket.on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** The first line that is answered; null where the connection ends without. */
async function ask(socket: Socket): Promise<string | null> {
  const answered = once(socket, "data").then(([bytes]) => String(bytes).split("\r\n")[0]!);
  answered.catch(() => undefined); // where it is reset, "close" tells
  const closed = new Promise<null>((resolve) => socket.once("close", () => resolve(null)));
  socket.write(REQUEST);
  return Promise.race([answered.catch(() => null), closed]);
}

it("a network has so many connections and is served on them, leaves others theirs, and has one again once it closed one", async () => {
  const port = await serve(2);
  const [first, second] = [open(port), open(port)];
  for (const socket of [first, second]) expect(await ask(socket)).toBe(OK);
  expect(await ask(open(port))).toBeNull();
  expect(await ask(second)).toBe(OK);
  expect(await ask(open(port, "127.0.0.2"))).toBe(OK);
  first.destroy();
  await expect.poll(() => ask(open(port))).toBe(OK);
});

it("clients that connect while the process is busy are taken as soon as it is not", async () => {
  const db = await createDatabase();
  onTestFinished(() => db.drop());
  const service = await startServiceProcess(db.url, {}, { role: "http" });
  onTestFinished(() => service.stop());
  const port = Number(new URL(service.url).port);
  service.signal("SIGSTOP");
  // More than the 511 that Node.js asks the system to keep unless told otherwise; the next ones would try again for seconds.
  const sockets = Array.from({ length: 800 }, () => open(port));
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  service.signal("SIGCONT");
  const answers = await Promise.all(sockets.map(ask));
  expect(new Set(answers)).toEqual(new Set([OK]));
});

const CLIENTS = 2 * ACCEPTORS;
const BACKLOG = 2 * CLIENTS;

/** Opens connections at once, and wakes who waits once the system has completed them, taken or not. */
const CLIENT = `
  const { connect } = require("node:net");
  const { workerData: { port, clients, connected } } = require("node:worker_threads");
  for (let client = 0; client < clients; client++)
    connect({ port, host: "127.0.0.1" }, () => {
      Atomics.add(connected, 0, 1);
      Atomics.notify(connected, 0);
    });
`;

/** A server with all its acceptors. */
async function listenWithAll(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen({ port: 0, host: "127.0.0.1", backlog: BACKLOG }, resolve));
  await new Promise<void>((resolve) => acceptInParallel(server, BACKLOG, pino({ level: "silent" }), resolve));
  return (server.address() as AddressInfo).port;
}

it("connections that came while the event loop was busy are taken many in a turn", async () => {
  const server = createHttpServer((_, response) => Promise.resolve(void response.end()), undefined);
  const port = await listenWithAll(server);
  let taken = 0;
  server.on("connection", () => (taken += 1));
  const connected = new Int32Array(new SharedArrayBuffer(4));
  const client = new Worker(CLIENT, { eval: true, workerData: { port, clients: CLIENTS, connected } });
  onTestFinished(async () => {
    await client.terminate();
    await drain(server, 0);
  });
  await once(client, "online");
  // This thread does nothing else meanwhile.
  for (let open = 0; open < CLIENTS; open = Atomics.load(connected, 0)) Atomics.wait(connected, 0, open);
  const before = taken;
  await turn();
  await turn();
  expect(taken - before).toBeGreaterThanOrEqual(ACCEPTORS);
});

it("a server that stops answers what any of its acceptors took, and takes nothing more", async () => {
  const answers: (() => void)[] = [];
  const server = createHttpServer(async (_, response) => {
    await new Promise<void>((resolve) => answers.push(resolve));
    response.end();
  }, undefined);
  const port = await listenWithAll(server);
  const clients = Array.from({ length: CLIENTS }, () => openConnection(`http://127.0.0.1:${port}`));
  for (const client of clients) client.write(REQUEST);
  await expect.poll(() => answers.length).toBe(CLIENTS);
  // Longer than a test may take: it ends because all connections are closed.
  const stopped = drain(server, 60_000);
  const late = connect({ port, host: "127.0.0.1" });
  await expect(once(late, "connect")).rejects.toMatchObject({ code: "ECONNREFUSED" });
  for (const answer of answers) answer();
  await stopped;
  for (const client of clients) expect(await client.closed).toMatchObject([{ status: 200 }]);
});

const LENGTH = 20_000_000;

it("who still sends when the server stops is answered, though the connection was to be kept", async () => {
  const app = new Koa();
  let drained: Promise<void> | undefined;
  app.use(discardUnread);
  app.use((ctx) => {
    drained = drain(server, 100_000);
    ctx.body = { refused: true };
  });
  const server = createHttpServer(app.callback(), undefined);
  onTestFinished(() => server.closeAllConnections());
  const connection = openConnection(await listen(server));
  connection.write(`POST / HTTP/1.1\r\nHost: svc\r\nContent-Length: ${LENGTH}\r\n\r\n`);
  connection.write(" ".repeat(LENGTH));
  expect(await connection.closed).toMatchObject([{ status: 200, body: { refused: true } }]);
  expect(connection.socket.bytesWritten).toBeGreaterThan(LENGTH);
  expect(connection.socket.errored).toBeNull();
  await drained;
});
