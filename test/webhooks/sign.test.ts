import { Webhook, WebhookVerificationError } from "standardwebhooks";
import { expect, test } from "vitest";
import { newSecret } from "../../src/webhooks/secret.js";
import { sign } from "../../src/webhooks/send.js";

const message = { id: "emi_1", timestamp: Math.floor(Date.now() / 1000), body: '{"name":"Zoë 🎉"}' };

function verify(secret: string, signature: string, body = message.body): unknown {
  return new Webhook(secret).verify(body, {
    "webhook-id": message.id,
    "webhook-timestamp": String(message.timestamp),
    "webhook-signature": signature,
  });
}

test("the signature is the one of Standard Webhooks' own example", () => {
  const example = { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1614265330, body: '{"test": 2432232314}' };
  expect(sign(example, ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"])).toBe(
    "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  );
});

test("a receiver's library verifies it, and refuses another body or secret", () => {
  const secret = newSecret();
  const signature = sign(message, [secret]);
  expect(verify(secret, signature)).toEqual({ name: "Zoë 🎉" });
  expect(() => verify(secret, signature, "{}")).toThrow(WebhookVerificationError);
  expect(() => verify(newSecret(), signature)).toThrow(WebhookVerificationError);
});

test("with two secrets a receiver that knows either one verifies it", () => {
  const secrets = [newSecret(), newSecret()];
  const signature = sign(message, secrets);
  for (const secret of secrets) expect(verify(secret, signature)).toEqual({ name: "Zoë 🎉" });
});
