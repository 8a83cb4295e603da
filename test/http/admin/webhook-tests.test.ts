import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sign } from "../../../src/webhooks/send.js";
import { startReceiver, status, type Receiver } from "../../webhooks/support/receiver.js";
import type { Reply } from "../../support/service.js";
import { startWebhooks, type WebhookFixture } from "./support/webhooks.js";

interface Tested {
  id: string;
  delivered: boolean;
  statusCode: number | null;
  latencyMs: number;
  error: string | null;
  response: string | null;
  request: { headers: Record<string, string>; body: string };
}

let fixture: WebhookFixture;
let receiver: Receiver | undefined;
beforeAll(async () => {
  fixture = await startWebhooks({ allowPrivateWebhooks: true, webhookTestMsMax: 500 });
});
beforeEach(() => fixture.begin());
afterEach(() => receiver?.close());
afterAll(() => fixture.stop());

const sql = () => fixture.service.db.sql;
const ask = (id: string, body: unknown = {}, query = "") =>
  fixture.request("POST", `/webhooks/${id}/test${query}`, body);
async function tested(id: string, body: unknown = {}): Promise<Tested> {
  const reply = await ask(id, body);
  expect(reply.status).toBe(200);
  return reply.body as Tested;
}
const receive = async (...answer: Parameters<typeof startReceiver>): Promise<Receiver> =>
  (receiver = await startReceiver(...answer));

describe("POST /projects/:project/webhooks/:webhook/test", () => {
  it("makes one signed request and tells what it was answered", async () => {
    const { url, requests } = await receive((response) => response.writeHead(201).end("thank you"));
    const { id, secret } = await fixture.create({ url });
    const result = await tested(id);
    expect(result).toMatchObject({ delivered: true, statusCode: 201, error: null, response: "thank you" });
    expect(result.latencyMs).toBeGreaterThanOrEqual(0);

    expect(requests).toHaveLength(1);
    const { headers, body, method } = requests[0]!;
    expect([method, body]).toEqual(["POST", result.request.body]);
    expect(headers).toMatchObject(result.request.headers);
    expect(JSON.parse(body)).toEqual({
      id: result.id,
      type: "webhook.test",
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown,
      data: {
        customerId: "customer_test",
        environment: "test",
        source: "test",
        metadata: {},
        configVersion: null,
        cause: { type: "test", id: null },
        sequence: 0,
      },
    });
    expect(result.id).toMatch(/^test_[0-9a-f]{20}$/);
    expect(headers["webhook-id"]).toBe(result.id);
    expect(headers["svc-event-id"]).toBe(result.id);
    const timestamp = Number(headers["webhook-timestamp"]);
    expect(headers["webhook-signature"]).toBe(sign({ id: result.id, timestamp, body }, [secret]));
    expect(JSON.stringify(result)).not.toContain(secret.slice("whsec_".length));
  });

  it("sends the type that it is given, whatever the webhook is to receive", async () => {
    const { url, requests } = await receive();
    const { id } = await fixture.create({ url, eventTypes: ["customer.*"] });
    await tested(id, { type: "segment.entered" });
    expect(JSON.parse(requests[0]!.body)).toMatchObject({ type: "segment.entered" });
  });

  it("is signed by both secrets during a rotation, and by one after it", async () => {
    const { url } = await receive();
    const { id, secret: old } = await fixture.create({ url });
    const { body } = await fixture.request("POST", `/webhooks/${id}/rotate-secret`, {});
    const { secret } = body as { secret: string };
    const expected = ({ id, request }: Tested, secrets: string[]) =>
      sign({ id, timestamp: Number(request.headers["webhook-timestamp"]), body: request.body }, secrets);
    const during = await tested(id);
    expect(during.request.headers["webhook-signature"]).toBe(expected(during, [secret, old]));
    await sql()`update svc.webhooks set previous_secret_expires_at = now() where webhook_id = ${id}`;
    const after = await tested(id);
    expect(after.request.headers["webhook-signature"]).toBe(expected(after, [secret]));
  });

  it("tells of a refusal, and does not try again", async () => {
    const { url, requests } = await receive(status(410));
    const { id } = await fixture.create({ url });
    expect(await tested(id)).toMatchObject({ delivered: false, statusCode: 410, error: null });
    expect(requests).toHaveLength(1);
    // A test decides nothing: 410 of a delivery would disable.
    expect(await fixture.read(id)).toMatchObject({ disabledAt: null, failingSince: null, pending: 0 });
  });

  it("tells of a redirect, and does not follow it", async () => {
    const { url, requests } = await receive(status(302, { Location: "http://127.0.0.1:1/" }));
    const { id } = await fixture.create({ url });
    expect(await tested(id)).toMatchObject({ delivered: false, statusCode: 302 });
    expect(requests).toHaveLength(1);
  });

  it("gives up a receiver that does not answer", async () => {
    const { url } = await receive(() => undefined);
    const { id } = await fixture.create({ url });
    expect(await tested(id)).toMatchObject({
      delivered: false,
      statusCode: null,
      response: null,
      error: "no answer within 0.5 seconds",
    });
  });

  it("tells that nobody listens", async () => {
    const gone = await startReceiver();
    await gone.close();
    const { id } = await fixture.create({ url: gone.url });
    const { delivered, statusCode, error } = await tested(id);
    expect([delivered, statusCode]).toEqual([false, null]);
    expect(error).toMatch(/ECONNREFUSED/);
  });

  it("tells that a secret does not open, and sends nothing", async () => {
    const { url, requests } = await receive();
    const { id } = await fixture.create({ url });
    await sql()`update svc.webhooks set sealed_secret = '\\x01' where webhook_id = ${id}`;
    expect(await tested(id)).toMatchObject({
      delivered: false,
      error: "the stored webhook secret is in no known format",
      request: { headers: {} },
    });
    expect(requests).toHaveLength(0);
  });

  it("tests a disabled webhook, too, which stays so", async () => {
    const { url } = await receive();
    const { id } = await fixture.create({ url });
    await fixture.request("PATCH", `/webhooks/${id}`, { disabled: true });
    expect(await tested(id)).toMatchObject({ delivered: true });
    expect(await fixture.read(id)).toMatchObject({ disabledReason: "Disabled by owner@acme.example." });
  });

  it("keeps nothing but that it was done", async () => {
    const { url } = await receive();
    const { id } = await fixture.create({ url });
    const result = await tested(id);
    expect((await fixture.audit())[1]).toMatchObject({
      action: "webhook.tested",
      environment: "test",
      target: id,
      details: { id: result.id, type: "webhook.test" },
    });
    expect((await fixture.request("GET", `/webhooks/${id}/deliveries`)).body).toMatchObject({ data: [] });
  });

  it.each([
    ["nothing", ""],
    ["a *", "customer.*"],
    ["a line break", "a\nb"],
    ["too much", "a".repeat(257)],
    ["another type", 7],
  ])("refuses a type of %s", async (_what, type) => {
    const { id } = await fixture.create();
    expect(await ask(id, { type })).toMatchObject({
      status: 400,
      body: { error: { code: "VALIDATION_ERROR", field: "type" } },
    });
  });
});

describe("many tests", () => {
  let patient: WebhookFixture;
  let organizations = 0;
  // Receivers have the time that they have in service: who is to wait here waits until the test answers.
  beforeAll(async () => {
    patient = await startWebhooks({ allowPrivateWebhooks: true });
  });
  afterAll(() => patient.stop());

  /** A webhook of an organization of its own: asks for a test of it. */
  async function another(url: string): Promise<() => Promise<Reply>> {
    const { service } = patient;
    const by = await service.owner(`other${organizations++}`);
    await service.request("POST", "/projects", { by, body: { name: "App", slug: "app" } });
    const path = "/projects/app/webhooks";
    const { body } = await service.request("POST", path, { by, body: { url, eventTypes: ["*"] } });
    return () => service.request("POST", `${path}/${(body as { id: string }).id}/test`, { by, body: {} });
  }

  /** As many tests asked for as there are, four by an organization. */
  async function askMany(url: string, count: number): Promise<Promise<Reply>[]> {
    const asks: (() => Promise<Reply>)[] = [];
    while (asks.length < count) asks.push(...Array<() => Promise<Reply>>(4).fill(await another(url)));
    return asks.slice(0, count).map((ask) => ask());
  }

  it("makes sixteen at once, and the next one after an answer", async () => {
    const open: (() => void)[] = [];
    let most = 0;
    const target = await receive((response) => {
      open.push(() => response.writeHead(204).end());
      most = Math.max(most, open.length);
    });
    const replies = await askMany(target.url, 17);
    await target.received(16);
    // Meanwhile the seventeenth, which was asked for before, comes to wait.
    await another(target.url);
    open.shift()!();
    await target.received(17);
    for (const answer of open) answer();
    expect((await Promise.all(replies)).map(({ status }) => status)).toEqual(Array(17).fill(200));
    expect(most).toBe(16);
  });

  it("refuses those past the ones that may wait, which are on no record", async () => {
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const { url } = await receive((response) => void answered.then(() => response.writeHead(204).end()));
    const before = await recorded();
    const replies = await askMany(url, 40);
    const refused: Reply[] = [];
    for (const reply of replies)
      void reply.then((one) => {
        if (one.status === 503 && refused.push(one) === 4) answer();
      });
    expect((await Promise.all(replies)).filter(({ status }) => status === 200)).toHaveLength(36);
    for (const { body } of refused)
      expect(body).toMatchObject({
        error: { code: "SERVICE_UNAVAILABLE", reason: "Too many webhooks are being tested." },
      });
    expect((await recorded()) - before).toBe(36);
  });

  it("refuses the fifth of one organization, and makes those of the others meanwhile", async () => {
    const open: (() => void)[] = [];
    const target = await receive((response, { path }) => {
      if (path === "/quick") response.writeHead(204).end();
      else open.push(() => response.writeHead(204).end());
    });
    const [ask, other] = [await another(target.url), await another(new URL("/quick", target.url).href)];
    const replies = Array.from({ length: 4 }, ask);
    await target.received(4);
    expect(await ask()).toMatchObject({
      status: 503,
      body: {
        error: {
          code: "SERVICE_UNAVAILABLE",
          reason: "Too many webhooks of this organization are being tested.",
        },
      },
    });
    expect(await other()).toMatchObject({ status: 200, body: { delivered: true } });
    open.shift()!();
    await Promise.race(replies);
    const next = ask();
    await target.received(6);
    for (const answer of open) answer();
    expect((await Promise.all([...replies, next])).map(({ status }) => status)).toEqual(Array(5).fill(200));
  });

  async function recorded(): Promise<number> {
    return (await patient.service.db.sql`select from iam.audit_log where action = 'webhook.tested'`).length;
  }
});

describe("without private addresses", () => {
  it("does not dial what a name leads to there", async () => {
    const { url, requests } = await receive();
    const strict = await startWebhooks();
    try {
      await strict.begin();
      const { id } = await strict.create();
      // As if the name had been public when the webhook was made.
      await strict.service.db.sql`
        update svc.webhooks set url = ${url.replace("127.0.0.1", "localhost")} where webhook_id = ${id}`;
      const { body } = await strict.request("POST", `/webhooks/${id}/test`, {});
      expect(body).toMatchObject({ delivered: false, statusCode: null });
      expect((body as Tested).error).toMatch(/^localhost is not a public address \(loopback\)/);
      expect(requests).toHaveLength(0);
    } finally {
      await strict.stop();
    }
  });
});
