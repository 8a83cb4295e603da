import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

/** The prefix of secrets for symmetric signatures in Standard Webhooks 1.0. */
export const SECRET_PREFIX = "whsec_";

/** Standard Webhooks requires 24 to 64 random bytes; 24 need no padding in base64. */
const SECRET_BYTES = 24;

/** Included in the derivation of the key, so that keys for other purposes can be derived from SVC_SECRET. */
const KEY_PURPOSE = "svc webhook secrets";
const ALGORITHM = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** First byte of every sealed secret, so that another format can follow. */
const FORMAT = 1;
const HEADER_BYTES = 1 + NONCE_BYTES + TAG_BYTES;

/** A sealed secret cannot be decrypted: it was sealed with another SVC_SECRET, or is damaged. */
export class SealedSecretError extends Error {
  override name = "SealedSecretError";
}

/** A new signing secret, for example `whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw`. */
export function newSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString("base64");
}

/** The key that seals webhook secrets, derived from the service's SVC_SECRET. Derive it once. */
export function sealingKey(serviceSecret: string): Buffer {
  return Buffer.from(hkdfSync("sha256", serviceSecret, "", KEY_PURPOSE, KEY_BYTES));
}

/** Encrypts a signing secret for storage: format byte, nonce, authentication tag, ciphertext. */
export function sealSecret(secret: string, key: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  const ciphertext = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
  return Buffer.concat([Buffer.of(FORMAT), nonce, cipher.getAuthTag(), ciphertext]);
}

/** Opens sealed secrets. Throws SealedSecretError. */
export type OpenSecret = (sealed: Uint8Array) => string;

/** The most opened secrets in the cache: a secret is used for every delivery of its webhook. */
const CACHED_MAX = 1_000;

/** Returns a function that opens secrets sealed with this key, and caches the latest of them. */
export function secretOpener(key: Buffer): OpenSecret {
  const opened = new Map<string, string>();
  return (sealed) => {
    const name = Buffer.from(sealed).toString("latin1");
    const cached = opened.get(name);
    if (cached !== undefined) return cached;
    const secret = openSecret(sealed, key);
    if (opened.size >= CACHED_MAX) opened.clear();
    opened.set(name, secret);
    return secret;
  };
}

/** Decrypts the result of `sealSecret`. Throws SealedSecretError if it was sealed with another key or is damaged. */
export function openSecret(sealed: Uint8Array, key: Buffer): string {
  if (sealed[0] !== FORMAT || sealed.length <= HEADER_BYTES) {
    throw new SealedSecretError("the stored webhook secret has an unknown format");
  }
  const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(1, 1 + NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAuthTag(sealed.subarray(1 + NONCE_BYTES, HEADER_BYTES));
  try {
    return decipher.update(sealed.subarray(HEADER_BYTES), undefined, "utf8") + decipher.final("utf8");
  } catch (error) {
    throw new SealedSecretError(
      "the stored webhook secret cannot be decrypted; SVC_SECRET must be the one it was stored with",
      { cause: error },
    );
  }
}
