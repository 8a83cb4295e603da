import { afterEach, describe, expect, it } from "vitest";
import { sign } from "../../../src/webhooks/send.js";
import { startReceiver, status, type Receiver } from "../../webhooks/support/receiver.js";
import { asSlack } from "../../webhooks/support/chats.js";
import type { Reply } from "../../support/service.js";
import { INSTANT, invalid, refused, useApi } from "./support/api.js";
import { useWebhooks } from "./support/webhooks.js";

interface Tested {
  id: string;
  latencyMs: number;
  request: { headers: Record<string, string>; body: string };
}

let receiver: Receiver | undefined;
afterEach(() => receiver?.close());
const receive = async (...answer: Parameters<typeof startReceiver>): Promise<Receiver> =>
  (receiver = await startReceiver(...answer));

describe("POST /projects/:project/webhooks/:webhook/test", () => {
  const { api, create, patch, show } = useWebhooks({ allowPrivateWebhooks: true, webhookTestMsMax: 500 });
  const { post, read, audit, entry } = api;

  async function tested(id: string, body: unknown = {}): Promise<Tested> {
    const reply = await post(`/webhooks/${id}/test`, body);
    expect(reply.status).toBe(200);
    return reply.body as Tested;
  }
  /** Creates a webhook whose receiver gives this answer. */
  async function receiving(...answer: Parameters<typeof startReceiver>) {
    const { url, requests } = await receive(...answer);
    return { requests, ...(await create({ url })) };
  }

  it("sends one signed request and returns its answer", async () => {
    const { requests, id, secret } = await receiving((response) => response.writeHead(201).end("thank you"));
    const result = await tested(id);
    expect(result).toMatchObject({ delivered: true, statusCode: 201, error: null, response: "thank you" });
    expect(result.latencyMs).toBeGreaterThanOrEqual(0);
    expect(result.id).toMatch(/^test_[0-9a-f]{20}$/);

    expect(requests).toHaveLength(1);
    const { headers, body, method } = requests[0]!;
    expect([method, body]).toEqual(["POST", result.request.body]);
    expect(headers).toMatchObject({ ...result.request.headers, "webhook-id": result.id, "svc-event-id": result.id });
    const origin = { environment: "test", source: "test", configVersion: null, cause: { type: "test", id: null } };
    const data = { customerId: "customer_test", ...origin, metadata: {}, sequence: 0 };
    expect(JSON.parse(body)).toEqual({ id: result.id, type: "webhook.test", timestamp: INSTANT, data });
    const timestamp = Number(headers["webhook-timestamp"]);
    expect(headers["webhook-signature"]).toBe(sign({ id: result.id, timestamp, body }, [secret]));
    expect(JSON.stringify(result)).not.toContain(secret.slice("whsec_".length));
    // Only the audit log keeps it.
    const details = { id: result.id, type: "webhook.test" };
    expect((await audit("webhook"))[1]).toEqual(entry("webhook.tested", id, details));
    expect(await read(`/webhooks/${id}/deliveries`)).toMatchObject({ data: [] });
  });

  it("sends the requested type, whatever the webhook's types, also to a disabled webhook, which stays disabled", async () => {
    const { url, requests } = await receive();
    const { id } = await create({ url, eventTypes: ["customer.*"] });
    await patch(id, { disabled: true });
    expect(await tested(id, { type: "segment.entered" })).toMatchObject({ delivered: true });
    expect(JSON.parse(requests[0]!.body)).toMatchObject({ type: "segment.entered" });
    expect(await show(id)).toMatchObject({ disabledReason: "Disabled by owner@acme.example." });
  });

  it("sends a body that the format slack accepts", async () => {
    const { url, requests } = await receive(asSlack);
    const { id } = await create({ url, format: "slack" });
    expect(await tested(id)).toMatchObject({ delivered: true, response: "ok" });
    expect(requests[0]!.body).toContain(`A test of this webhook (webhook.test), from test of ${api.slug}`);
  });

  it("is signed by both secrets during a rotation", async () => {
    const { id, secret: old } = await receiving();
    const { secret } = (await post(`/webhooks/${id}/rotate-secret`)).body as { secret: string };
    const { id: testId, request } = await tested(id);
    const timestamp = Number(request.headers["webhook-timestamp"]);
    const signature = sign({ id: testId, timestamp, body: request.body }, [secret, old]);
    expect(request.headers["webhook-signature"]).toBe(signature);
  });

  it.each<[string, Parameters<typeof startReceiver>[0], object]>([
    // A test has no consequences: a delivery answered 410 would disable the webhook.
    ["a refusal, without a retry", status(410), { statusCode: 410, error: null }],
    ["no answer", () => undefined, { statusCode: null, response: null, error: "no answer within 0.5 seconds" }],
  ])("reports %s", async (_what, answer, expected) => {
    const { id, requests } = await receiving(answer);
    expect(await tested(id)).toMatchObject({ delivered: false, ...expected });
    expect(requests).toHaveLength(1);
    expect(await show(id)).toMatchObject({ disabledAt: null, failingSince: null, pending: 0 });
  });

  it("reports a secret that cannot be opened, and sends nothing", async () => {
    const { id, requests } = await receiving();
    await api.sql`update svc.webhooks set sealed_secret = '\\x01' where webhook_id = ${id}`;
    const error = "the stored webhook secret has an unknown format";
    expect(await tested(id)).toMatchObject({ delivered: false, error, request: { headers: {} } });
    expect(requests).toHaveLength(0);
  });

  it("refuses an invalid type", async () => {
    const { id } = await create();
    for (const type of ["", "customer.*", "a\nb", "a".repeat(257), 7])
      expect(await post(`/webhooks/${id}/test`, { type })).toMatchObject(invalid("type"));
  });
});

describe("many tests", () => {
  // The receiver's timeout is that of production, so that requests wait until the test answers them.
  const api = useApi("one", {}, { allowPrivateWebhooks: true });
  let organizations = 0;

  /** Creates a webhook of a new organization, and returns a function that tests it. */
  async function another(url: string): Promise<() => Promise<Reply>> {
    const by = await api.stranger(`other${organizations++}`);
    const { body } = await api.post("/webhooks", { url, eventTypes: ["*"] }, by);
    return () => api.post(`/webhooks/${(body as { id: string }).id}/test`, {}, by);
  }

  /** Requests `count` tests, four per organization. */
  async function askMany(url: string, count: number): Promise<Promise<Reply>[]> {
    const asks: (() => Promise<Reply>)[] = [];
    while (asks.length < count) asks.push(...Array<() => Promise<Reply>>(4).fill(await another(url)));
    return asks.slice(0, count).map((ask) => ask());
  }

  const statusesOf = async (replies: Promise<Reply>[]) => (await Promise.all(replies)).map((reply) => reply.status);
  const recorded = async () => (await api.sql`select from iam.audit_log where action = 'webhook.tested'`).length;

  it("runs sixteen at once and the next after an answer, and refuses those beyond the queue, unrecorded", async () => {
    const open: (() => void)[] = [];
    let isFull = false;
    const target = await receive((response) => {
      const answer = () => response.writeHead(204).end();
      if (isFull) answer();
      else open.push(answer);
    });
    const before = await recorded();
    const replies = await askMany(target.url, 40);
    const rejected: Reply[] = [];
    for (const reply of replies) void reply.then((one) => one.status === 503 && rejected.push(one));
    await target.received(16);
    // Before the waiting ones time out.
    await expect.poll(() => rejected.length, { timeout: 8_000 }).toBe(4);
    expect(open).toHaveLength(16);
    isFull = true;
    open.shift()!();
    await target.received(17);
    for (const answer of open) answer();
    expect((await statusesOf(replies)).filter((one) => one === 200)).toHaveLength(36);
    const reason = "Too many webhooks are being tested.";
    for (const reply of rejected) expect(reply).toMatchObject(refused(503, "SERVICE_UNAVAILABLE", { reason }));
    expect((await recorded()) - before).toBe(36);
  });

  it("refuses the fifth of one organization, and runs those of others meanwhile", async () => {
    const open: (() => void)[] = [];
    const target = await receive((response, { path }) => {
      if (path === "/quick") response.writeHead(204).end();
      else open.push(() => response.writeHead(204).end());
    });
    const [ask, other] = [await another(target.url), await another(new URL("/quick", target.url).href)];
    const replies = Array.from({ length: 4 }, ask);
    await target.received(4);
    const reason = "Too many webhooks of this organization are being tested.";
    expect(await ask()).toMatchObject(refused(503, "SERVICE_UNAVAILABLE", { reason }));
    expect(await other()).toMatchObject({ status: 200, body: { delivered: true } });
    open.shift()!();
    await Promise.race(replies);
    const next = ask();
    await target.received(6);
    for (const answer of open) answer();
    expect(await statusesOf([...replies, next])).toEqual(Array(5).fill(200));
  });
});

describe("without private addresses", () => {
  const { api, create } = useWebhooks();

  it("does not connect to a private address behind a name", async () => {
    const { url, requests } = await receive();
    const { id } = await create();
    // As if the name had been public when the webhook was created.
    await api.sql`
      update svc.webhooks set url = ${url.replace("127.0.0.1", "localhost")} where webhook_id = ${id}`;
    const body = { delivered: false, statusCode: null, error: "no public address was found for localhost" };
    expect(await api.post(`/webhooks/${id}/test`)).toMatchObject({ body });
    expect(requests).toHaveLength(0);
  });
});
