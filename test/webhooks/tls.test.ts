import { createServer as createPlainServer, type Server } from "node:net";
import { createServer } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import { createAgent } from "../../src/webhooks/agent.js";
import { newSecret } from "../../src/webhooks/secret.js";
import { sendMessage } from "../../src/webhooks/send.js";
import { listen } from "../support/listen.js";

/** The error of a message that is sent to a server by https. */
async function errorOf(server: Server): Promise<string | null> {
  const agent = createAgent({ allowPrivate: true });
  onTestFinished(async () => {
    await agent.destroy();
    server.close();
  });
  const url = (await listen(server)).replace("http:", "https:");
  const message = { url, id: "emi_1", body: "{}", sealedSecret: Buffer.from(""), previousSealedSecret: null };
  const options = { agent, timeoutMs: 10_000, openSecret: () => newSecret() };
  const { outcome } = await sendMessage(message, new Date(), options);
  return outcome.error;
}

test("an error says that a receiver refuses the connection by TLS, the same at each attempt", async () => {
  // Without a certificate it has no cipher in common with anybody.
  expect(await errorOf(createServer())).toMatch(
    // Newer OpenSSL calls the version otherwise.
    /^the TLS connection failed: ssl(v3|\/tls) alert handshake failure \(ERR_SSL_SSL(V3|\/TLS)_ALERT_HANDSHAKE_FAILURE\)$/,
  );
});

test("an error says that a receiver does not answer with TLS", async () => {
  const server = createPlainServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
  });
  expect(await errorOf(server)).toBe(
    "the receiver does not answer with TLS: wrong version number (ERR_SSL_WRONG_VERSION_NUMBER)",
  );
});
