import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { listen } from "../../support/listen.js";

/** Handles one batch: `pass` forwards it and resolves with the answer; `reply` answers the sender. */
export type Keeper = (
  number: number,
  pass: () => Promise<Answer>,
  reply: (answer: Answer) => Promise<void>,
) => Promise<void>;

export interface Answer {
  status: number;
  headers?: Record<string, string>;
  body: string;
}

export interface Gate {
  url: string;
  /** The number of batches so far. */
  batches: () => number;
  close: () => void;
}

/** A proxy that lets a test act at an exact point of a request. If the keeper fails, the connection breaks. Requests other than batches pass. */
export async function openGate(serviceUrl: string, keeper: Keeper): Promise<Gate> {
  let batches = 0;
  const server = createServer((request, response) => {
    const pass = async (): Promise<Answer> => {
      const passed = ["authorization", "content-type", "x-svc-organization"];
      const headers = new Headers();
      for (const name of passed) if (name in request.headers) headers.set(name, String(request.headers[name]));
      const body = request.method === "GET" ? null : await buffer(request);
      const answer = await fetch(serviceUrl + request.url!, { method: request.method!, headers, body });
      return { status: answer.status, body: await answer.text() };
    };
    const reply = ({ status, headers, body }: Answer) =>
      new Promise<void>((resolve) => response.writeHead(status, headers).end(body, () => resolve()));
    const isBatch = request.url === "/v1/events/batch";
    if (isBatch) batches++;
    const handled = isBatch ? keeper(batches, pass, reply) : pass().then(reply);
    handled.catch(() => request.socket.destroy());
  });
  return {
    url: await listen(server),
    batches: () => batches,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
