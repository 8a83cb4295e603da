import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";

/** Lets a test's server listen on a free port of this machine; returns its URL. */
export async function listen(server: Server): Promise<string> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
