import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createDatabase } from "../../support/database.js";
import type { Reply, ServiceOptions } from "../../support/service.js";
import { startIngest, type IngestFixture } from "./fixture.js";
import { startPrivateServer, type PrivateServer } from "./private-server.js";
import { startProxy } from "./vanishing-proxy.js";

const OPTIONS: ServiceOptions = { keyMsMax: 500, ingestor: { answerMsMax: 500, batchConcurrency: 2 } };
/** For what needs the database to come back. */
const PATIENCE = { timeout: 50_000, interval: 100 };

function expectUnavailable({ status, headers, body }: Reply): void {
  expect({ status, retryAfter: headers.get("Retry-After"), body }).toMatchObject({
    status: 503,
    retryAfter: "1",
    body: { error: { code: "SERVICE_UNAVAILABLE", requestId: "req", fix: expect.any(String) as string } },
  });
}

const event = (name: string, idempotencyKey?: string) => ({
  customerId: "c",
  event: name,
  ...(idempotencyKey !== undefined && { idempotencyKey }),
});

/** Sends a single event and a batch, each with and without idempotency keys; answers the names of the events by kind. */
async function sendEach(fixture: IngestFixture, run: string) {
  const [keyed, unkeyed] = [
    [`${run} keyed 1`, `${run} keyed 2`, `${run} keyed 3`],
    [`${run} 1`, `${run} 2`, `${run} 3`],
  ];
  const replies = await Promise.all([
    fixture.single(event(keyed[0]!, keyed[0])),
    fixture.batch([event(keyed[1]!, keyed[1]), event(keyed[2]!, keyed[2])]),
    fixture.single(event(unkeyed[0]!)),
    fixture.batch([event(unkeyed[1]!), event(unkeyed[2]!)]),
  ]);
  return { keyed, unkeyed, replies };
}

async function untilTaken(request: () => Promise<Reply>): Promise<void> {
  await expect.poll(async () => (await request()).status, PATIENCE).toBe(202);
}

async function counts(fixture: IngestFixture, names: readonly string[]): Promise<number[]> {
  const rows = await fixture.service.db.sql<{ count: number }[]>`
    select (select count(*) from svc.events as e where e.event = n.name)::integer as count
    from unnest(${[...names]}::text[]) with ordinality as n (name, ordinality) order by n.ordinality`;
  return rows.map(({ count }) => count);
}

describe("a server of its own", () => {
  let server: PrivateServer;
  let fixture: IngestFixture;
  beforeAll(async () => {
    server = await startPrivateServer();
    fixture = await startIngest({}, { ...OPTIONS, database: server.database });
  });
  afterEach(() => server.resume());
  afterAll(() => fixture.service.stop());

  it("that is paused is answered for with 503, and nothing is doubled when it goes on", async () => {
    await untilTaken(() => fixture.single(event("before")));
    await server.pause();
    const { keyed, unkeyed, replies } = await sendEach(fixture, "paused");
    for (const reply of replies) expectUnavailable(reply);
    // More than there are places, and a key that has to be asked for.
    const more = await Promise.all([
      ...Array.from({ length: 50 }, (_, n) => fixture.single(event(`more ${n}`))),
      ...Array.from({ length: 50 }, (_, n) => fixture.batch([event(`more batch ${n}`)])),
      ...Array.from({ length: 5 }, () =>
        fixture.post("/v1/events", event("live"), { Authorization: `Bearer ${fixture.keys.live}` }),
      ),
    ]);
    for (const reply of more) expectUnavailable(reply);
    server.resume();
    for (const name of keyed) await untilTaken(() => fixture.single(event(name, name)));
    expect(await counts(fixture, keyed)).toEqual([1, 1, 1]);
    for (const count of await counts(fixture, unkeyed)) expect(count).toBeLessThanOrEqual(1);
    await untilTaken(() => fixture.post("/v1/events", event("live"), { Authorization: `Bearer ${fixture.keys.live}` }));
    const [row] = await server.database.sql<[{ doubled: number }]>`
      select count(*)::integer as doubled
      from (select 1 from svc.events where event <> 'live' group by event having count(*) > 1) as d`;
    expect(row.doubled).toBe(0);
  });

  it("that is killed is answered for with 503 until it is started again", async () => {
    await untilTaken(() => fixture.single(event("before the end")));
    await server.kill();
    await expect.poll(async () => (await fixture.single(event("killed"))).status, PATIENCE).toBe(503);
    const { keyed, unkeyed, replies } = await sendEach(fixture, "killed");
    for (const reply of replies) expectUnavailable(reply);
    await expect.poll(() => server.start().then(() => "started", String), PATIENCE).toBe("started");
    for (const name of keyed) await untilTaken(() => fixture.single(event(name, name)));
    expect(await counts(fixture, keyed)).toEqual([1, 1, 1]);
    for (const count of await counts(fixture, unkeyed)) expect(count).toBeLessThanOrEqual(1);
  });
});

it("a machine that vanishes is answered for with 503, and its successor is used though no connection ever ended", async () => {
  const database = await createDatabase();
  const proxy = await startProxy(database.url);
  const options = { ...OPTIONS, silentMsMax: 1_500, database: { ...database, url: proxy.url } };
  const fixture = await startIngest({}, options);
  try {
    await untilTaken(() => fixture.single(event("before")));
    proxy.vanish();
    const { keyed, unkeyed, replies } = await sendEach(fixture, "vanished");
    for (const reply of replies) expectUnavailable(reply);
    proxy.replace();
    for (const name of keyed) await untilTaken(() => fixture.single(event(name, name)));
    expect(await counts(fixture, keyed)).toEqual([1, 1, 1]);
    for (const count of await counts(fixture, unkeyed)) expect(count).toBeLessThanOrEqual(1);
  } finally {
    await proxy.stop();
    await fixture.service.stop();
  }
});
