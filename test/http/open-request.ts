import { once } from "node:events";
import { request, type IncomingMessage, type RequestOptions } from "node:http";

/** Sends requests that `fetch` would normalise or refuse: any target, any header, a body in chunks without a declared length. */
export async function openRequest(
  url: string,
  options: RequestOptions,
  ...body: (string | Buffer)[]
): Promise<IncomingMessage> {
  const outgoing = request(url, options);
  for (const piece of body) outgoing.write(piece);
  outgoing.end();
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  return response;
}
