import { Webhook } from "standardwebhooks";
import * as svix from "svix";
import { afterEach, expect, test, vi } from "vitest";
import { createLogger } from "../../src/server/log.js";
import { Deliverer, type DelivererOptions } from "../../src/tasks/deliver/deliver.js";
import { sealingKey, sealSecret } from "../../src/webhooks/secret.js";
import { useDatabase } from "../support/database.js";
import { lockWaiter } from "../support/locks.js";
import {
  attemptsOf,
  clearWebhooks,
  createEnvironment,
  createWebhook,
  deliveriesOf,
  emit,
  expireLeases,
  makeDue,
  nothingDue,
  rotateSecret,
  SERVICE_SECRET,
} from "./support/fixtures.js";
import {
  startReceiver,
  status,
  statuses,
  type Answer,
  type ReceivedRequest,
  type Receiver,
} from "./support/receiver.js";
import { runLog } from "../support/run-log.js";

const closing: (() => Promise<unknown>)[] = [];

const db = await useDatabase();
const { sql } = db;
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await clearWebhooks(sql);
});

function deliverer(options: Partial<DelivererOptions> = {}): Deliverer {
  const logger = runLog();
  const started = new Deliverer({
    sql,
    secret: SERVICE_SECRET,
    allowPrivate: true,
    logger,
    pollMs: 20,
    stopMs: 1000,
    ...options,
  });
  closing.push(() => started.stop());
  return started;
}

async function receiver(answer?: Answer): Promise<Receiver> {
  const started = await startReceiver(answer);
  closing.push(() => started.close());
  return started;
}

/** A webhook with a new receiver, in a new environment. */
async function endpoint(answer?: Answer) {
  const target = await receiver(answer);
  const environment = await createEnvironment(sql);
  return { target, environment, ...(await createWebhook(sql, environment, target.url)) };
}

/** Writes an emission, and makes the attempts that are due. */
async function deliverOne(environment: number, options?: Partial<DelivererOptions>): Promise<void> {
  deliverer(options);
  await emit(sql, environment, 1);
  await nothingDue(sql);
}

/** An endpoint whose first answer waits for `answer()`. */
async function patientEndpoint() {
  let answer = (): void => undefined;
  const made = await endpoint((response, _request, index) => {
    answer = () => void response.writeHead(200).end();
    if (index > 0) answer();
  });
  return { ...made, answer: () => answer() };
}

const ids = (target: Receiver) => target.requests.map(({ headers }) => headers["svc-event-id"]);

test.each([
  ["standardwebhooks", Webhook],
  ["svix", svix.Webhook],
])(
  "the library %s verifies with either secret during a rotation, afterwards only with the new one, and nothing that was changed",
  async (_, Library) => {
    /** Verifies as its documentation says, with the headers and body as received. */
    const verify = (secret: string, { body, headers }: Pick<ReceivedRequest, "body" | "headers">): unknown =>
      new Library(secret).verify(body, headers as Record<string, string>);
    const { target, environment, secret: old, webhookId } = await endpoint();
    const secret = await rotateSecret(sql, webhookId);
    deliverer();
    const metadata = '{"name": "Zoë 🎉", "total": 12345678901234567890, "path": "a/b\\u2028<"}';
    await emit(sql, environment, [{ metadata }]);
    await nothingDue(sql);
    const request = target.requests[0]!;
    const { body, headers } = request;
    expect(headers["webhook-signature"]).toMatch(/^v1,\S+ v1,\S+$/);
    expect(body).toContain("12345678901234567890");
    for (const one of [secret, old]) expect(verify(one, request)).toEqual(JSON.parse(body));
    const id = headers["svc-event-id"];
    expect(headers["webhook-id"]).toBe(id);
    expect(verify(secret, request)).toMatchObject({ id, data: { metadata: { name: "Zoë 🎉" } } });

    const changed = (header: string, value: string) => ({ body, headers: { ...headers, [header]: value } });
    const sentAt = Number(headers["webhook-timestamp"]);
    const none = "No matching signature found";
    expect(() => verify(secret, { headers, body: body.replace("customer_1", "customer_2") })).toThrow(none);
    expect(() => verify(secret, { headers, body: `${body}\n` })).toThrow(none);
    expect(() => verify(secret, changed("webhook-id", "emi_0000000000000001"))).toThrow(none);
    expect(() => verify(secret, changed("webhook-timestamp", String(sentAt + 1)))).toThrow(none);
    expect(() => verify(secret, changed("webhook-timestamp", String(sentAt - 600)))).toThrow("too old");
    expect(() => verify("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", request)).toThrow(none);

    await sql`update svc.webhooks set previous_secret_expires_at = now() - interval '1 second'`;
    await emit(sql, environment, 1);
    await nothingDue(sql);
    const later = target.requests[1]!;
    expect(verify(secret, later)).toEqual(JSON.parse(later.body));
    expect(() => verify(old, later)).toThrow(none);
  },
);

test("a retry has the id and body of the first attempt with a new signature; both attempts are logged", async () => {
  const { target, environment, secret, webhookId } = await endpoint(statuses(500, 200));
  await deliverOne(environment);
  await makeDue(sql);
  await nothingDue(sql);
  const [first, second] = target.requests as [ReceivedRequest, ReceivedRequest];
  expect(ids(target)).toEqual([JSON.parse(first.body).id, JSON.parse(first.body).id]);
  expect(second.body).toBe(first.body);
  for (const { body, headers } of [first, second]) new Webhook(secret).verify(body, headers as Record<string, string>);
  expect((await attemptsOf(sql, webhookId)).map((row) => row.status_code)).toEqual([500, 200]);
  expect(await deliveriesOf(sql, webhookId)).toMatchObject([{ status: "delivered", attempts: 2 }]);
});

test.each([-60, 60])("a worker whose clock is %i minutes off signs with the database's time", async (minutes) => {
  const { target, environment, secret, webhookId } = await endpoint();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + minutes * 60_000 });
  try {
    await deliverOne(environment);
  } finally {
    vi.useRealTimers();
  }
  const { body, headers } = target.requests[0]!;
  // The library refuses signatures more than five minutes from its own clock.
  new Webhook(secret).verify(body, headers as Record<string, string>);
  const [{ off }] = await sql<[{ off: number }]>`
    select abs(extract(epoch from now() - attempted_at))::integer as off
    from svc.delivery_attempts where webhook_id = ${webhookId}`;
  expect(off).toBeLessThan(300);
});

test("an attempt is recorded with the answer's first KiB or the reason why there is none, and retried unless it was accepted", async () => {
  const elsewhere = await receiver();
  const endless: Answer = (response) => {
    const write = () => void response.write("x".repeat(10_000), (error) => (error ? undefined : write()));
    write();
  };
  const cases: [answer: Answer, attempt: { status_code: number | null; error?: unknown; response?: string | null }][] =
    [
      [status(204), { status_code: null, error: expect.stringContaining("ECONNREFUSED"), response: null }],
      [status(307, { location: elsewhere.url }), { status_code: 307 }],
      [status(429, { "retry-after": "1800" }), { status_code: 429 }],
      [() => undefined, { status_code: null, error: "no answer within 2 seconds", response: null }],
      [(response) => response.end("é".repeat(2000)), { status_code: 200, response: "é".repeat(512) }],
      [(response) => response.end(Buffer.from([97, 0, 255, 98])), { status_code: 200, response: "a\uFFFD\uFFFDb" }],
      [endless, { status_code: 200, response: "x".repeat(1024) }],
      [(response) => void response.writeHead(200).write("so far"), { status_code: 200, response: "so far" }],
    ];
  const endpoints = await Promise.all(cases.map(([answer]) => endpoint(answer)));
  await endpoints[0]!.target.close();
  deliverer({ timeoutMs: 2_000 });
  for (const { environment } of endpoints) await emit(sql, environment, 1);
  await nothingDue(sql);
  expect(elsewhere.requests, "a redirect is not followed").toEqual([]);
  const waits: number[] = [];
  for (const [n, { webhookId }] of endpoints.entries()) {
    const [, attempt] = cases[n]!;
    expect(await attemptsOf(sql, webhookId)).toMatchObject([{ attempt: 1, ...attempt }]);
    const [delivery] = await deliveriesOf(sql, webhookId);
    expect(delivery).toMatchObject({ status: attempt.status_code === 200 ? "delivered" : "pending", attempts: 1 });
    waits.push(delivery!.due_in);
  }
  expect(waits[2], "Retry-After").toBeGreaterThan(1500);
});

test("hanging endpoints do not delay others, even when they could use every place, and never exceed their limit", async () => {
  const hanging = await Promise.all(Array.from({ length: 20 }, () => endpoint(() => undefined)));
  const good = await endpoint();
  const pump = deliverer({ underWayMax: 40, timeoutMs: 60_000 });
  for (const { environment } of hanging) await emit(sql, environment, 20);
  await Promise.all(hanging.map(({ target }) => target.received(1)));
  await emit(sql, good.environment, 50);
  await good.target.received(50);
  for (const { target } of hanging) expect(target.requests.length).toBeLessThanOrEqual(10);
  const connections = new Set(good.target.requests.map(({ remotePort }) => remotePort));
  expect(connections.size, "they are used again").toBeLessThanOrEqual(11);
  await pump.stop();
});

test("a private address is refused unless allowed, and the log names the setting", async () => {
  const { target, environment, webhookId } = await endpoint();
  await deliverOne(environment, { allowPrivate: false });
  expect(target.requests).toEqual([]);
  expect((await attemptsOf(sql, webhookId))[0]!.error).toContain("SVC_WEBHOOK_ALLOW_PRIVATE=1");
});

test("a secret sealed with another SVC_SECRET is a failed attempt that says so", async () => {
  const { target, environment, webhookId } = await endpoint();
  const lines: string[] = [];
  const logger = createLogger("info", { write: (line) => void lines.push(line) });
  await deliverOne(environment, { secret: "another secret", logger });
  expect(target.requests).toEqual([]);
  expect((await attemptsOf(sql, webhookId))[0]!.error).toContain("SVC_SECRET");
  expect(lines.filter((line) => line.includes("sealed with another SVC_SECRET"))).toHaveLength(1);
});

test("a previous secret that can no longer be opened does not prevent deliveries during a rotation", async () => {
  const { target, environment, webhookId, secret } = await endpoint();
  await sql`
    update svc.webhooks
    set previous_sealed_secret = ${sealSecret(secret, sealingKey("another secret"))},
        previous_secret_expires_at = now() + interval '1 hour'
    where webhook_id = ${webhookId}`;
  await deliverOne(environment);
  const { body, headers } = target.requests[0]!;
  new Webhook(secret).verify(body, headers as Record<string, string>);
});

test("a result survives a connection lost while recording: it is recorded later, and the delivery not sent again", async () => {
  const { target, environment, webhookId, answer } = await patientEndpoint();
  deliverer();
  await emit(sql, environment, 1);
  await target.received(1);
  await sql.begin(async (tx) => {
    // Make the recording of the attempt wait.
    await tx`select 1 from svc.deliveries where environment_id = ${environment} and webhook_id = ${webhookId} for update`;
    answer();
    await tx`select pg_terminate_backend(${await lockWaiter(tx, "%record_attempts%")}::integer, 10000)`;
    // It retries, and waits again while the lock is held.
    await lockWaiter(tx, "%record_attempts%");
  });
  await nothingDue(sql);
  expect(target.requests).toHaveLength(1);
  expect(await deliveriesOf(sql, webhookId)).toMatchObject([{ status: "delivered", attempts: 1 }]);
});

test("stop waits for attempts in progress and their recording, and claims nothing more", async () => {
  const { target, environment, webhookId, answer } = await patientEndpoint();
  const pump = deliverer({ stopMs: 30_000 });
  await emit(sql, environment, 1);
  await target.received(1);
  const stopped = pump.stop();
  await emit(sql, environment, 1);
  answer();
  await stopped;
  expect(await deliveriesOf(sql, webhookId)).toMatchObject([{ status: "delivered" }, { status: "pending" }]);
});

test("stop does not wait forever: hanging attempts are dropped unrecorded, to be delivered by another worker", async () => {
  const { target, environment, webhookId } = await endpoint((response, _request, index) => {
    if (index > 0) response.writeHead(200).end();
  });
  const pump = deliverer({ stopMs: 50, timeoutMs: 60_000 });
  await emit(sql, environment, 1);
  await target.received(1);
  await pump.stop();
  expect(await attemptsOf(sql, webhookId)).toEqual([]);
  await expireLeases(sql);
  deliverer();
  await nothingDue(sql);
  expect(new Set(ids(target)).size).toBe(1);
  expect(await deliveriesOf(sql, webhookId)).toMatchObject([{ status: "delivered", attempts: 1 }]);
});

test("deliveries continue after the database was unavailable for a while", async () => {
  const { target, environment } = await endpoint();
  deliverer();
  await emit(sql, environment, 1);
  await nothingDue(sql);
  await sql`
    select pg_terminate_backend(pid, 10000) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`;
  // The pool notices a lost connection only when it is used.
  await vi.waitFor(() => emit(sql, environment, 1), { timeout: 20_000 });
  await target.received(2);
  await nothingDue(sql);
});
