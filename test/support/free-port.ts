import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ports that systems give to connections: one of those could take a free port before whoever asked for it listens there. */
const FIRST = 10_000;
const LAST = 30_000;
/** The one between them that fetch refuses to call. */
const REFUSED = 10_080;

/** A port of this machine that nobody listens on, for what cannot choose one by itself. */
export async function freePort(): Promise<number> {
  while (true) {
    const port = randomInt(FIRST, LAST);
    if (port === REFUSED) continue;
    const server = createServer();
    const isFree = once(server, "listening").then(
      () => true,
      (error: unknown) => {
        if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") return false;
        throw error;
      },
    );
    server.listen(port, "127.0.0.1");
    if (!(await isFree)) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}
