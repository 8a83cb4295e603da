import { once } from "node:events";
import { request, type IncomingMessage, type Server } from "node:http";
import Koa from "koa";
import { expect, it, onTestFinished } from "vitest";
import { openEventStream, type EventPage, type EventStreamOptions } from "../../src/http/event-stream.js";
import { handleErrors } from "../../src/http/middleware/handle-errors.js";
import { createHttpServer, drain } from "../../src/http/server.js";
import { listen } from "../support/listen.js";

const NOTHING: EventPage = { events: [], position: "0", positionId: "p0", more: false };

interface Served {
  server: Server;
  url: string;
}

/** Starts a server that answers every request with a stream. */
async function serve(next: EventStreamOptions["next"], more: Partial<EventStreamOptions> = {}): Promise<Served> {
  const app = new Koa();
  app.silent = true;
  app.use(handleErrors());
  app.use(async (ctx) => {
    ctx.type = "text/event-stream";
    ctx.body = await openEventStream(ctx, { organizationId: "org_1", next, position: null, pollMs: 1, ...more });
  });
  const server = createHttpServer(app.callback(), undefined);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { server, url: await listen(server) };
}

async function ask({ url }: Served): Promise<IncomingMessage> {
  const asked = request(url);
  onTestFinished(() => void asked.destroy());
  asked.on("error", () => undefined); // raised when the request is destroyed
  asked.end();
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  return response;
}

/** The text received so far. */
function textOf(response: IncomingMessage): () => string {
  let text = "";
  response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  return () => text;
}

it("sends its position at the start, and repeats it as a heartbeat", async () => {
  const text = textOf(await ask(await serve(() => Promise.resolve(NOTHING), { heartbeatMs: 5 })));
  await expect.poll(text).toMatch(/^retry: 1000\n\n(id: p0\ndata:\n\n){3}/);
});

it("ends when the server stops, without waiting for the client", async () => {
  const served = await serve(() => Promise.resolve(NOTHING));
  const response = await ask(served);
  const text = textOf(response);
  const ended = once(response, "end");
  // Longer than the test's timeout: the drain ends because the stream does.
  await drain(served.server, 100_000);
  await ended;
  expect(text()).toBe("retry: 1000\n\nid: p0\ndata:\n\n");
});

it("stops fetching pages while the client does not read", async () => {
  let asked = 0;
  const item = JSON.stringify("x".repeat(100_000));
  const server = await serve(() => {
    asked += 1;
    return Promise.resolve({ events: [[`${asked}`, item]], position: `${asked}`, positionId: `${asked}`, more: true });
  });
  const response = await ask(server);
  response.pause();
  // The buffers of two sockets and a stream hold a few megabytes; then no more pages are fetched.
  let before = -1;
  const isStable = () => before === (before = asked);
  await expect.poll(isStable, { interval: 200, timeout: 20_000 }).toBe(true);
  expect(asked).toBeLessThan(500);
  const text = textOf(response);
  response.resume();
  const pausedAt = asked;
  await expect.poll(() => asked).toBeGreaterThan(pausedAt);
  // Each page once, in order.
  const ids = [...text().matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  expect(ids).toEqual(ids.map((_, index) => index + 1));
});

it("stops polling when the client disconnects", async () => {
  let asked = 0;
  const served = await serve(() => {
    asked += 1;
    return Promise.resolve(NOTHING);
  });
  const closed = new Promise((resolve) =>
    served.server.once("connection", (socket: NodeJS.EventEmitter) => socket.once("close", resolve)),
  );
  const response = await ask(served);
  await expect.poll(() => asked).toBeGreaterThan(2);
  response.destroy();
  await closed;
  const pausedAt = asked;
  await new Promise((resolve) => setImmediate(resolve));
  expect(asked - pausedAt).toBeLessThanOrEqual(1); // one may have been in flight
});

it("ends with an error that does not disclose its inner cause, and is refused like any other request if the first page fails", async () => {
  const refused = await ask(await serve(() => Promise.reject(new Error("inner text"))));
  expect([refused.statusCode, refused.headers["content-type"]]).toEqual([500, "application/json; charset=utf-8"]);
  refused.resume();
  let asked = 0;
  const server = await serve(() => {
    asked += 1;
    return asked === 1 ? Promise.resolve(NOTHING) : Promise.reject(new Error("inner text"));
  });
  const response = await ask(server);
  const text = textOf(response);
  await once(response, "end");
  expect(text()).toMatch(
    /^retry: 1000\n\nid: p0\ndata:\n\nevent: error\ndata: \{"error":\{"code":"INTERNAL_ERROR",.*\}\}\n\n$/,
  );
  expect(text()).not.toContain("inner text");
});
