import { createServer } from "node:http";

import { type Canned, served } from "./canned-server.js";

/** An answer that may not come to its end: the connection breaks after it, or it is held open and this is called. */
type Begun = Canned & { cut?: true; held?: () => void };

/**
 * A server that answers reads by `read`, and changes as long as `changed` has an answer. Otherwise it never does: where `interrupted` is
 * given that is called once the change is under way, else the connection breaks.
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
      const { status, body, cut, held } = canned;
      response.writeHead(status, { "content-type": "application/json" });
      if (cut) response.write(body, () => request.socket.destroy());
      else if (held) response.write(body, held);
      else response.end(body);
    } else if (interrupted === undefined) request.socket.destroy();
    else interrupted();
  });
  return { url: await served(server) };
}
