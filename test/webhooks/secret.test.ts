import { expect, test } from "vitest";
import { newSecret, openSecret, SealedSecretError, sealingKey, sealSecret } from "../../src/webhooks/secret.js";

const KEY = sealingKey("the service's secret");

test("a new secret is whsec_ and the base64 of 24 to 64 bytes, and no two are alike", () => {
  const secrets = Array.from({ length: 100 }, () => newSecret());
  expect(new Set(secrets).size).toBe(100);
  for (const secret of secrets) {
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]+={0,2}$/);
    const bytes = Buffer.from(secret.slice("whsec_".length), "base64").length;
    expect(bytes).toBeGreaterThanOrEqual(24);
    expect(bytes).toBeLessThanOrEqual(64);
  }
});

test("a sealed secret opens with the key it was sealed with", () => {
  const secret = newSecret();
  expect(openSecret(sealSecret(secret, KEY), KEY)).toBe(secret);
  expect(openSecret(sealSecret(secret, KEY), sealingKey("the service's secret"))).toBe(secret);
});

test("sealing twice gives different bytes, none of which show the secret", () => {
  const secret = newSecret();
  const [first, second] = [sealSecret(secret, KEY), sealSecret(secret, KEY)];
  expect(first.equals(second)).toBe(false);
  expect(first.includes(secret)).toBe(false);
});

test("a sealed secret does not open with another SVC_SECRET, and the error names it", () => {
  const sealed = sealSecret(newSecret(), KEY);
  expect(() => openSecret(sealed, sealingKey("another"))).toThrow(SealedSecretError);
  expect(() => openSecret(sealed, sealingKey("another"))).toThrow(/SVC_SECRET/);
});

test("a sealed secret that was changed or cut anywhere does not open", () => {
  const sealed = sealSecret(newSecret(), KEY);
  for (let position = 0; position < sealed.length; position += 1) {
    const changed = Buffer.from(sealed);
    changed[position] = changed[position]! ^ 1;
    expect(() => openSecret(changed, KEY)).toThrow(SealedSecretError);
    expect(() => openSecret(sealed.subarray(0, position), KEY)).toThrow(SealedSecretError);
  }
});
