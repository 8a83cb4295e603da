import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { CLIENT_LIMITS, createHttpServer } from "../../src/http/server.js";
import { createDatabase } from "../support/database.js";
import { listen } from "../support/listen.js";
import { startServiceProcess } from "../support/service-process.js";

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

it("connections of a network beyond its limit are reset, and those that it has are served on", async () => {
  const port = await serve(2);
  const [first, second] = [open(port), open(port)];
  expect(await ask(first)).toBe("HTTP/1.1 200 OK");
  expect(await ask(second)).toBe("HTTP/1.1 200 OK");
  expect(await ask(open(port))).toBeNull();
  expect(await ask(second)).toBe("HTTP/1.1 200 OK");
});

it("a network that has all its connections leaves others theirs, and has one again once it closed one", async () => {
  const port = await serve(1);
  const first = open(port);
  expect(await ask(first)).toBe("HTTP/1.1 200 OK");
  expect(await ask(open(port, "127.0.0.2"))).toBe("HTTP/1.1 200 OK");
  first.destroy();
  await expect.poll(() => ask(open(port))).toBe("HTTP/1.1 200 OK");
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
  expect(new Set(answers)).toEqual(new Set(["HTTP/1.1 200 OK"]));
});
