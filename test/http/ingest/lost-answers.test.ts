import { afterAll, describe, expect, it } from "vitest";
import type { Reply } from "../../support/service.js";
import { eventIds } from "./answers.js";
import { startIngest, taken } from "./fixture.js";
import { type Fate, startProxy } from "./unreliable-proxy.js";

const fixture = await startIngest();
const proxy = await startProxy(fixture.service.url);
afterAll(async () => {
  await proxy.stop();
  await fixture.service.stop();
});

const BREAKS: Exclude<Fate, "pass">[] = ["loseAnswer", "loseClient", "loseRequest"];
let keys = 0;
const nextKey = () => `key ${++keys}`;

/** Sends a request through the proxy; null where the connection breaks before the answer. */
async function send(path: string, body: object, fate: Fate): Promise<unknown> {
  try {
    const authorization = { Authorization: `Bearer ${fixture.keys.test}`, "Content-Type": "application/json" };
    const headers = { ...authorization, Connection: "close", "X-Fate": fate };
    const response = await fetch(proxy.url + path, { method: "POST", headers, body: JSON.stringify(body) });
    expect(response.status).toBe(202);
    return await response.json();
  } catch (error) {
    if (error instanceof TypeError) return null; // of fetch: the network's fault
    throw error;
  }
}

/** The ids of the stored events of a name, in their order. */
async function idsOf(event: string): Promise<string[]> {
  const rows = await fixture.service.db.sql<{ id: string }[]>`
    select event_id as id from svc_inspect.events where event = ${event} order by event_id`;
  return rows.map(({ id }) => id);
}

describe("with an idempotency key", () => {
  const lose = async (fate: Fate) => {
    const key = nextKey();
    const event = { customerId: "c", event: key, properties: { a: 1 }, idempotencyKey: key };
    expect(await send("/v1/events", event, fate)).toBeNull();
    const ids = await idsOf(key);
    expect(await send("/v1/events", event, "pass")).toEqual(taken(ids.length === 1, ids[0]));
    expect(await idsOf(key)).toHaveLength(1);
    return ids;
  };

  it("the repetition of an event whose answer was lost answers that event", async () => {
    expect(await lose("loseAnswer")).toHaveLength(1);
  });

  it("the repetition of a request that did not arrive whole is the first", async () => {
    expect(await lose("loseRequest")).toEqual([]);
  });

  it("an insistent client has each event stored once, wherever the connection breaks and whatever is still at work", async () => {
    const insist = async (n: number): Promise<void> => {
      const key = nextKey();
      const events = Array.from({ length: 5 }, (_, position) => ({
        customerId: "c",
        event: key,
        idempotencyKey: `${key} ${position}`,
      }));
      const single = n % 2 === 0;
      const [path, body] = single ? ["/v1/events", events[0]!] : ["/v1/events/batch", { events }];
      // Not one after the other: a client that gives up early repeats while its first try is still being served.
      for (let tries = 0; tries < 6; tries++) await send(path, body, BREAKS[(n + tries) % 3]!);
      const answer = await send(path, body, "pass");
      const ids = await idsOf(key);
      expect(answer).toEqual(single ? taken(true, ids[0]) : { accepted: 5, rejected: 0, eventIds: ids });
      expect(ids).toHaveLength(single ? 1 : 5);
    };
    // Each endpoint with each order of the breaks.
    for (let round = 0; round < 2; round++) await Promise.all(Array.from({ length: 6 }, (_, n) => insist(n)));
  });
});

describe("between the service and its database", () => {
  /** What each sender sends, and how many events a batch has. */
  const [SINGLES, BATCHES, BATCH] = [30, 8, 100];

  /** Ends every connection of the service, whatever it is doing, so many times while `work` is under way. */
  async function underFire(work: Promise<unknown>, times: number): Promise<void> {
    for (let kills = 0; kills < times;) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      const killed = await fixture.service.db.sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'svc test http'`;
      if (killed.length > 0) kills += 1;
    }
    await work;
  }

  /** As a client does by the specification: the same request again after a 503. */
  async function insist(request: () => Promise<Reply>): Promise<Reply> {
    for (;;) {
      const reply = await request();
      if (reply.status !== 503) return reply;
    }
  }

  it("no event is lost or doubled where connections are killed under load, keyed or not", async () => {
    const ids: string[] = [];
    let refused = 0;
    /** Without a key a 503 leaves open what happened, so such a request is sent once; the service's own retries must do. */
    const sendAll = async (sender: string, requests: number, operations: number) => {
      for (let n = 0; n < requests; n++) {
        const keyed = n % 2 === 0;
        const events = Array.from({ length: operations }, (_, position) => ({
          customerId: `c${position % 10}`,
          event: `${sender} ${n} ${position}`,
          ...(keyed && { idempotencyKey: `${sender} ${n} ${position}` }),
        }));
        const request = () => (operations === 1 ? fixture.single(events[0]) : fixture.batch(events));
        const reply = keyed ? await insist(request) : await request();
        if (reply.status === 503) refused += operations;
        else {
          expect(reply.status).toBe(202);
          ids.push(...eventIds(reply));
        }
      }
    };
    const senders = Array.from({ length: 16 }, (_, n) => sendAll(`single ${n}`, SINGLES, 1));
    for (const n of [1, 2]) senders.push(sendAll(`batch ${n}`, BATCHES, BATCH));
    await underFire(Promise.all(senders), 3);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length + refused).toBe(16 * SINGLES + 2 * BATCHES * BATCH);
    const [row] = await fixture.service.db.sql<[{ answered: number; doubled: number; stored: number; inbox: number }]>`
      with sent as (select event_seq, event from svc.events where event ~ '^(single|batch) ')
      select
        (select count(*) from sent as v join unnest(${ids}::text[]) as i (id) on svc.event_id(v.event_seq) = i.id)::integer as answered,
        (select count(*) from (select 1 from sent group by event having count(*) > 1) as d)::integer as doubled,
        (select count(*) from sent)::integer as stored,
        (select count(*) from svc.inbox where seq in (select event_seq from sent))::integer as inbox`;
    expect(row).toMatchObject({ answered: ids.length, doubled: 0, inbox: row.stored });
    expect(row.stored - ids.length).toBeLessThanOrEqual(refused);
    expect((await fixture.single({ customerId: "c", event: "after" })).status).toBe(202);
  });
});
