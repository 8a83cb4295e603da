import { execFile } from "node:child_process";
import { once } from "node:events";
import { access, rm } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { createServer } from "node:net";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { describe, expect, it, onTestFinished } from "vitest";
import { connect } from "../../src/db/connect.js";
import { createHttpServer, disableKeepAlive, drain } from "../../src/http/server.js";
import { readConfig } from "../../src/server/config.js";
import { openHttp } from "../../src/server/http-role.js";
import { createDatabase, useDatabase } from "../support/database.js";
import { createHeldServer } from "../support/held-server.js";
import { listen } from "../support/listen.js";
import { keepLog } from "../support/run-log.js";
import { endServer, temporaryDirectory } from "../support/server.js";
import { startServiceProcess, type ServiceProcess } from "../support/service-process.js";
import { openConnection } from "../http/ingest/raw-connection.js";

const REQUEST = "GET /x HTTP/1.1\r\nHost: svc\r\n\r\n";

/** A server, and a client connected to it. */
async function connected() {
  const server = createHttpServer((_, response) => Promise.resolve(void response.end()), undefined);
  const url = await listen(server);
  const connection = once(server, "connection");
  const client = openConnection(url);
  await connection;
  return { server, client };
}

/** Longer than the test's timeout. */
const LONG = 60_000;

it("a stopping server waits for no connection on which nothing was ever sent, but answers a request that was just sent", async () => {
  const silent = await connected();
  await drain(silent.server, LONG);
  expect(await silent.client.closed).toEqual([]);
  const { server, client } = await connected();
  const stopped = drain(server, LONG);
  client.write(REQUEST);
  await stopped;
  expect(await client.closed).toMatchObject([{ status: 200 }]);
});

it("a stopping server answers a request that was just sent on a connection that was idle, and ends the connection", async () => {
  const { server, client } = await connected();
  client.write(REQUEST);
  await expect.poll(() => client.answers()).toHaveLength(1);
  const stopped = drain(server, LONG);
  client.write(REQUEST);
  await stopped;
  expect(await client.closed).toMatchObject([{ status: 200 }, { status: 200 }]);
});

it("a stopping server answers all requests that were sent on a connection without waiting for answers", async () => {
  const { server, answers } = createHeldServer();
  const client = openConnection(await listen(server));
  client.write(REQUEST.repeat(5));
  await expect.poll(() => answers).toHaveLength(2);
  const stopped = drain(server, LONG);
  for (let answered = 0; answered < 5; answered++) {
    await expect.poll(() => answers.length).toBeGreaterThan(answered);
    answers[answered]!();
  }
  await stopped;
  const received = await client.closed;
  expect(received.map(({ status }) => status)).toEqual(Array(5).fill(200));
});

it("before a server stops listening, its answers end their connections, those under way too, so that clients open others", async () => {
  let held: ServerResponse | undefined;
  const server = createHttpServer((request, response) => {
    if (request.url === "/held") held = response;
    else response.end();
    return Promise.resolve();
  }, undefined);
  const url = await listen(server);
  const [idle, waiting] = [openConnection(url), openConnection(url)];
  idle.write(REQUEST);
  await expect.poll(() => idle.answers()).toMatchObject([{ headers: { connection: "keep-alive" } }]);
  waiting.write(REQUEST.replace("/x", "/held"));
  await expect.poll(() => held).toBeDefined();
  disableKeepAlive(server);
  held!.end();
  idle.write(REQUEST);
  const last = { status: 200, headers: { connection: "close" } };
  expect(await waiting.closed).toMatchObject([last]);
  expect(await idle.closed).toMatchObject([{ status: 200 }, last]);
  expect(server.listening).toBe(true);
  await drain(server, LONG);
});

it("a stopping service still answers invalid HTTP, with the address of its documentation", async () => {
  const { config } = readConfig({ SVC_PORT: "0" });
  const http = await openHttp(config, pino({ level: "silent" }));
  const client = openConnection(http.address);
  client.write("GET /livez HTTP/1.1\r\nHost: svc\r\n");
  const before = openConnection(http.address);
  before.write(REQUEST);
  await expect.poll(() => before.answers()).toMatchObject([{ status: 503 }]);
  const stopped = http.stop();
  client.write("no header\r\n\r\n");
  expect(await client.closed).toMatchObject([
    { status: 400, body: { error: { docs: `${http.address}/docs/api#VALIDATION_ERROR` } } },
  ]);
  await stopped;
});

describe("a process that gets a signal to stop", async () => {
  const db = await useDatabase();
  async function start(env: Readonly<Record<string, string>> = {}): Promise<ServiceProcess> {
    const service = await startServiceProcess(db.url, env);
    onTestFinished(() => service.stop());
    return service;
  }
  const ready = async ({ url }: ServiceProcess) => {
    const response = await fetch(`${url}/readyz`);
    return { status: response.status, body: await response.json() };
  };
  const OK = { status: 200, body: { status: "ok" } };
  const checks = [{ name: "stopping", message: "The service is stopping." }];
  const STOPPING = { status: 503, body: { error: { checks } } };

  it.each([
    ["Ctrl+C", "SIGINT"],
    ["the end of its terminal", "SIGHUP"],
  ] as const)(
    "ends with exit code 0 on %s, without waiting for clients that have sent nothing, or nothing more",
    async (_, signal) => {
      const service = await start();
      const silent = openConnection(service.url);
      const idle = openConnection(service.url);
      idle.write("GET /livez HTTP/1.1\r\nHost: svc\r\n\r\n");
      await expect.poll(() => idle.answers()).toMatchObject([{ status: 200 }]);
      service.signal(signal);
      expect(await silent.closed).toEqual([]);
      expect(await idle.closed).toHaveLength(1);
      expect(await service.ended).toBe(0);
    },
  );

  it("first reports that it is not ready, and continues to serve for SVC_STOP_DELAY_SECONDS", async () => {
    const service = await start({ SVC_STOP_DELAY_SECONDS: "3" });
    await expect.poll(() => ready(service), { timeout: 20_000 }).toEqual(OK);
    service.signal("SIGTERM");
    await expect.poll(() => ready(service)).toMatchObject(STOPPING);
    const { status, headers } = await fetch(`${service.url}/v1/events`, { method: "POST" });
    expect([status, headers.get("connection")]).toEqual([401, "close"]);
    expect(await service.ended).toBe(0);
    await expect(fetch(service.url)).rejects.toThrow();
  });

  it("ends at once on a second signal, whichever it is, and stops the embedded database, too", async () => {
    const directory = await temporaryDirectory();
    const service = await startServiceProcess("", { SVC_DATA_DIR: directory, SVC_STOP_DELAY_SECONDS: "300" });
    onTestFinished(async () => {
      await service.stop();
      await endServer(directory);
      await rm(directory, { recursive: true, force: true });
    });
    await expect.poll(() => ready(service), { timeout: 20_000 }).toEqual(OK);
    service.signal("SIGTERM");
    await expect.poll(() => ready(service)).toMatchObject(STOPPING);
    service.signal("SIGINT");
    expect(await service.ended).toBe("SIGINT");
    await expect(access(path.join(directory, "postgres/data/postmaster.pid"))).rejects.toThrow("ENOENT");
  });
});

describe("a process that gets a signal to stop while it starts", () => {
  const PROGRAM = fileURLToPath(new URL("../../bin/svc-server.js", import.meta.url));

  /** Starts a process that never gets as far as listening. */
  function start(databaseUrl: string) {
    const env = { PATH: process.env["PATH"], SVC_PORT: "0", SVC_SECRET: "x".repeat(32), DATABASE_URL: databaseUrl };
    const child = execFile(process.execPath, [PROGRAM, "start"], { env });
    onTestFinished(() => void child.kill("SIGKILL"));
    keepLog(child.stderr!, `start-${child.pid}`);
    const lines = createInterface({ input: child.stderr! });
    const printed = (words: string) =>
      new Promise<void>((resolve) => lines.on("line", (line) => line.includes(words) && resolve()));
    const ended = once(child, "close").then(() => child.exitCode ?? child.signalCode);
    return { child, printed, ended };
  }

  it("reports that it waits for another process's migration, and ends at once", async () => {
    const db = await createDatabase();
    onTestFinished(() => db.drop());
    const other = connect(db.url, { max: 1, applicationName: "svc test migrate" });
    onTestFinished(() => other.end());
    await other`select pg_advisory_lock(7205759403793)`;
    const { child, printed, ended } = start(db.url);
    await printed("another process migrates the database");
    child.kill("SIGTERM");
    expect(await ended).toBe(0);
  });

  it("ends at once while the database server does not answer", async () => {
    const silent = createServer();
    const url = await listen(silent);
    onTestFinished(() => void silent.close());
    const connected = once(silent, "connection");
    const { child, ended } = start(url.replace("http://", "postgres://a:b@").concat("/c"));
    await connected;
    child.kill("SIGINT");
    expect(await ended).toBe(0);
  });
});
