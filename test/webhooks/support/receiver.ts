import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ReceivedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** Of the connection it came by. */
  remotePort: number;
}

/** How a receiver answers the nth request (from 0). It may leave it unanswered. */
export type Answer = (response: ServerResponse, request: ReceivedRequest, index: number) => void;

/** A webhook endpoint that keeps what it receives. */
export interface Receiver {
  url: string;
  requests: ReceivedRequest[];
  /** Resolves once `count` requests have come. */
  received(count: number): Promise<void>;
  close(): Promise<void>;
}

/** Answers with this status and nothing else. */
export function status(code: number, headers: Record<string, string> = {}): Answer {
  return (response) => response.writeHead(code, headers).end();
}

/** Answers the nth request with the nth status, and every later one with the last. */
export function statuses(...codes: number[]): Answer {
  return (response, _request, index) => response.writeHead(codes[Math.min(index, codes.length - 1)]!).end();
}

export async function startReceiver(answer: Answer = status(204)): Promise<Receiver> {
  const requests: ReceivedRequest[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      const { method = "", url = "", headers } = request;
      const received = { method, path: url, headers, body, remotePort: request.socket.remotePort ?? 0 };
      requests.push(received);
      answer(response, received, requests.length - 1);
      for (const { count, resolve } of waiting) if (requests.length >= count) resolve();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    requests,
    received: (count) =>
      requests.length >= count ? Promise.resolve() : new Promise((resolve) => waiting.push({ count, resolve })),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
