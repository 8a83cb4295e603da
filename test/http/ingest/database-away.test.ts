import { expect, it, onTestFinished } from "vitest";
import { readConfig } from "../../../src/server/config.js";
import { openHttp } from "../../../src/server/http-role.js";
import { createDatabase } from "../../support/database.js";
import { runLog } from "../../support/run-log.js";
import type { Reply, ServiceOptions } from "../../support/service.js";
import { startIngest, type IngestFixture } from "./fixture.js";
import { startProxy } from "./vanishing-proxy.js";

const OPTIONS: ServiceOptions = { keyMsMax: 500, ingestor: { answerMsMax: 500, batchConcurrency: 2 } };
/** For polling until the database is back. */
const PATIENCE = { timeout: 50_000, interval: 100 };

function expectUnavailable({ status, headers, body }: Reply): void {
  expect([status, headers.get("Retry-After")]).toEqual([503, "1"]);
  const fix = expect.any(String) as string;
  expect(body).toMatchObject({ error: { code: "SERVICE_UNAVAILABLE", requestId: "req", fix } });
}

const event = (name: string, idempotencyKey?: string) => ({
  customerId: "c",
  event: name,
  ...(idempotencyKey !== undefined && { idempotencyKey }),
});

async function untilAccepted(request: () => Promise<Reply>): Promise<void> {
  await expect.poll(async () => (await request()).status, PATIENCE).toBe(202);
}

/**
 * Sends a single event and a batch, each with and without idempotency keys, and expects that all are refused. The returned function expects,
 * once the database is back, that repetitions are accepted and nothing is stored twice.
 */
async function refusesEach(fixture: IngestFixture, run: string): Promise<() => Promise<void>> {
  const keyed = [1, 2, 3].map((n) => event(`${run} keyed ${n}`, `${run} keyed ${n}`));
  const unkeyed = [1, 2, 3].map((n) => event(`${run} ${n}`));
  const requests = [keyed, unkeyed].flatMap(([first, ...rest]) => [fixture.single(first), fixture.batch(rest)]);
  for (const reply of await Promise.all(requests)) expectUnavailable(reply);
  return async () => {
    for (const each of keyed) await untilAccepted(() => fixture.single(each));
    const rows = await fixture.service.db.sql<{ event: string }[]>`
      select event from svc.events where starts_with(event, ${run}) order by event`;
    const stored = rows.map((row) => row.event);
    expect(stored.filter((name) => name.includes("keyed"))).toEqual(keyed.map((each) => each.event));
    expect(stored).toEqual([...new Set(stored)]);
  };
}

/** A service whose database is reached through a proxy. */
async function startBehindProxy(more: ServiceOptions = {}) {
  const database = await createDatabase();
  const proxy = await startProxy(database.url);
  const fixture = await startIngest({}, { ...OPTIONS, ...more, database: { ...database, url: proxy.url } });
  onTestFinished(async () => {
    await proxy.stop();
    await fixture.service.stop();
  });
  await untilAccepted(() => fixture.single(event("before")));
  return { proxy, fixture };
}

it("requests are answered 503 while the database server is paused, and nothing is stored twice when it resumes", async () => {
  const { proxy, fixture } = await startBehindProxy();
  proxy.pause();
  const expectRepeatable = await refusesEach(fixture, "paused");
  // More requests than places, and a key that has to be looked up.
  const live = () => fixture.single(event("live"), { Authorization: `Bearer ${fixture.keys.live}` });
  const more = [
    ...Array.from({ length: 50 }, (_, n) => fixture.single(event(`more ${n}`))),
    ...Array.from({ length: 50 }, (_, n) => fixture.batch([event(`more batch ${n}`)])),
    ...Array.from({ length: 5 }, live),
  ];
  for (const reply of await Promise.all(more)) expectUnavailable(reply);
  proxy.resume();
  await expectRepeatable();
  await untilAccepted(live);
  const doubled = await fixture.service.db.sql`
    select event from svc.events where event <> 'live' group by event having count(*) > 1`;
  expect(doubled).toEqual([]);
});

it("requests are answered 503 after the database machine vanishes, and its successor is used although no connection was closed", async () => {
  const { proxy, fixture } = await startBehindProxy({ silentMsMax: 1_500 });
  proxy.vanish();
  const expectRepeatable = await refusesEach(fixture, "vanished");
  proxy.replace();
  await expectRepeatable();
});

it("a key is looked up again where a look-up got no answer, because its connection is dead and nobody has noticed", async () => {
  const { proxy, fixture } = await startBehindProxy();
  proxy.vanish();
  proxy.replace();
  const live = () => fixture.single(event("live"), { Authorization: `Bearer ${fixture.keys.live}` });
  expectUnavailable(await live());
  await untilAccepted(live);
});

it("requests are answered 503 while the name of the database's machine cannot be looked up, as when its container has stopped", async () => {
  const { config } = readConfig({ SVC_PORT: "0" });
  const http = await openHttp(config, runLog());
  onTestFinished(() => http.stop());
  const databaseUrl = "postgres://svc:secret@database.invalid/svc";
  http.serve({ databaseUrl, useRoles: true, secret: "a secret of the tests, long enough" });
  const reply = await fetch(`${http.address}/v1/events`, {
    method: "POST",
    headers: { Authorization: `Bearer svc_test_${"0".repeat(48)}`, "Content-Type": "application/json" },
    body: JSON.stringify(event("unseen")),
  });
  expect(reply.status).toBe(503);
  expect(await reply.json()).toMatchObject({ error: { code: "SERVICE_UNAVAILABLE" } });
});
