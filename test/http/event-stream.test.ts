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

/** A server that answers every request with a stream. */
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
  asked.on("error", () => undefined); // of those that are destroyed
  asked.end();
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  return response;
}

/** What has come so far. */
function textOf(response: IncomingMessage): () => string {
  let text = "";
  response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  return () => text;
}

it("says where it begins, and again while nothing happens", async () => {
  const text = textOf(await ask(await serve(() => Promise.resolve(NOTHING), { heartbeatMs: 5 })));
  await expect.poll(text).toMatch(/^retry: 1000\n\n(id: p0\ndata:\n\n){3}/);
});

it("ends when the server stops, which need not wait for the client", async () => {
  const served = await serve(() => Promise.resolve(NOTHING));
  const response = await ask(served);
  const text = textOf(response);
  const ended = once(response, "end");
  // Longer than a test may take: it ends because the stream does.
  await drain(served.server, 100_000);
  await ended;
  expect(text()).toBe("retry: 1000\n\nid: p0\ndata:\n\n");
});

it("asks for no more than a client that does not read has taken", async () => {
  let asked = 0;
  const item = JSON.stringify("x".repeat(100_000));
  const server = await serve(() => {
    asked += 1;
    return Promise.resolve({ events: [[`${asked}`, item]], position: `${asked}`, positionId: `${asked}`, more: true });
  });
  const response = await ask(server);
  response.pause();
  // The buffers of two sockets and a stream take a few megabytes; then the number of pages stands still.
  let before = -1;
  const stands = () => before === (before = asked);
  await expect.poll(stands, { interval: 200, timeout: 20_000 }).toBe(true);
  expect(asked).toBeLessThan(500);
  const text = textOf(response);
  response.resume();
  const stoodAt = asked;
  await expect.poll(() => asked).toBeGreaterThan(stoodAt);
  // Each page once, in order.
  const ids = [...text().matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  expect(ids).toEqual(ids.map((_, index) => index + 1));
});

it("stops to ask when the client leaves", async () => {
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
  const stoodAt = asked;
  await new Promise((resolve) => setImmediate(resolve));
  expect(asked - stoodAt).toBeLessThanOrEqual(1); // one that was under way
});

it("ends with what went wrong, and says nothing of an inner cause", async () => {
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

it("is refused like any other request where already the first page fails", async () => {
  const response = await ask(await serve(() => Promise.reject(new Error("inner text"))));
  expect(response.statusCode).toBe(500);
  expect(response.headers["content-type"]).toMatch(/^application\/json/);
  response.resume();
});
