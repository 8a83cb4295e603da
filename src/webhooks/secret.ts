import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

/** As Standard Webhooks 1.0 writes a secret for symmetric signatures. */
export const SECRET_PREFIX = "whsec_";

/** Standard Webhooks asks for 24 to 64 random bytes; 24 make a text without padding. */
const SECRET_BYTES = 24;

/** Bound into the key, so that SVC_SECRET can serve other purposes without one key ever serving two. */
const KEY_PURPOSE = "svc webhook secrets";
const ALGORITHM = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** First byte of every sealed secret, so that another format can follow. */
const FORMAT = 1;
const HEADER_BYTES = 1 + NONCE_BYTES + TAG_BYTES;

/** A sealed secret that does not open: made with another SVC_SECRET, or damaged. */
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

/** As many opened secrets are remembered: each is used for every delivery of its webhook. */
const REMEMBERED = 1_000;

/** Opens secrets that were sealed with this key, and remembers the latest of them. */
export function secretOpener(key: Buffer): OpenSecret {
  const opened = new Map<string, string>();
  return (sealed) => {
    const name = Buffer.from(sealed).toString("latin1");
    const known = opened.get(name);
    if (known !== undefined) return known;
    const secret = openSecret(sealed, key);
    if (opened.size >= REMEMBERED) opened.clear();
    opened.set(name, secret);
    return secret;
  };
}

/** Decrypts what `sealSecret` made. Throws SealedSecretError if it was made with another key or is not intact. */
export function openSecret(sealed: Uint8Array, key: Buffer): string {
  if (sealed[0] !== FORMAT || sealed.length <= HEADER_BYTES) {
    throw new SealedSecretError("the stored webhook secret is in no known format");
  }
  const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(1, 1 + NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAuthTag(sealed.subarray(1 + NONCE_BYTES, HEADER_BYTES));
  try {
    return decipher.update(sealed.subarray(HEADER_BYTES), undefined, "utf8") + decipher.final("utf8");
  } catch (error) {
    throw new SealedSecretError(
      "the stored webhook secret does not open; SVC_SECRET must be the one it was stored with",
      { cause: error },
    );
  }
}
