import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** What a gate does with one batch: `pass` sends it on, and resolves with what was answered; `reply` answers the sender. */
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
  /** How many batches came so far. */
  batches: () => number;
  close: () => void;
}

/** Stands between a sender and a service, so that something can happen at an exact point of a request. Where the keeper fails, the connection breaks. Other requests than batches pass. */
export async function openGate(serviceUrl: string, keeper: Keeper): Promise<Gate> {
  let batches = 0;
  const server = createServer((request, response) => {
    const pass = async (): Promise<Answer> => {
      const { authorization = "", "content-type": type = "application/json" } = request.headers;
      const organization = request.headers["x-svc-organization"];
      const headers = {
        authorization,
        "content-type": type,
        ...(typeof organization === "string" && { "x-svc-organization": organization }),
      };
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
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    batches: () => batches,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
