import { once } from "node:events";
import type { Server } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { pino } from "pino";
import { expect, it, onTestFinished } from "vitest";
import { ACCEPTORS, acceptInParallel } from "../../src/http/acceptors.js";
import { createHttpServer, drain } from "../../src/http/server.js";
import { openConnection } from "./ingest/raw-connection.js";

const CLIENTS = 2 * ACCEPTORS;
const BACKLOG = 2 * CLIENTS;
const REQUEST = "GET /livez HTTP/1.1\r\nHost: svc\r\n\r\n";

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
async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen({ port: 0, host: "127.0.0.1", backlog: BACKLOG }, resolve));
  await new Promise<void>((resolve) => acceptInParallel(server, BACKLOG, pino({ level: "silent" }), resolve));
  return (server.address() as AddressInfo).port;
}

it("connections that came while the event loop was busy are taken many in a turn", async () => {
  const server = createHttpServer((_, response) => Promise.resolve(void response.end()), undefined);
  const port = await listen(server);
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
  const port = await listen(server);
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
