import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, beforeAll, expect, it } from "vitest";
import { Deliverer } from "../../src/tasks/deliver/deliver.js";
import {
  attemptsOf,
  createWebhook,
  expireLeases,
  makeDue,
  nothingDue,
  SERVICE_SECRET,
} from "../webhooks/support/fixtures.js";
import { startReceiver, statuses, type Answer, type Receiver } from "../webhooks/support/receiver.js";
import { happened, snapshotOf } from "../engine/support/builders.js";
import { lockWaiter } from "../support/locks.js";
import { environmentId } from "../support/service.js";
import { recomputer, untilJob } from "../tasks/support/recompute.js";
import { expectTaken } from "./support/answers.js";
import { useSpec } from "./support/fixture.js";
import { runLog } from "../support/run-log.js";

// Section "Events", the webhook delivery rules.

const fixture = useSpec();
const closing: (() => unknown)[] = [];
const sql = () => fixture.service.db.sql;
const events = { signed_up: { properties: {} } };

beforeAll(() =>
  fixture.deploy(snapshotOf({ events, states: { new: [["activated", happened("signed_up")]], activated: [] } })),
);
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await sql()`delete from svc.webhooks`;
});

/** A receiver, with a webhook that sends it these types of events. */
async function receive(answer?: Answer, types = ["customer.activated"]): Promise<Receiver & { webhookId: string }> {
  const receiver = await startReceiver(answer);
  closing.push(() => receiver.close());
  const id = await environmentId(sql(), "app", "test");
  const { webhookId } = await createWebhook(sql(), id, receiver.url, types);
  return { ...receiver, webhookId };
}

function deliverer(): Deliverer {
  const logger = runLog();
  const started = new Deliverer({
    sql: sql(),
    secret: SERVICE_SECRET,
    allowPrivate: true,
    logger,
    pollMs: 20,
    stopMs: 1000,
  });
  closing.push(() => started.stop());
  return started;
}

/** A new customer signs up and is evaluated, so that one `customer.activated` is emitted. */
async function activate(customerId: string): Promise<string> {
  const reply = await fixture.single({ customerId, event: "signed_up", timestamp: "2026-03-02T10:00:00Z" });
  expectTaken(reply);
  await fixture.evaluate();
  return (reply.body as { eventId: string }).eventId;
}

const idsOf = ({ requests }: Receiver) => requests.map(({ headers }) => headers["svc-event-id"]);
const bodiesOf = ({ requests }: Receiver) => requests.map(({ body }) => JSON.parse(body) as { id: string });

it("Ingestion of an event does not itself return webhook data. Queued events trigger downstream signals and webhook deliveries asynchronously.", async () => {
  const receiver = await receive();
  deliverer();
  expectTaken(await fixture.single({ customerId: "asynchronous", event: "signed_up" }));
  await nothingDue(sql());
  expect(receiver.requests).toEqual([]);
  await fixture.evaluate();
  await nothingDue(sql());
  expect(bodiesOf(receiver)).toMatchObject([{ data: { customerId: "asynchronous" } }]);
});

it("1. Delivery is at least once. A worker crash after the receiver accepted a request but before completion was recorded can send the same event again.", async () => {
  let answer: () => void = () => undefined;
  const receiver = await receive((response, _request, index) => {
    const accept = () => void response.writeHead(200).end();
    if (index === 0) answer = accept;
    else accept();
  });
  const program = fileURLToPath(new URL("../webhooks/support/deliverer-process.ts", import.meta.url));
  const worker = spawn(process.execPath, ["--import", "tsx", program, fixture.service.db.url], { stdio: "inherit" });
  closing.push(() => worker.kill("SIGKILL"));
  await activate("crashed");
  await receiver.received(1);

  const environment = await environmentId(sql(), "app", "test");
  await sql().begin(async (tx) => {
    await tx`
        select from svc.deliveries
        where environment_id = ${environment} and webhook_id = ${receiver.webhookId} for update`;
    answer();
    const backend = await lockWaiter(tx, "%record_attempts%");
    const exited = once(worker, "exit");
    worker.kill("SIGKILL");
    await exited;
    await tx`select pg_terminate_backend(${backend}::integer, 10000)`;
  });
  expect(await attemptsOf(sql(), receiver.webhookId)).toEqual([]);
  // As later, when the worker is presumed dead.
  await expireLeases(sql());
  deliverer();
  await nothingDue(sql());
  expect(receiver.requests).toHaveLength(2);
  expect(receiver.requests[1]!.body).toBe(receiver.requests[0]!.body);
  expect(idsOf(receiver)[1]).toBe(idsOf(receiver)[0]);
  // The log has one attempt, without the one whose outcome was lost with the worker.
  expect(await attemptsOf(sql(), receiver.webhookId)).toMatchObject([{ attempt: 1, status_code: 200 }]);
  expect(await sql()`select status, attempts from svc.deliveries where webhook_id = ${receiver.webhookId}`).toEqual([
    { status: "delivered", attempts: 1 },
  ]);
});

it("2. Header `svc-event-id` carries a stable identifier. The same value is `id` in the JSON payload and is unchanged across retries.", async () => {
  const receiver = await receive(statuses(500, 503, 400, 200));
  deliverer();
  await activate("retried");
  await nothingDue(sql());
  // By default, each retry would wait for some time.
  for (const requests of [1, 2, 3, 4]) {
    expect(receiver.requests).toHaveLength(requests);
    await makeDue(sql());
    await nothingDue(sql());
  }
  const [id] = idsOf(receiver);
  expect(id).toMatch(/^emi_[0-9a-f]{16}$/);
  expect(idsOf(receiver)).toEqual([id, id, id, id]);
  expect(bodiesOf(receiver).map((body) => body.id)).toEqual([id, id, id, id]);
  const log = await attemptsOf(sql(), receiver.webhookId);
  expect(log.map((one) => `${one.attempt}: ${one.status_code}`)).toEqual(["1: 500", "2: 503", "3: 400", "4: 200"]);
});

it("2. Receivers deduplicate on it: each event has another one. 3. A webhook receives only events emitted after the webhook was created.", async () => {
  await activate("before");
  const receiver = await receive();
  deliverer();
  await activate("first");
  await activate("second");
  await nothingDue(sql());
  expect(bodiesOf(receiver)).toMatchObject([{ data: { customerId: "first" } }, { data: { customerId: "second" } }]);
  expect(new Set(idsOf(receiver)).size).toBe(2);
});

it("5. Emitted event types seen: `customer.activated` (source `lifecycle`, metadata `previous_lifecycle`, `new_lifecycle`).", async () => {
  const receiver = await receive();
  deliverer();
  const eventId = await activate("activated");
  await nothingDue(sql());
  expect(receiver.requests).toMatchObject([{ method: "POST", headers: { "content-type": "application/json" } }]);
  expect(bodiesOf(receiver)).toEqual([
    {
      id: idsOf(receiver)[0],
      type: "customer.activated",
      timestamp: "2026-03-02T10:00:00.000Z",
      data: {
        sequence: expect.any(Number) as unknown,
        environment: "test",
        customerId: "activated",
        source: "lifecycle",
        metadata: { previous_lifecycle: "new", new_lifecycle: "activated" },
        cause: { type: "event", id: eventId },
        configVersion: "v1",
      },
    },
  ]);
});

it("4. Recompute can append corrective and expiration emissions, so matching webhooks can receive new delivery IDs.", async () => {
  const receiver = await receive(undefined, ["customer.*", "journey.expired"]);
  deliverer();
  await activate("recomputed");
  await nothingDue(sql());
  expect(bodiesOf(receiver)).toMatchObject([{ type: "customer.created" }, { type: "customer.activated" }]);

  const start = happened("signed_up");
  await fixture.deploy(
    snapshotOf({
      events,
      states: { new: [["welcomed", start]], welcomed: [] },
      journeys: { start: { start, steps: [["again", start]], expiresAfter: "3d" } },
    }),
  );
  const worker = recomputer(fixture.service.db);
  closing.push(() => worker.stop());
  /** Recomputes the customer, and returns the document of the job. */
  const recompute = async () => {
    const body = { customerId: "recomputed" };
    const reply = await fixture.admin("POST", "/projects/app/recomputes?env=test", { body });
    expect(reply.status).toBe(202);
    const job = reply.body as { id: string; pins: { evaluatedAt: string } };
    worker.wake();
    expect(await untilJob(sql(), job.id, ({ status }) => status === "completed")).toMatchObject({ customers_done: 1 });
    await nothingDue(sql());
    return job;
  };
  const job = await recompute();
  const shared = {
    sequence: expect.any(Number) as unknown,
    environment: "test",
    customerId: "recomputed",
    cause: { type: "job", id: job.id },
    configVersion: "v2",
  };
  const [, , expiredId, correctedId] = idsOf(receiver);
  const metadata = { previous_lifecycle: "activated", new_lifecycle: "welcomed" };
  expect(bodiesOf(receiver).slice(2)).toEqual([
    {
      id: expiredId,
      type: "journey.expired",
      // At its due instant, not when it was noticed.
      timestamp: "2026-03-05T10:00:00.000Z",
      data: { ...shared, source: "journey", metadata: { journey: "start" } },
    },
    {
      id: correctedId,
      type: "customer.welcomed",
      timestamp: job.pins.evaluatedAt,
      data: { ...shared, source: "lifecycle", metadata },
    },
  ]);
  expect(new Set(idsOf(receiver)).size).toBe(4);

  await recompute();
  expect(receiver.requests, "nothing is told of twice").toHaveLength(4);
});
