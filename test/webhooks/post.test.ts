import { EventEmitter, once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { afterAll, expect, test } from "vitest";
import { createAgent } from "../../src/webhooks/agent.js";
import { post, type PostRequest } from "../../src/webhooks/post.js";
import { listen } from "../support/listen.js";

// deliver.test.ts checks what the worker does with the results.

const servers: Server[] = [];
afterAll(() => servers.forEach((server) => server.close()));

/** Starts a server that answers each request with these bytes once its body has arrived. Returns its address and the bodies. */
async function answering(answer: string, then: (socket: Socket) => void = () => undefined) {
  const bodies: string[] = [];
  const server = createServer((socket) => {
    let sent = "";
    socket.on("data", (chunk) => {
      sent += String(chunk);
      const body = /\r\n\r\n(.+)$/s.exec(sent)?.[1];
      if (body === undefined) return;
      bodies.push(body);
      sent = "";
      socket.write(answer, () => then(socket));
    });
    socket.on("error", () => undefined);
  });
  servers.push(server);
  return { url: await listen(server), bodies };
}

const agent = createAgent({ allowPrivate: true });
afterAll(() => agent.destroy());

const send = (url: string, request: Partial<PostRequest> = {}) =>
  post({ url, headers: {}, body: "{}", agent, timeoutMs: 10_000, ...request });

test("an interim response is not the answer", async () => {
  const hints = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n";
  const followed = await answering(`${hints}HTTP/1.1 202 Accepted\r\ncontent-length: 2\r\n\r\nok`);
  expect(await send(followed.url)).toMatchObject({ statusCode: 202, body: Buffer.from("ok") });
  const alone = await answering(hints, (socket) => socket.end());
  await expect(send(alone.url)).rejects.toThrow("other side closed");
});

test("an answer that is announced without end is given up before its deadline, and its connection is closed", async () => {
  const hint = "HTTP/1.1 103 Early Hints\r\n\r\n";
  const closed = new EventEmitter();
  const { url } = await answering(hint.repeat(21), (socket) => socket.once("close", () => closed.emit("close")));
  const over = once(closed, "close");
  await expect(send(url, { timeoutMs: 3_600_000 })).rejects.toThrow("too many interim answers (1xx)");
  await over;
});

test("an answer whose status never ends is given up before its deadline", async () => {
  const { url } = await answering("HTTP/1.1 200 ", (socket) => {
    const reason = "a".repeat(64 * 1024);
    const goOn = () => {
      while (!socket.destroyed && socket.write(reason));
      socket.once("drain", goOn);
    };
    goOn();
  });
  await expect(send(url, { timeoutMs: 3_600_000 })).rejects.toThrow(/^the receiver sent more than 512 KiB$/);
});

test("the answers on one connection together may be longer than one may be", async () => {
  const body = "a".repeat(60 * 1024);
  const { url } = await answering(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  for (let n = 0; n < 20; n++) expect(await send(url)).toMatchObject({ statusCode: 200 });
});

test("connections to many receivers are closed after their requests while more are open than are kept", async () => {
  const few = createAgent({ allowPrivate: true, keptMax: 2 });
  const closed = new Set<string>();
  const closings = new EventEmitter();
  const names = ["1", "2", "3", "4", "5"];
  for (const name of names) {
    const { url } = await answering("HTTP/1.1 204 No Content\r\nkeep-alive: timeout=60\r\n\r\n", (socket) => {
      socket.once("close", () => closings.emit("close", closed.add(name)));
    });
    const closing = once(closings, "close");
    expect(await send(url, { agent: few })).toMatchObject({ statusCode: 204 });
    if (Number(name) > 3) await closing;
  }
  expect([...closed]).toEqual(["4", "5"]);
  await few.close();
});

test("the query of an address is sent, and its fragment is not", async () => {
  let asked = "";
  const server = createServer((socket) => {
    socket.on("data", (chunk) => {
      asked += String(chunk);
      socket.end("HTTP/1.1 204 No Content\r\n\r\n");
    });
  });
  servers.push(server);
  await send(`${await listen(server)}/hooks?x=1#part`);
  expect(asked).toMatch(/^POST \/hooks\?x=1 HTTP/);
});

test("an error says that 100 Continue is not accepted", async () => {
  const { url } = await answering("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
  await expect(send(url)).rejects.toThrow("the receiver sent an unexpected 100 Continue");
});

test("an error says that the protocol is not to be switched", async () => {
  const { url } = await answering("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n");
  await expect(send(url)).rejects.toThrow("the receiver switched to another protocol (101)");
});

test("an error says that an answer is not HTTP, without the parser's own text", async () => {
  const { url } = await answering("HTTP/1.1 099 Odd\r\ncontent-length: 0\r\n\r\n");
  await expect(send(url)).rejects.toThrow(/^the receiver's answer is not HTTP$/);
});

test("an interrupted answer counts by its status, with the part of its body that arrived", async () => {
  const { url } = await answering("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nso far", (socket) => socket.destroy());
  expect(await send(url)).toMatchObject({ statusCode: 200, body: Buffer.from("so far") });
});

test("an answer that never ends counts by its status, too, before its deadline", async () => {
  const { url } = await answering("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nso far");
  const answer = await send(url, { timeoutMs: 3_600_000 });
  expect(answer).toMatchObject({ statusCode: 200, body: Buffer.from("so far") });
});

test("a connection that closes without an answer is an error", async () => {
  const { url } = await answering("", (socket) => socket.end());
  await expect(send(url)).rejects.toThrow("other side closed");
});

test("a request without a connection at its timeout fails, and is never sent", async () => {
  const { url, bodies } = await answering("HTTP/1.1 204 No Content\r\n\r\n");
  const names = new EventEmitter();
  const found = once(names, "found");
  const resolve = async () => {
    names.emit("asked");
    await found;
    return [{ address: "127.0.0.1", family: 4 as const }];
  };
  const slow = createAgent({ allowPrivate: true, resolve });
  const asked = once(names, "asked");
  const named = url.replace("127.0.0.1", "receiver.example");
  const late = expect(send(named, { agent: slow, body: "late", timeoutMs: 50 })).rejects.toThrow(
    "no answer within 0.05 seconds",
  );
  await asked;
  await late;
  names.emit("found");
  expect(await send(named, { agent: slow, body: "in time" })).toMatchObject({ statusCode: 204 });
  await slow.close();
  expect(bodies).toEqual(["in time"]);
});
