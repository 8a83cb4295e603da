import { expect, onTestFinished, test } from "vitest";
import { createAgent } from "../../src/webhooks/agent.js";
import { newSecret, openSecret, SealedSecretError, sealingKey, sealSecret } from "../../src/webhooks/secret.js";
import { describeError, retryAfterSeconds, sendMessage, sign } from "../../src/webhooks/send.js";
import { startReceiver, status } from "./support/receiver.js";

// deliver.test.ts checks that receivers' libraries verify signatures.

test("the signature is the one of Standard Webhooks' own example", () => {
  const example = { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1614265330, body: '{"test": 2432232314}' };
  expect(sign(example, ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"])).toBe(
    "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  );
});

const NOW = Date.parse("2026-03-02T10:00:00.000Z");

test.each([
  ["120", 120],
  [" 0 ", 0],
  ["Mon, 02 Mar 2026 10:01:30 GMT", 90],
  ["Monday, 02-Mar-26 10:01:30 GMT", 90],
  ["Mon, 02 Mar 2026 09:00:00 GMT", 0],
  ["-5", null],
  ["1.5", null],
  ["soon", null],
  ["2026-03-02T10:01:30Z", null],
  ["9".repeat(400), Number.MAX_SAFE_INTEGER],
  ["", null],
  [undefined, null],
])("Retry-After %j asks for %j seconds", (header, seconds) => {
  expect(retryAfterSeconds(header, NOW)).toBe(seconds);
});

test("the date of Retry-After is compared with the clock by which the message is signed, whatever the machine's says", async () => {
  const receiver = await startReceiver(status(503, { "retry-after": "Mon, 02 Mar 2026 10:02:00 GMT" }));
  const agent = createAgent({ allowPrivate: true });
  onTestFinished(async () => {
    await agent.destroy();
    await receiver.close();
  });
  const message = {
    url: receiver.url,
    id: "emi_1",
    body: "{}",
    sealedSecret: Buffer.from(""),
    previousSealedSecret: null,
  };
  const options = { agent, timeoutMs: 10_000, openSecret: () => newSecret() };
  const { outcome } = await sendMessage(message, new Date(NOW), options);
  expect(outcome.retryAfterSeconds).toBeGreaterThan(100);
  expect(outcome.retryAfterSeconds).toBeLessThanOrEqual(120);
});

test.each([
  ["a pair cut in two by the limit", `${"a".repeat(999)}\u{1F600}`, `${"a".repeat(999)}\uFFFD`],
  ["a lone surrogate", "a\uDE00b", "a\uFFFDb"],
  ["U+0000", "a\u0000b", "a\uFFFDb"],
  ["whole pairs", "a\u{1F600}b", "a\u{1F600}b"],
])("the error of a failed request is made storable: %s", (_what, message, stored) => {
  expect(describeError(new Error(message))).toBe(stored);
});

const KEY = sealingKey("the service's secret");

test("a new secret is whsec_ and the base64 of 24 to 64 bytes, and no two are alike", () => {
  const secrets = Array.from({ length: 100 }, () => newSecret());
  expect(new Set(secrets).size).toBe(100);
  for (const secret of secrets) {
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]+={0,2}$/);
    expect(Buffer.from(secret.slice("whsec_".length), "base64").length).toSatisfy((n: number) => n >= 24 && n <= 64);
  }
});

test("a sealed secret opens only with the SVC_SECRET it was sealed with, and does not contain it", () => {
  const secret = newSecret();
  const [first, second] = [sealSecret(secret, KEY), sealSecret(secret, KEY)];
  for (const sealed of [first, second]) expect(openSecret(sealed, sealingKey("the service's secret"))).toBe(secret);
  expect(first.equals(second)).toBe(false);
  expect(first.includes(secret)).toBe(false);
  expect(() => openSecret(first, sealingKey("another"))).toThrow(SealedSecretError);
  expect(() => openSecret(first, sealingKey("another"))).toThrow(/SVC_SECRET/);
});

test("a sealed secret that was changed or truncated does not open", () => {
  const sealed = sealSecret(newSecret(), KEY);
  for (let position = 0; position < sealed.length; position += 1) {
    const changed = Buffer.from(sealed);
    changed[position] = changed[position]! ^ 1;
    expect(() => openSecret(changed, KEY)).toThrow(SealedSecretError);
    expect(() => openSecret(sealed.subarray(0, position), KEY)).toThrow(SealedSecretError);
  }
});
