import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { LARGE_CALLS_OF_ORGANIZATION } from "../../../src/http/ingest/ingestor.js";
import { READ_AT_ONCE } from "../../../src/http/request/large-bodies.js";
import { LARGE_APPLICATION, type Reply } from "../../support/service.js";
import { startIngest, type IngestFixture } from "./fixture.js";

let fixture: IngestFixture;
beforeAll(async () => {
  fixture = await startIngest();
});
afterAll(() => fixture.service.stop());

const event = (name: string, more: object = {}) => ({ customerId: "c", event: name, ...more });
/** So large that a thread sends it. */
const large = (...events: object[]) => JSON.stringify({ events }).padEnd(READ_AT_ONCE.bytesMax + 1);
const send = (body: string) => fixture.post("/v1/events/batch", body);
const exact = ({ status, body }: Reply) => ({ status, body });

async function stored(name: string): Promise<number> {
  const rows = await fixture.service.db.sql`select from svc.events where event = ${name}`;
  return rows.length;
}

/** How many calls wait for a lock, by who makes them. */
async function waitingCalls(application: string): Promise<number> {
  const rows = await fixture.service.db.sql`
    select from pg_stat_activity
    where datname = current_database() and application_name = ${application} and wait_event_type = 'Lock'`;
  return rows.length;
}

const expectWaiting = (application: string, calls: number) =>
  expect.poll(() => waitingCalls(application), { timeout: 20_000 }).toBe(calls);

/** Does the work while ingestion waits in the database. */
async function whileBlocked(work: () => Promise<void>): Promise<void> {
  await fixture.service.db.sql.begin(async (tx) => {
    await tx`lock table svc.ingest_batches in share mode`;
    await work();
  });
}

it("a large batch is taken as it is, its letters and numbers too", async () => {
  const properties = { text: "é→😀", number: 12.5 };
  const body = large(event("letters", { properties }));
  const sent = [
    await send(body),
    await fixture.post("/v1/events/batch", gzipSync(body), { "Content-Encoding": "gzip" }),
  ];
  expect(sent.map(({ status }) => status)).toEqual([202, 202]);
  expect((sent[0]!.body as { eventIds: string[] }).eventIds).toHaveLength(1);
  const rows = await fixture.service.db.sql`select properties from svc.events where event = 'letters'`;
  expect(rows).toEqual([{ properties }, { properties }]);
});

it("what the database refuses of a large batch is told as of any other", async () => {
  const keyed = (properties: object) => event("keyed", { idempotencyKey: "k", properties });
  expect((await send(large(keyed({ a: 1 })))).status).toBe(202);
  const refused = await send(large(keyed({ a: 2 })));
  expect(refused).toMatchObject({ status: 409, body: { error: { code: "IDEMPOTENCY_CONFLICT" } } });
  expect(exact(refused)).toEqual(exact(await fixture.batch([keyed({ a: 2 })])));
});

it("a large batch whose connection is lost is sent again, and stored once", async () => {
  let reply: Promise<Reply> | undefined;
  await whileBlocked(async () => {
    reply = send(large(event("lost")));
    await expectWaiting(LARGE_APPLICATION, 1);
    await fixture.service.db.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = ${LARGE_APPLICATION}`;
  });
  expect((await reply)?.status).toBe(202);
  expect(await stored("lost")).toBe(1);
});

it("large batches wait for one another, and other batches for none of them", async () => {
  let replies: Promise<Reply>[] = [];
  await whileBlocked(async () => {
    replies = Array.from({ length: LARGE_CALLS_OF_ORGANIZATION + 2 }, () => send(large(event("large"))));
    await expectWaiting(LARGE_APPLICATION, LARGE_CALLS_OF_ORGANIZATION);
    replies.push(fixture.batch([event("small")]));
    await expectWaiting("svc test http", 1);
    expect(await waitingCalls(LARGE_APPLICATION)).toBe(LARGE_CALLS_OF_ORGANIZATION);
  });
  expect((await Promise.all(replies)).map(({ status }) => status)).toEqual(replies.map(() => 202));
  expect(await stored("large")).toBe(LARGE_CALLS_OF_ORGANIZATION + 2);
});
