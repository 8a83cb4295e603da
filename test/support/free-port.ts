import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ephemeral ports: a connection could take one of those before the caller listens on it. */
const FIRST = 10_000;
const LAST = 30_000;
/** The only port between them to which `fetch` refuses to connect. */
const REFUSED = 10_080;

/** A free port of this machine, for programs that cannot choose one by themselves. */
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
