import { randomBytes } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { signatureProblem } from "../../../src/demo/receive/receiver.js";

const secret = `whsec_${randomBytes(32).toString("base64")}`;
const other = `whsec_${randomBytes(32).toString("base64")}`;
const body = '{"id":"emi_1","type":"customer.trial","data":{"customerId":"käse","n":1.0}}';
const now = Date.UTC(2026, 2, 2, 10);

/** As the reference implementation signs. */
function signed(text: string, at = now, key = secret) {
  const timestamp = Math.floor(at / 1_000);
  return {
    "webhook-id": "emi_1",
    "webhook-timestamp": String(timestamp),
    "webhook-signature": new Webhook(key).sign("emi_1", new Date(timestamp * 1_000), text),
  };
}

const check = (headers: Parameters<typeof signatureProblem>[0], text = body, at = now) =>
  signatureProblem(headers, Buffer.from(text), secret, at);

describe("a webhook's signature", () => {
  test("is accepted as the standardwebhooks package makes it", () => {
    expect(check(signed(body))).toBeNull();
  });

  test("is accepted where one of several fits, as during the rotation of a secret", () => {
    const both = `${signed(body, now, other)["webhook-signature"]} ${signed(body)["webhook-signature"]}`;
    expect(check({ ...signed(body), "webhook-signature": both })).toBeNull();
  });

  test("is refused for a changed body, another secret, another id or another timestamp", () => {
    expect(check(signed(body), `${body} `)).toBe("no signature matches");
    expect(check(signed(body, now, other))).toBe("no signature matches");
    expect(check({ ...signed(body), "webhook-id": "emi_2" })).toBe("no signature matches");
    expect(check({ ...signed(body), "webhook-timestamp": String(now / 1_000 + 1) })).toBe("no signature matches");
  });

  test("is refused under another version, cut short or empty", () => {
    const { "webhook-signature": signature } = signed(body);
    for (const bad of [signature.replace("v1,", "v2,"), signature.slice(0, -6), "v1,", "nonsense"]) {
      expect(check({ ...signed(body), "webhook-signature": bad })).toBe("no signature matches");
    }
  });

  test("is refused more than five minutes before or after the receiver's clock", () => {
    expect(check(signed(body, now - 299_000))).toBeNull();
    expect(check(signed(body, now - 302_000))).toMatch(/five minutes/);
    expect(check(signed(body, now + 302_000))).toMatch(/five minutes/);
  });

  test("is refused where a header is missing or no number", () => {
    expect(check({})).toBe("a webhook header is missing");
    expect(check({ ...signed(body), "webhook-signature": undefined })).toBe("a webhook header is missing");
    expect(check({ ...signed(body), "webhook-timestamp": "soon" })).toMatch(/number of seconds/);
  });
});
