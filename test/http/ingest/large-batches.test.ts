import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { call } from "../../../src/db/api/call.js";
import { LARGE_CALLS_OF_ORGANIZATION } from "../../../src/http/ingest/ingestor.js";
import { hashCredential } from "../../../src/http/request/credentials.js";
import { parsedInline, LargeBodies } from "../../../src/http/request/large-bodies.js";
import { EVENT_LOOP_LIMITS } from "../../../src/http/request/parse-json.js";
import { QueueFullError } from "../../../src/http/errors.js";
import { waitingForLock } from "../../support/locks.js";
import { LARGE_APPLICATION, type Reply } from "../../support/service.js";
import { EVENT_ID, useIngest } from "./fixture.js";

const fixture = await useIngest();
const { sql } = fixture.service.db;

const event = (name: string, more: object = {}) => ({ customerId: "c", event: name, ...more });
/** Makes a batch so large that it is sent by a thread. */
const large = (...events: object[]) => JSON.stringify({ events }).padEnd(EVENT_LOOP_LIMITS.bytesMax + 1);
const send = (body: string) => fixture.post("/v1/events/batch", body);
const exact = ({ status, body }: Reply) => ({ status, body });
const stored = async (name: string) => (await sql`select from svc.events where event = ${name}`).length;

const expectWaiting = (application: string, calls: number) =>
  expect.poll(() => waitingForLock(sql, application), { timeout: 20_000 }).toBe(calls);

/** Does the work while ingestion is blocked in the database. */
async function whileBlocked(work: () => Promise<void>): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`lock table svc.ingest_batches in share mode`;
    await work();
  });
}

it("a large batch is stored unchanged, including its characters and numbers", async () => {
  const properties = { text: "é→😀", number: 12.5 };
  const body = large(event("letters", { properties }));
  const compressed = () => fixture.post("/v1/events/batch", gzipSync(body), { "Content-Encoding": "gzip" });
  for (const reply of [await send(body), await compressed()])
    expect(exact(reply)).toEqual({ status: 202, body: { accepted: 1, rejected: 0, eventIds: [EVENT_ID] } });
  const rows = await sql`select properties from svc.events where event = 'letters'`;
  expect(rows).toEqual([{ properties }, { properties }]);
});

it("a refusal of a large batch by the database is answered like any other", async () => {
  const keyed = (properties: object) => event("keyed", { idempotencyKey: "k", properties });
  expect((await send(large(keyed({ a: 1 })))).status).toBe(202);
  const refused = await send(large(keyed({ a: 2 })));
  expect(refused).toMatchObject({ status: 409, body: { error: { code: "IDEMPOTENCY_CONFLICT" } } });
  expect(exact(refused)).toEqual(exact(await fixture.batch([keyed({ a: 2 })])));
});

it("a large batch is retried after a lost connection, and stored once", async () => {
  let reply: Promise<Reply> | undefined;
  await whileBlocked(async () => {
    reply = send(large(event("lost")));
    await expectWaiting(LARGE_APPLICATION, 1);
    await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = ${LARGE_APPLICATION}`;
  });
  expect((await reply)?.status).toBe(202);
  expect(await stored("lost")).toBe(1);
});

it("large batches wait for each other, and other batches do not wait for them", async () => {
  let replies: Promise<Reply>[] = [];
  await whileBlocked(async () => {
    replies = Array.from({ length: LARGE_CALLS_OF_ORGANIZATION + 2 }, () => send(large(event("large"))));
    await expectWaiting(LARGE_APPLICATION, LARGE_CALLS_OF_ORGANIZATION);
    replies.push(fixture.batch([event("small")]));
    await expectWaiting("svc test http", 1);
    expect(await waitingForLock(sql, LARGE_APPLICATION)).toBe(LARGE_CALLS_OF_ORGANIZATION);
  });
  expect((await Promise.all(replies)).map(({ status }) => status)).toEqual(replies.map(() => 202));
  expect(await stored("large")).toBe(LARGE_CALLS_OF_ORGANIZATION + 2);
});

it("limits an organization's concurrent large bodies, across its keys, and serves other organizations", async () => {
  const bodies = new LargeBodies();
  const batch = JSON.stringify({ events: [{ customerId: "globex", event: "login" }] });
  const read = (organizationId: string) => bodies.run(organizationId, "checkBatch", batch, (pieces) => pieces);
  const keys = await Promise.all(
    [fixture.keys.test, fixture.keys.live].map((key) =>
      call(fixture.service.db.sql, "authenticate_key", hashCredential(key)),
    ),
  );
  const own = Array.from({ length: 10 }, (_, n) => read(keys[n % 2]!.organizationId));
  const other = read("org_other");
  const outcomes = await Promise.allSettled(own);
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(9);
  expect(outcomes[9]).toMatchObject({ reason: expect.any(QueueFullError) as unknown });
  expect(Buffer.concat(await other).toString()).toBe(batch);
});

it.each([
  ["a thousand events of ten values", `{${'"a":1.5,'.repeat(9)}"b":"1e5"}`, 1_000, true],
  ["5,000 numbers with exponents", "1.5e1", 5_000, true],
  ["more of them", "1.5e1", 5_001, false],
  ["more that are longer than a double shows", `0.${"1".repeat(30)}`, 5_001, false],
  ["more values of any kind than an ordinary batch", "1", 50_001, false],
])("whether a body is cheap enough to be read at once: %s", (_, item, count, read) => {
  expect(parsedInline(`[${Array(count).fill(item).join(",")}]`, () => undefined)).toBe(read);
});
