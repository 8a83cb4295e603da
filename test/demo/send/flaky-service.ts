import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** How the service behaves at one request. `lose` keeps the batch and breaks the connection before the answer. */
export type Behaviour =
  | { kind: "accept" }
  | { kind: "reset" }
  | { kind: "lose" }
  | { kind: "answer"; status: number; headers?: Record<string, string>; body?: string };

export interface FlakyService {
  url: string;
  /** The operations that were accepted, in order, an idempotency key once. */
  stored: { customerId: string; key: string }[];
  /** The number of requests that came, and the largest number that were under way at once. */
  requests: number;
  batches: number[];
  stop: () => Promise<void>;
  /** Closes the port for a while, as a service does that was killed. */
  vanish: () => Promise<void>;
  reappear: () => Promise<void>;
}

/** An HTTP service with the contract of the batch endpoint, that behaves at each request as `behave` says. */
export async function startFlakyService(behave: (request: number) => Behaviour): Promise<FlakyService> {
  const keys = new Set<string>();
  const service = { stored: [], requests: 0, batches: [] } as unknown as FlakyService;

  async function answer(request: IncomingMessage, response: ServerResponse) {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { events } = JSON.parse(Buffer.concat(chunks).toString()) as {
      events: { type: string; customerId: string; idempotencyKey?: string }[];
    };
    const behaviour = behave(++service.requests);
    if (behaviour.kind === "reset") return void request.socket.destroy();
    if (behaviour.kind === "answer") {
      return void response.writeHead(behaviour.status, behaviour.headers).end(behaviour.body ?? "");
    }
    service.batches.push(events.length);
    for (const { customerId, idempotencyKey: key } of events) {
      if (key === undefined || keys.has(key)) continue;
      keys.add(key);
      service.stored.push({ customerId, key });
    }
    if (behaviour.kind === "lose") return void request.socket.destroy();
    const eventIds = events.filter(({ type }) => type === "track").map(({ idempotencyKey }) => `evt_${idempotencyKey}`);
    response.writeHead(202).end(JSON.stringify({ accepted: events.length, rejected: 0, eventIds }));
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  let port = 0;
  const listen = () => new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  await listen();
  port = (server.address() as AddressInfo).port;
  return Object.assign(service, { url: `http://127.0.0.1:${port}`, stop: close, vanish: close, reappear: listen });
}
