import { pino } from "pino";
import { expect, it } from "vitest";
import { drain } from "../../src/http/drain.js";
import { createHttpServer } from "../../src/http/server.js";
import { readConfig } from "../../src/server/config.js";
import { openHttp } from "../../src/server/http-role.js";
import type { AddressInfo } from "node:net";
import { openConnection } from "../http/ingest/raw-connection.js";

const REQUEST = "GET /x HTTP/1.1\r\nHost: svc\r\n\r\n";

it("a server that stops waits for the answer at hand, and not for the client to close its connection", async () => {
  let answer = () => {};
  const wanted = new Promise<void>((resolve) => (answer = resolve));
  const server = createHttpServer(async (_, response) => {
    await wanted;
    response.end();
  }, undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = openConnection(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const asked = new Promise((resolve) => server.once("request", resolve));
  client.write(REQUEST);
  await asked;
  // Longer than a test may take: it ends because all connections are closed.
  const stopped = drain(server, 60_000);
  answer();
  await stopped;
  expect(await client.closed).toMatchObject([{ status: 200 }]);
});

it("a service that stops still answers what is no HTTP, with the address of its documentation", async () => {
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
