import * as standardwebhooks from "standardwebhooks";
import * as svix from "svix";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { startDeliverer } from "../../src/tasks/deliver/deliver.js";
import { createDatabase } from "../support/database.js";
import {
  clearWebhooks,
  createEnvironment,
  createWebhook,
  emit,
  rotateSecret,
  SERVICE_SECRET,
  type TestWebhook,
} from "./support/fixtures.js";
import { startReceiver, type ReceivedRequest, type Receiver } from "./support/receiver.js";
import { runLog } from "../support/run-log.js";

let receiver: Receiver;
let environment: number;
let webhook: TestWebhook;

const db = await createDatabase();
const { sql } = db;
beforeEach(async () => {
  receiver = await startReceiver();
  environment = await createEnvironment(sql);
  webhook = await createWebhook(sql, environment, receiver.url);
});
afterEach(async () => {
  await receiver.close();
  await clearWebhooks(sql);
});
afterAll(() => db.drop());

/** What a receiver is sent of one emission, by the deliverer of a worker. */
async function delivered(): Promise<ReceivedRequest> {
  const before = receiver.requests.length;
  const logger = runLog();
  const pump = startDeliverer({ sql, secret: SERVICE_SECRET, allowPrivate: true, logger });
  await emit(sql, environment, [
    { metadata: '{"name": "Zoë 🎉", "total": 12345678901234567890, "path": "a/b\\u2028<"}' },
  ]);
  await pump.idle();
  await pump.stop();
  expect(receiver.requests).toHaveLength(before + 1);
  return receiver.requests.at(-1)!;
}

describe.each([
  ["standardwebhooks", standardwebhooks.Webhook],
  ["svix", svix.Webhook],
])("the library %s", (_, Webhook) => {
  /** As its documentation says, with the headers and the body as they came. */
  const verify = (secret: string, { body, headers }: Pick<ReceivedRequest, "body" | "headers">): unknown =>
    new Webhook(secret).verify(body, headers as Record<string, string>);

  it("verifies a delivery as it comes, and reads the event", async () => {
    const request = await delivered();
    expect(verify(webhook.secret, request)).toEqual(JSON.parse(request.body));
    expect(verify(webhook.secret, request)).toMatchObject({
      id: request.headers["svc-event-id"],
      data: { metadata: { name: "Zoë 🎉" } },
    });
  });

  it("verifies during a rotation with the new secret alone, and with the old one alone", async () => {
    const secret = await rotateSecret(sql, webhook.webhookId);
    const request = await delivered();
    expect(request.headers["webhook-signature"]).toMatch(/^v1,\S+ v1,\S+$/);
    expect(verify(secret, request)).toEqual(JSON.parse(request.body));
    expect(verify(webhook.secret, request)).toEqual(JSON.parse(request.body));
  });

  it("refuses the old secret once the rotation is over", async () => {
    const secret = await rotateSecret(sql, webhook.webhookId, "-1 second");
    const request = await delivered();
    expect(verify(secret, request)).toEqual(JSON.parse(request.body));
    expect(() => verify(webhook.secret, request)).toThrow("No matching signature found");
  });

  it("refuses a changed body, id or time, another secret, and an old delivery", async () => {
    await rotateSecret(sql, webhook.webhookId);
    const request = await delivered();
    const { body, headers } = request;
    const { secret } = webhook;
    const changed = (header: string, value: string) => ({ body, headers: { ...headers, [header]: value } });
    const sentAt = Number(headers["webhook-timestamp"]);
    const none = "No matching signature found";
    expect(() => verify(secret, { headers, body: body.replace("customer_1", "customer_2") })).toThrow(none);
    expect(() => verify(secret, { headers, body: `${body}\n` })).toThrow(none);
    expect(() => verify(secret, changed("webhook-id", "emi_0000000000000001"))).toThrow(none);
    expect(() => verify(secret, changed("webhook-timestamp", String(sentAt + 1)))).toThrow(none);
    expect(() => verify(secret, changed("webhook-timestamp", String(sentAt - 600)))).toThrow("too old");
    expect(() => verify("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", request)).toThrow(none);
  });
});
