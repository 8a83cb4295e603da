/** Verifies a webhook as its receiver must: Standard Webhooks 1.0, https://www.standardwebhooks.com. */
import { createHmac, timingSafeEqual } from "node:crypto";

/** How far the sender's clock may be from ours. Older messages may be replays. */
const TOLERANCE_SECONDS = 5 * 60;

export interface WebhookHeaders {
  "webhook-id"?: string | undefined;
  "webhook-timestamp"?: string | undefined;
  "webhook-signature"?: string | undefined;
}

/**
 * Null for a genuine message, otherwise what is wrong with it. The signature is HMAC-SHA256, keyed with the bytes behind
 * `whsec_`, over `id.timestamp.body`; the header may hold several, one of which must match.
 *
 * @param body the bytes as they came, before any parsing
 * @param now the receiver's clock, in milliseconds
 */
export function signatureProblem(headers: WebhookHeaders, body: Buffer, secret: string, now: number): string | null {
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures } = headers;
  if (!id || !timestamp || !signatures) return "a webhook header is missing";
  if (!/^\d{1,12}$/.test(timestamp)) return "webhook-timestamp is no number of seconds";
  if (Math.abs(now / 1_000 - Number(timestamp)) > TOLERANCE_SECONDS)
    return "webhook-timestamp is more than five minutes off";
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
  const genuine = signatures.split(" ").some((entry) => {
    if (!entry.startsWith("v1,")) return false;
    const given = Buffer.from(entry.slice("v1,".length), "base64");
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
  return genuine ? null : "no signature matches";
}
