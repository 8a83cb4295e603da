import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";
import { listen } from "../../support/listen.js";

export interface ReceivedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** The client's port of the connection. */
  remotePort: number;
}

/** Answers the nth request (from 0), or leaves it unanswered. */
export type Answer = (response: ServerResponse, request: ReceivedRequest, index: number) => void;

/** A webhook endpoint that stores the requests it receives. */
export interface Receiver {
  url: string;
  requests: ReceivedRequest[];
  /** Resolves once `count` requests have arrived. */
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
    void text(request).then((body) => {
      const { method = "", url = "", headers } = request;
      const received = { method, path: url, headers, body, remotePort: request.socket.remotePort ?? 0 };
      requests.push(received);
      answer(response, received, requests.length - 1);
      for (const { count, resolve } of waiting) if (requests.length >= count) resolve();
    });
  });
  return {
    url: `${await listen(server)}/hooks`,
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

/** The customers of the requests that are signed with this secret, and so belong to its webhook. */
export function customersTold({ requests }: Receiver, secret: string): string[] {
  const webhook = new Webhook(secret);
  return requests.flatMap(({ headers, body }) => {
    try {
      const event = webhook.verify(body, headers as Record<string, string>) as { data: { customerId: string } };
      return [event.data.customerId];
    } catch {
      return [];
    }
  });
}
