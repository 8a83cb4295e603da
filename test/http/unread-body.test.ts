import Koa from "koa";
import { expect, it, onTestFinished } from "vitest";
import { createHttpServer, drain } from "../../src/http/server.js";
import { discardUnread } from "../../src/http/middleware/unread-body.js";
import { listen } from "../support/listen.js";
import { openConnection } from "./ingest/raw-connection.js";

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
