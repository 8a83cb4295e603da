import { createServer } from "node:http";
import type { Server } from "node:net";
import { onTestFinished } from "vitest";

import { listen } from "../../support/listen.js";

export interface Canned {
  status: number;
  type?: string;
  body: string;
  headers?: Record<string, string>;
}

/** Never answers. */
export const NEVER: Canned = { status: 0, body: "" };

export interface Seen {
  method: string;
  url: string;
  headers: NodeJS.Dict<string | string[]>;
  body: string;
}

/** A real HTTP server that gives every request this answer, or that of the function, and records the requests. It stops with the test. */
export async function cannedServer(
  canned: Canned | ((request: Seen) => Canned),
): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const received = { method: request.method ?? "", url: request.url ?? "", headers: request.headers, body };
      seen.push(received);
      const answer = typeof canned === "function" ? canned(received) : canned;
      if (answer === NEVER) return;
      response.writeHead(answer.status, { "content-type": answer.type ?? "application/json", ...answer.headers });
      response.end(answer.body);
    });
  });
  return { url: await served(server), seen };
}

/** Lets a server listen until the test ends; returns its address. */
export async function served(server: Server & { closeAllConnections(): void }): Promise<string> {
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return listen(server);
}

/** An answer with a JSON body. */
export function json(document: unknown, status = 200): Canned {
  return { status, body: JSON.stringify(document) };
}
