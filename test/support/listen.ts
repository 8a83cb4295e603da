import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";

/** Lets a server of a test listen on a free port of this machine; answers its address. */
export async function listen(server: Server): Promise<string> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
