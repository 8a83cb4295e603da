import { connect, type Socket } from "node:net";

/**
 * Posts bodies over keep-alive connections, one request at a time on each, and answers when all are answered. Raw sockets, because a full
 * HTTP client would cost more than the server under test. Throws on any status but 202.
 */
export async function postAll(
  address: URL,
  path: string,
  key: string,
  bodies: string[],
  connections: number,
): Promise<void> {
  const requests = bodies.map((body) =>
    [
      `POST ${path} HTTP/1.1`,
      `Host: ${address.host}`,
      `Authorization: Bearer ${key}`,
      "Content-Type: application/json",
      `Content-Length: ${Buffer.byteLength(body)}`,
      "",
      body,
    ].join("\r\n"),
  );
  await Promise.all(Array.from({ length: connections }, () => send(address, requests)));
}

/** One connection: takes the next request as soon as the one before is answered. */
function send(address: URL, requests: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({ host: address.hostname, port: Number(address.port), noDelay: true });
    let received = "";
    const next = () => {
      const request = requests.pop();
      if (request !== undefined) socket.write(request);
      else {
        socket.end();
        resolve();
      }
    };
    socket.setEncoding("latin1");
    socket.once("connect", next);
    socket.once("error", reject);
    socket.on("data", (chunk: string) => {
      received += chunk;
      const headersEnd = received.indexOf("\r\n\r\n");
      if (headersEnd < 0) return;
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(received)?.[1]);
      if (received.length < headersEnd + 4 + length) return;
      if (!received.startsWith("HTTP/1.1 202")) {
        reject(new Error(`unexpected answer: ${received.slice(0, 500)}`));
        socket.destroy();
        return;
      }
      received = received.slice(headersEnd + 4 + length);
      next();
    });
  });
}
