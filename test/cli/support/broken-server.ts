import { createServer } from "node:http";

import { type Canned, served } from "./canned-server.js";

/** An answer that can stay incomplete: `cut` breaks the connection after it; `held` leaves it open and is called. */
type Begun = Canned & { cut?: true; held?: () => void };

/**
 * A server that answers reads by `read`, and changes while `changed` returns an answer. After that it never answers a change: it calls
 * `interrupted` if given, and breaks the connection otherwise.
 */
export async function brokenServer({
  read = () => ({ status: 200, body: '{"data":[],"nextCursor":null}' }),
  changed = () => undefined,
  interrupted,
}: {
  read?: (url: string) => Begun;
  changed?: () => Canned | undefined;
  interrupted?: () => void;
} = {}): Promise<{ url: string }> {
  const server = createServer((request, response) => {
    const canned: Begun | undefined = request.method === "GET" ? read(request.url ?? "") : changed();
    if (canned !== undefined) {
      const { status, type = "application/json", body, cut, held } = canned;
      response.writeHead(status, { "content-type": type });
      if (cut) response.write(body, () => request.socket.destroy());
      else if (held) response.write(body, held);
      else response.end(body);
    } else if (interrupted === undefined) request.socket.destroy();
    else interrupted();
  });
  return { url: await served(server) };
}
