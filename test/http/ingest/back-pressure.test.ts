import { gzipSync } from "node:zlib";
import type { Sql } from "postgres";
import { afterEach, describe, expect, it } from "vitest";
import { connect } from "../../../src/db/connect.js";
import { OverdueError, QueueFullError } from "../../../src/http/errors.js";
import type { SingleOutcome } from "../../../src/db/api/ingestion.js";
import { Ingestor, type IngestorOptions } from "../../../src/http/ingest/ingestor.js";
import { hashCredential } from "../../../src/http/request/credentials.js";
import { waitingForLock } from "../../support/locks.js";
import { envelope, type Reply } from "../../support/service.js";
import { useIngest } from "./fixture.js";
import { headOf, openConnection, type RawConnection } from "./raw-connection.js";

/** The share of one key: half of the total. */
const BUDGET = 100_000;
const APPLICATION = "svc test lane";

const pools: Sql[] = [];
const undo: (() => unknown)[] = [];
const fixture = await useIngest(
  { bodyBytesMax: 2 * BUDGET },
  { ingestor: { answerMsMax: 1_000, batchConcurrency: 1 } },
);
const keyHash = hashCredential(fixture.keys.test);
const CONNECTIONS = { max: 2, applicationName: APPLICATION, role: "svc_http", pipelineMax: 0 } as const;
const ingestors: Ingestor[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
  await Promise.all([...pools.splice(0), ...ingestors.splice(0)].map((each) => each.end()));
});

function ingestor(options: Partial<IngestorOptions> = {}): Ingestor {
  const sql = connect(fixture.service.db.url, { ...CONNECTIONS, max: 4 });
  pools.push(sql);
  const large = { url: fixture.service.db.url, options: CONNECTIONS };
  const made = new Ingestor(sql, large, { concurrency: 1, waitingMax: 10, ...options });
  ingestors.push(made);
  return made;
}

/** Makes every call wait in the database until the returned function is called. */
async function blockIngestion(): Promise<() => Promise<void>> {
  const held = await fixture.service.db.sql.reserve();
  await held`begin`;
  await held`lock table svc.ingest_batches in share mode`;
  let isHeld = true;
  const end = async (): Promise<void> => {
    if (!isHeld) return;
    isHeld = false;
    await held`commit`;
    held.release();
  };
  undo.push(end);
  return end;
}

const callsInDatabase = () => waitingForLock(fixture.service.db.sql, APPLICATION);

/** Event names in the order of their transactions, as each environment has separate sequence numbers. */
async function names(prefix: string): Promise<string[]> {
  const rows = await fixture.service.db.sql<{ event: string }[]>`
    select event from svc.events where starts_with(event, ${prefix}) order by xmin::text::bigint, event_seq`;
  return rows.map(({ event }) => event);
}

const holder = (organizationId = "own") => ({ keyHash, organizationId });
const event = (name: string) => ({ customerId: "c", event: name });
const batchBody = (name: string) => JSON.stringify({ events: [event(name)] });
const singleBody = (name: string) => JSON.stringify(event(name));
const outcomeOf = (result: PromiseSettledResult<unknown>) =>
  result.status === "fulfilled" ? "taken" : (result.reason as Error).constructor;

describe("batches", () => {
  it("go to the database in order, a few at once, and are refused if too many wait", async () => {
    const unblock = await blockIngestion();
    const target = ingestor({ batchConcurrency: 2, batchesWaitingMax: 6 });
    const sent = Promise.allSettled(
      Array.from({ length: 8 }, (_, n) => target.batch(holder(), batchBody(`bounded ${n}`))),
    );
    await expect.poll(callsInDatabase).toBe(2);
    await expect(target.batch(holder(), batchBody("bounded more"))).rejects.toBeInstanceOf(QueueFullError);
    await unblock();
    expect((await sent).map(outcomeOf)).toEqual([...Array(5).fill("taken"), ...Array(3).fill(QueueFullError)]);
    const stored = await names("bounded");
    expect(stored.toSorted()).toEqual(Array.from({ length: 5 }, (_, n) => `bounded ${n}`));
    // Only the first two can overtake each other.
    expect(stored.slice(0, 2).toSorted()).toEqual(["bounded 0", "bounded 1"]);
  });

  it("do not wait for single events, and vice versa", async () => {
    const unblock = await blockIngestion();
    const target = ingestor({ batchConcurrency: 1 });
    const sent = [target.batch(holder(), batchBody("apart 1")), target.single(holder(), singleBody("apart 2"))];
    await expect.poll(callsInDatabase).toBe(2);
    await unblock();
    await Promise.all(sent);
  });
});

describe("one organization, however many keys it uses,", () => {
  const keys = (count: number) =>
    Promise.all(Array.from({ length: count }, async () => ({ ...holder(), keyHash: await fixture.newKey() })));

  it.each(["batches", "single events"])("leaves calls with %s to others, and room to wait", async (form) => {
    const senders = await keys(6);
    const unblock = await blockIngestion();
    const target = ingestor({ concurrency: 4, waitingMax: 6, batchConcurrency: 4, batchesWaitingMax: 6 });
    const send = (by: (typeof senders)[number], name: string): Promise<unknown> =>
      form === "batches" ? target.batch(by, batchBody(name)) : target.single(by, singleBody(name));
    const sent = senders.map((one, n) => send(one, `${form} ${n}`));
    await expect.poll(callsInDatabase).toBe(3);
    // Three wait, half of the maximum.
    await expect(send(senders[0]!, `${form} more`)).rejects.toBeInstanceOf(QueueFullError);
    sent.push(send(holder("other"), `${form} other`));
    await expect.poll(callsInDatabase).toBe(4);
    await unblock();
    await Promise.all(sent);
  });

  it("has one turn, which its keys take one after the other", async () => {
    const senders = await keys(3);
    const unblock = await blockIngestion();
    const target = ingestor({ concurrency: 1 });
    const sent = [
      ...senders.map((one, n) => target.single(one, singleBody(`in turn ${n}`))),
      target.single(senders[0]!, singleBody("in turn 3")),
      target.single(holder("other"), singleBody("in turn other")),
    ];
    await expect.poll(callsInDatabase).toBe(1);
    await unblock();
    await Promise.all(sent);
    expect(await names("in turn")).toEqual(["in turn 0", "in turn 1", "in turn other", "in turn 2", "in turn 3"]);
  });
});

describe("when the database takes too long", () => {
  // A key has one call of single events in progress at a time.
  it.each([
    ["single", 1],
    ["batch", 2],
  ] as const)("a %s is refused, and its call keeps its place until it ends", async (form, places) => {
    const unblock = await blockIngestion();
    const target = ingestor({ concurrency: places, batchConcurrency: places, answerMsMax: 300 });
    const send = (name: string) =>
      form === "single" ? target.single(holder(), singleBody(name)) : target.batch(holder(), batchBody(name));
    // All places taken, and one or two in the queue.
    const results = await Promise.allSettled([send(`late ${form} 1`), send(`late ${form} 2`), send(`late ${form} 3`)]);
    expect(results.map(outcomeOf)).toEqual([OverdueError, OverdueError, OverdueError]);
    await expect.poll(callsInDatabase).toBe(places);
    await expect(send(`late ${form} 4`)).rejects.toBeInstanceOf(OverdueError);
    expect(await callsInDatabase()).toBe(places);
    await unblock();
    await expect.poll(() => names(`late ${form}`)).toHaveLength(places);
    await expect.poll(async () => outcomeOf((await Promise.allSettled([send(`late ${form} 5`)]))[0])).toBe("taken");
    // What waited in the queue was never sent.
    const sent = Array.from({ length: places }, (_, n) => `late ${form} ${n + 1}`);
    expect((await names(`late ${form}`)).toSorted()).toEqual([...sent, `late ${form} 5`]);
  });
});

it("another call of a key is sent while one is overdue, if a place is free", async () => {
  const unblock = await blockIngestion();
  const target = ingestor({ concurrency: 2, answerMsMax: 300 });
  for (const calls of [1, 2, 2]) {
    await expect(target.single(holder(), singleBody("overdue"))).rejects.toBeInstanceOf(OverdueError);
    await expect.poll(callsInDatabase).toBe(calls);
  }
  await unblock();
  await expect.poll(() => names("overdue")).toHaveLength(2);
});

describe("bodies beyond what the process can hold", () => {
  const padded = (bytes: number, name = "padded") => JSON.stringify(event(name)).padEnd(bytes);
  const full = envelope(
    "SERVICE_UNAVAILABLE",
    "The service is not available for the moment. Send the same request again.",
    { reason: "This key has used up its share of the process's memory for request bodies." },
  );
  const expectFull = (reply: Reply): void => {
    expect({ status: reply.status, body: reply.body }).toEqual({ status: 503, body: full });
    expect(reply.headers.get("Retry-After")).toBe("1");
  };

  const open = (bytes: number, more = {}, key = fixture.keys.test): RawConnection => {
    const connection = openConnection(fixture.service.url);
    undo.push(() => connection.socket.destroy());
    const headers = { Host: "svc", Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
    connection.write(headOf("POST /v1/events HTTP/1.1", { ...headers, "Content-Length": bytes, ...more }));
    return connection;
  };

  /** Whether a body of this size would be read now, without sending one. */
  async function fits(bytes: number): Promise<boolean> {
    const connection = open(bytes, { Expect: "100-continue" });
    await expect.poll(() => connection.answers()).toHaveLength(1);
    connection.socket.destroy();
    return connection.answers()[0]?.status === 100;
  }

  /** Sends all but the last byte of a body and waits until the service holds it. */
  async function holdBody(bytes: number): Promise<RawConnection> {
    const connection = open(bytes);
    connection.write(padded(bytes - 1));
    await expect.poll(() => fits(BUDGET - bytes + 2)).toBe(false);
    return connection;
  }

  it("are refused at once, also if their length is not declared, and accepted when there is room again or by another key", async () => {
    const held = await holdBody(90_000);
    expectFull(await fixture.single(padded(20_000)));
    const live = { Authorization: `Bearer ${fixture.keys.live}` };
    expect((await fixture.post("/v1/events", padded(20_000), live)).status).toBe(202);
    expect((await fixture.single(padded(5_000))).status).toBe(202);
    const headers = { Authorization: `Bearer ${fixture.keys.test}`, "Content-Type": "application/json" };
    const chunks = (async function* () {
      for (let n = 0; n < 20; n++) yield await Promise.resolve(Buffer.alloc(1_000, " "));
    })();
    const init = { method: "POST", headers, body: chunks, duplex: "half" } as unknown as RequestInit;
    expect((await fetch(`${fixture.service.url}/v1/events`, init)).status).toBe(503);
    held.write(" ");
    await expect.poll(() => held.answers()).toMatchObject([{ status: 202 }]);
    expect((await fixture.single(padded(20_000))).status).toBe(202);
    const abandoned = await holdBody(90_000);
    abandoned.socket.destroy();
    await expect.poll(() => fits(BUDGET)).toBe(true);
  });

  it("count in the administrative API, too, where one address can hold three quarters of the total", async () => {
    const held = await holdBody(90_000);
    const live = open(50_000, {}, fixture.keys.live);
    live.write(padded(49_999));
    const body = JSON.stringify({ name: "New", slug: "new" }).padEnd(15_000);
    const create = (text: string) => fixture.service.request("POST", "/projects", { by: fixture.owner, body: text });
    // Retried with a request that would be refused anyway, until both are held.
    const refusal = async () => ((await create("{".padEnd(15_000))).body as { error: { reason: string } }).error.reason;
    await expect
      .poll(refusal)
      .toBe("This IP address has used up its share of the process's memory for request bodies.");
    expect((await create(body)).status).toBe(503);
    held.socket.destroy();
    await expect.poll(async () => (await create(body)).status).toBe(201);
  });

  it("are released by every refusal, and count with their decompressed size", async () => {
    for (const body of ["{".padEnd(90_000), padded(90_000, ""), Buffer.alloc(90_000, 0xff), padded(90_000)])
      expect((await fixture.single(body)).status).not.toBe(503);
    const send = (bytes: number) => fixture.post("/v1/events", gzipSync(padded(bytes)), { "Content-Encoding": "gzip" });
    expectFull(await send(BUDGET + 1));
    expect((await send(BUDGET)).status).toBe(202);
  });

  it("stay counted while an abandoned call is in progress", async () => {
    const unblock = await blockIngestion();
    const reply = await fixture.post("/v1/events/batch", batchBody("given up").padEnd(90_000));
    expect(reply.status).toBe(503);
    expect(reply.body).toMatchObject({ error: { reason: "The database does not answer." } });
    expectFull(await fixture.single(padded(20_000)));
    await unblock();
    await expect.poll(async () => (await fixture.single(padded(20_000))).status).toBe(202);
    expect(await names("given up")).toEqual(["given up"]);
  });
});

const text = (more: object = {}) => JSON.stringify({ customerId: "c", event: "e", ...more });
/** Refused by the database with a data exception for the whole call. */
const poison = () => `{"customerId":"c","event":"poison","properties":{"a":0.${"1".repeat(20_000)}}}`;
const brief = ({ outcome }: SingleOutcome) => ("code" in outcome ? outcome.code : outcome.duplicate ? "again" : "new");
const settledAs = (results: PromiseSettledResult<SingleOutcome>[]) =>
  results.map((result) =>
    result.status === "fulfilled" ? brief(result.value) : (result.reason as { code?: string }).code,
  );

describe("single events that arrive together", () => {
  it("share calls, and keep their order of arrival", async () => {
    const target = ingestor({ waitingMax: 10_000 });
    const before = await fixture.stored();
    const answers = await Promise.all(Array.from({ length: 300 }, () => target.single(holder(), text())));
    const ids = answers.map(({ outcome }) => ("eventId" in outcome ? outcome.eventId : ""));
    expect(new Set(ids).size).toBe(300);
    expect(ids).toEqual(ids.toSorted());
    const after = await fixture.stored();
    // The first is sent at once and alone, the others while it is in progress.
    expect([after.events - before.events, after.batches - before.batches]).toEqual([300, 2]);
  });

  it("do not fail because the database refuses a neighbour", async () => {
    const target = ingestor({ waitingMax: 10_000 });
    const before = await fixture.stored();
    const bodies = Array.from({ length: 200 }, (_, n) => (n % 67 === 5 ? poison() : text()));
    const results = await Promise.allSettled(bodies.map((body) => target.single(holder(), body)));
    expect(settledAs(results)).toEqual(bodies.map((body) => (body.includes("poison") ? "22003" : "new")));
    expect((await fixture.stored()).events - before.events).toBe(197);
  });

  it("of several keys are not mixed, and an invalid key fails alone", async () => {
    const target = ingestor({ waitingMax: 10_000 });
    const keys = [keyHash, hashCredential(fixture.keys.live), hashCredential("svc_test_unknown")];
    const results = await Promise.allSettled(
      Array.from({ length: 60 }, (_, n) =>
        target.single({ ...holder(), keyHash: keys[n % 3]! }, text({ event: `mixed ${n % 3}` })),
      ),
    );
    expect(settledAs(results)).toEqual(Array.from({ length: 60 }, (_, n) => (n % 3 === 2 ? "SV001" : "new")));
    const rows = await fixture.service.db.sql`
      select environment, event, count(*)::integer as count from svc_inspect.events where event like 'mixed%'
      group by 1, 2 order by 1`;
    expect(rows.map((row) => ({ ...row }))).toEqual([
      { environment: "live", event: "mixed 1", count: 20 },
      { environment: "test", event: "mixed 0", count: 20 },
    ]);
  });
});
