import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

// Answers 204 to posts to /ok and /fine, and never answers posts to /hang. GET /seen returns, as JSON, how many requests to /ok have arrived
// since the last DELETE /seen, and the delays (ms) of those whose metadata has the time of their creation.
let count = 0;
let delays: number[] = [];

const server = createServer((request, response) => {
  if (request.method === "DELETE") {
    count = 0;
    delays = [];
    response.end();
  } else if (request.method === "GET") {
    response.end(JSON.stringify({ count, delays }));
  } else if (request.url !== "/hang") {
    void textOf(request).then((body) => {
      response.writeHead(204).end();
      if (request.url !== "/ok") return;
      count += 1;
      const madeAt = /"madeAt": ?(\d+)/.exec(body)?.[1];
      if (madeAt !== undefined) delays.push(Date.now() - Number(madeAt));
    });
  }
});
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
process.stdin.resume().on("end", () => process.exit());

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
