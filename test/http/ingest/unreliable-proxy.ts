import { connect, createServer, type Socket } from "node:net";
import { listen } from "../../support/listen.js";

/**
 * What becomes of a request, said in its header X-Fate: "pass" it on; "loseAnswer" once the service has answered; "loseClient" once the whole request went through,
 * while the service may still be at work; "loseRequest" in the middle of its body.
 */
export type Fate = "pass" | "loseAnswer" | "loseClient" | "loseRequest";

export interface UnreliableProxy {
  url: string;
  stop(): Promise<void>;
}

/** A network between client and service that breaks where it is told to. One request a connection. */
export async function startProxy(target: string): Promise<UnreliableProxy> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const service = connect(Number(port), hostname);
    for (const socket of [client, service]) {
      open.add(socket);
      socket.on("error", () => undefined).on("close", () => open.delete(socket));
    }
    carry(client, service);
  });
  return {
    url: await listen(server),
    stop: () => {
      for (const socket of open) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function carry(client: Socket, service: Socket): void {
  let fate: Fate = "pass";
  let request = Buffer.alloc(0);
  client.on("data", (chunk: Buffer) => {
    request = Buffer.concat([request, chunk]);
    const missing = missingBytes(request);
    fate = (/^x-fate: *(\w+)/im.exec(request.toString("latin1"))?.[1] ?? "pass") as Fate;
    if (fate === "loseRequest" && missing !== null) {
      service.write(chunk.subarray(0, Math.max(0, chunk.length - 5)), () => service.destroy());
      client.destroy();
      return;
    }
    service.write(chunk);
    if (fate === "loseClient" && missing === 0) client.destroy();
  });
  client.on("end", () => service.end());
  service.on("data", (chunk: Buffer) => {
    if (fate === "loseAnswer") client.destroy();
    else if (!client.destroyed) client.write(chunk);
  });
  service.on("end", () => client.end());
}

/** Bytes of the body that have not come yet; null while the headers have not. */
function missingBytes(request: Buffer): number | null {
  const headersEnd = request.indexOf("\r\n\r\n");
  if (headersEnd < 0) return null;
  const length = Number(/^content-length: *(\d+)/im.exec(request.toString("latin1", 0, headersEnd))?.[1] ?? 0);
  return headersEnd + 4 + length - request.length;
}
