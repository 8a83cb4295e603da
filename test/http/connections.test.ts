import { once } from "node:events";
import type { Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import Koa from "koa";
import { pino } from "pino";
import { expect, it, onTestFinished } from "vitest";
import { acceptInParallel, ACCEPTORS } from "../../src/http/accept-in-parallel.js";
import { discardUnread } from "../../src/http/middleware/unread-body.js";
import { CLIENT_LIMITS, createHttpServer, drain } from "../../src/http/server.js";
import { createDatabase } from "../support/database.js";
import { createHeldServer } from "../support/held-server.js";
import { closeServer, listen } from "../support/listen.js";
import { startServiceProcess } from "../support/service-process.js";
import { openConnection } from "./ingest/raw-connection.js";

const METRICS_TOKEN = "a-token-of-the-tests-for-metrics-0123456789";
const OK = "HTTP/1.1 200 OK";
const REQUEST = "GET /livez HTTP/1.1\r\nHost: svc\r\n\r\n";

async function serve(connectionsEach: number): Promise<number> {
  const limits = { ...CLIENT_LIMITS, connectionsEach };
  const server = createHttpServer((_, response) => Promise.resolve(void response.end()), undefined, limits);
  const url = await listen(server);
  onTestFinished(() => closeServer(server));
  return Number(new URL(url).port);
}

function open(port: number, localAddress = "127.0.0.1"): Socket {
  const socket = connect({ host: "127.0.0.1", port, localAddress });
  socket.on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** The first line of the answer; null if the connection closes without one. */
async function ask(socket: Socket): Promise<string | null> {
  const answered = once(socket, "data").then(([bytes]) => String(bytes).split("\r\n")[0]!);
  answered.catch(() => undefined); // "close" reports a reset
  const closed = new Promise<null>((resolve) => socket.once("close", () => resolve(null)));
  socket.write(REQUEST);
  return Promise.race([answered.catch(() => null), closed]);
}

it("limits the connections of one network, serves others, and admits another once one is closed", async () => {
  const port = await serve(2);
  const [first, second] = [open(port), open(port)];
  for (const socket of [first, second]) expect(await ask(socket)).toBe(OK);
  expect(await ask(open(port))).toBeNull();
  expect(await ask(second)).toBe(OK);
  expect(await ask(open(port, "127.0.0.2"))).toBe(OK);
  first.destroy();
  await expect.poll(() => ask(open(port))).toBe(OK);
});

it("outlives a client that asks for a tunnel and resets the connection", async () => {
  const server = createHttpServer((_, response) => Promise.resolve(void response.end()), undefined);
  const port = Number(new URL(await listen(server)).port);
  onTestFinished(() => void server.close());
  const closed = new Promise((resolve) => {
    server.once("connect", (_, socket) => {
      socket.once("close", resolve);
      client.resetAndDestroy();
    });
  });
  const client = open(port);
  client.write("CONNECT example.com:80 HTTP/1.1\r\nHost: svc\r\n\r\n");
  await closed;
  expect(await ask(open(port))).toBe(OK);
});

it("handles two requests of a connection at once, and closes one on which more wait than it takes, after the answer to the last of these", async () => {
  const { server, answers } = createHeldServer();
  const connection = openConnection(await listen(server));
  onTestFinished(() => void server.close());
  connection.write(REQUEST.repeat(1_000));
  for (let answered = 0; answered < 32; answered++) {
    await expect.poll(() => answers.length).toBe(Math.min(answered + 2, 32));
    answers[answered]!();
  }
  const received = await connection.closed;
  expect(received.map(({ headers }) => headers["connection"])).toEqual([...Array(31).fill("keep-alive"), "close"]);
  expect(answers).toHaveLength(32);
});

it("reads no further requests of a connection on which more wait than it takes, while it answers the earlier ones", async () => {
  const { server, answers } = createHeldServer();
  let read = 0;
  server.on("request", () => (read += 1));
  const socket = open(Number(new URL(await listen(server)).port));
  onTestFinished(() => void server.close());
  socket.write(REQUEST.repeat(50_000));
  const closed = new Promise((resolve) => socket.resume().once("close", resolve));
  for (let answered = 0; answered < 32; answered++) {
    await expect.poll(() => answers.length).toBe(Math.min(answered + 2, 32));
    answers[answered]!();
  }
  await closed;
  // Not even those that arrived in the same 64 KiB.
  expect(read).toBe(32);
});

it("accepts clients that connected while the process was busy, and counts delays of the event loop", async () => {
  const db = await createDatabase();
  onTestFinished(() => db.drop());
  const service = await startServiceProcess(db.url, { SVC_METRICS_TOKEN: METRICS_TOKEN }, { role: "http" });
  onTestFinished(() => service.stop());
  const port = Number(new URL(service.url).port);
  service.signal("SIGSTOP");
  // More than Node's default backlog of 511; clients beyond the backlog would retry for seconds.
  const sockets = Array.from({ length: 800 }, () => open(port));
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  service.signal("SIGCONT");
  const answers = await Promise.all(sockets.map(ask));
  expect(new Set(answers)).toEqual(new Set([OK]));
  const headers = { Authorization: `Bearer ${METRICS_TOKEN}` };
  const metrics = await (await fetch(`${service.url}/metrics`, { headers })).text();
  expect(metrics).toMatch(/^svc_event_loop_delay_seconds_bucket\{le="0\.05"\} \d+$/m);
});

const CLIENTS = 2 * ACCEPTORS;
const BACKLOG = 2 * CLIENTS;

/** Opens connections at once, and notifies the waiting thread when the system has established them, accepted or not. */
const CLIENT = `
  const { connect } = require("node:net");
  const { workerData: { port, clients, connected } } = require("node:worker_threads");
  for (let client = 0; client < clients; client++)
    connect({ port, host: "127.0.0.1" }, () => {
      Atomics.add(connected, 0, 1);
      Atomics.notify(connected, 0);
    });
`;

/** Starts a server with all its acceptors. */
async function listenWithAll(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen({ port: 0, host: "127.0.0.1", backlog: BACKLOG }, resolve));
  await new Promise<void>((resolve) => acceptInParallel(server, BACKLOG, pino({ level: "silent" }), resolve));
  return (server.address() as AddressInfo).port;
}

it("accepts many connections per turn of the event loop after it was busy", async () => {
  const server = createHttpServer((_, response) => Promise.resolve(void response.end()), undefined);
  const port = await listenWithAll(server);
  let accepted = 0;
  server.on("connection", () => (accepted += 1));
  const connected = new Int32Array(new SharedArrayBuffer(4));
  const client = new Worker(CLIENT, { eval: true, workerData: { port, clients: CLIENTS, connected } });
  onTestFinished(async () => {
    await client.terminate();
    await drain(server, 0);
  });
  await once(client, "online");
  // Block this thread meanwhile.
  for (let open = 0; open < CLIENTS; open = Atomics.load(connected, 0)) Atomics.wait(connected, 0, open);
  const before = accepted;
  await turn();
  await turn();
  expect(accepted - before).toBeGreaterThanOrEqual(ACCEPTORS);
});

it("answers what any acceptor accepted when the server stops, and accepts nothing more", async () => {
  const { server, answers } = createHeldServer();
  const port = await listenWithAll(server);
  const clients = Array.from({ length: CLIENTS }, () => openConnection(`http://127.0.0.1:${port}`));
  for (const client of clients) client.write(REQUEST);
  await expect.poll(() => answers.length).toBe(CLIENTS);
  // Longer than the test's timeout: it ends because all connections are closed.
  const stopped = drain(server, 60_000);
  const late = connect({ port, host: "127.0.0.1" });
  await expect(once(late, "connect")).rejects.toMatchObject({ code: "ECONNREFUSED" });
  for (const answer of answers) answer();
  await stopped;
  for (const client of clients) expect(await client.closed).toMatchObject([{ status: 200 }]);
});

const LENGTH = 20_000_000;

it("answers a client that is still sending when the server stops, though the connection was to be kept alive", async () => {
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
