import { createHmac } from "node:crypto";
import { SECRET_PREFIX } from "./secret.js";

export interface SignedMessage {
  /** `webhook-id`. Must not contain a dot, which separates the parts of what is signed. */
  id: string;
  /** `webhook-timestamp`: the instant of this sending, in whole seconds since 1970. */
  timestamp: number;
  /** The body, byte for byte as it is sent. */
  body: string;
}

/**
 * The `webhook-signature` of Standard Webhooks 1.0: `v1,` and the base64 of HMAC-SHA256 over `<id>.<timestamp>.<body>`, once per
 * secret, separated by spaces. Receivers accept a message if any signature fits, which is how secrets are rotated.
 *
 * @param secrets each `whsec_` and base64.
 */
export function sign(message: SignedMessage, secrets: readonly string[]): string {
  const signed = `${message.id}.${message.timestamp}.${message.body}`;
  return secrets
    .map((secret) => `v1,${createHmac("sha256", secretBytes(secret)).update(signed).digest("base64")}`)
    .join(" ");
}

function secretBytes(secret: string): Buffer {
  return Buffer.from(secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret, "base64");
}
