import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Webhook } from "standardwebhooks";
import { Receiver, signatureProblem } from "../../src/demo/receiver.js";

const secret = `whsec_${randomBytes(24).toString("base64")}`;

describe("the receiver", () => {
  let receiver: Receiver;
  beforeEach(async () => {
    receiver = await Receiver.start();
    receiver.expectSignaturesBy(secret);
  });
  afterEach(() => receiver.stop());

  async function deliver(id: string, type: string, metadata: object, changed: Record<string, string> = {}) {
    const now = new Date();
    const body = JSON.stringify({ id, type, data: { customerId: "c1", metadata } });
    const headers = {
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(now.getTime() / 1_000)),
      "webhook-signature": new Webhook(secret).sign(id, now, body),
      "svc-event-id": id,
      ...changed,
    };
    return (await fetch(receiver.url, { method: "POST", headers, body })).status;
  }

  test("counts genuine deliveries by type and by customer", async () => {
    expect(await deliver("emi_1", "customer.trial", { previous_lifecycle: "new", new_lifecycle: "trial" })).toBe(204);
    expect(await deliver("emi_2", "segment.entered", { segment: "power_users" })).toBe(204);
    expect(await deliver("emi_3", "segment.entered", { segment: "going_quiet" })).toBe(204);
    expect(receiver.tally.counts()).toEqual([
      { type: "customer.trial", events: 1 },
      { type: "segment.entered", events: 2 },
    ]);
    expect(Object.fromEntries(receiver.tally.customers().get("c1") ?? [])).toEqual({
      "customer.trial trial": 1,
      "segment.entered power_users": 1,
      "segment.entered going_quiet": 1,
    });
    expect(receiver.tally.invalid.size).toBe(0);
  });

  test("counts an emission once, however often it is delivered", async () => {
    for (let delivery = 0; delivery < 3; delivery++) expect(await deliver("emi_1", "customer.trial", {})).toBe(204);
    expect(receiver.tally.events).toBe(1);
    expect(receiver.tally.repeated).toBe(2);
  });

  test("refuses a forged delivery and remembers why", async () => {
    expect(await deliver("emi_1", "customer.trial", {}, { "webhook-signature": "v1,AAAA" })).toBe(401);
    expect([...receiver.tally.invalid]).toEqual([["no signature matches", 1]]);
    expect(receiver.tally.events).toBe(0);
  });

  test("refuses a delivery whose svc-event-id is not the id that was signed, and any before it knows the secret", async () => {
    expect(await deliver("emi_1", "customer.trial", {}, { "svc-event-id": "emi_2" })).toBe(401);
    expect([...receiver.tally.invalid.keys()]).toEqual(["svc-event-id, webhook-id and the body's id differ"]);
    await receiver.stop();
    receiver = await Receiver.start();
    expect(await deliver("emi_1", "customer.trial", {})).toBe(401);
    expect([...receiver.tally.invalid.keys()]).toEqual(["arrived before the secret"]);
  });
});

const other = `whsec_${randomBytes(32).toString("base64")}`;
const body = '{"id":"emi_1","type":"customer.trial","data":{"customerId":"käse","n":1.0}}';
const now = Date.UTC(2026, 2, 2, 10);

/** Signs like the reference implementation. */
function signed(text: string, at = now, key = secret) {
  const timestamp = Math.floor(at / 1_000);
  return {
    "webhook-id": "emi_1",
    "webhook-timestamp": String(timestamp),
    "webhook-signature": new Webhook(key).sign("emi_1", new Date(timestamp * 1_000), text),
  };
}

const check = (headers: Parameters<typeof signatureProblem>[0]) =>
  signatureProblem(headers, Buffer.from(body), secret, now);

test("a webhook's signature is accepted as the standardwebhooks package makes it, alone or among others", () => {
  expect(check(signed(body))).toBeNull();
  // As during the rotation of a secret.
  const both = `${signed(body, now, other)["webhook-signature"]} ${signed(body)["webhook-signature"]}`;
  expect(check({ ...signed(body), "webhook-signature": both })).toBeNull();
  expect(check(signed(body, now - 299_000))).toBeNull();
});

const GENUINE = signed(body)["webhook-signature"];

test.each<[what: string, headers: Parameters<typeof signatureProblem>[0], problem: string | RegExp]>([
  ["another secret", signed(body, now, other), "no signature matches"],
  ["another body", signed(`${body} `), "no signature matches"],
  ["another id", { ...signed(body), "webhook-id": "emi_2" }, "no signature matches"],
  ["another timestamp", { ...signed(body), "webhook-timestamp": String(now / 1_000 + 1) }, "no signature matches"],
  ["another version", { ...signed(body), "webhook-signature": GENUINE.replace("v1,", "v2,") }, "no signature matches"],
  ["a part of a signature", { ...signed(body), "webhook-signature": GENUINE.slice(0, -6) }, "no signature matches"],
  ["an empty signature", { ...signed(body), "webhook-signature": "v1," }, "no signature matches"],
  ["a time more than five minutes ago", signed(body, now - 302_000), /five minutes/],
  ["a time more than five minutes ahead", signed(body, now + 302_000), /five minutes/],
  ["no headers", {}, "a webhook header is missing"],
  ["no signature", { ...signed(body), "webhook-signature": undefined }, "a webhook header is missing"],
  ["a timestamp that is no number", { ...signed(body), "webhook-timestamp": "soon" }, /number of seconds/],
])("a webhook with %s is refused", (_, headers, problem) => {
  expect(check(headers)).toMatch(problem);
});
