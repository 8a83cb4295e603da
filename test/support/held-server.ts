import { createHttpServer } from "../../src/http/server.js";

/** A server that answers each request only when its function in `answers` is called, in the order in which requests are handled. */
export function createHeldServer() {
  const answers: (() => void)[] = [];
  const server = createHttpServer(async (_, response) => {
    await new Promise<void>((resolve) => answers.push(resolve));
    response.end();
  }, undefined);
  return { server, answers };
}
