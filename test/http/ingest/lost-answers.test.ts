import { afterAll, describe, expect, it } from "vitest";
import { EVENT_ID, startIngest, taken } from "./fixture.js";
import { startProxy, type Fate } from "./unreliable-proxy.js";

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
    const response = await fetch(proxy.url + path, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${fixture.keys.test}`,
        "Content-Type": "application/json",
        Connection: "close",
        "X-Fate": fate,
      },
      body: JSON.stringify(body),
    });
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
  it("the repetition of an event whose answer was lost answers that event", async () => {
    const key = nextKey();
    const event = { customerId: "c", event: key, properties: { a: 1 }, idempotencyKey: key };
    expect(await send("/v1/events", event, "loseAnswer")).toBeNull();
    const [id] = await idsOf(key);
    for (let n = 0; n < 2; n++) expect(await send("/v1/events", event, "pass")).toEqual(taken(true, id));
    expect(await idsOf(key)).toEqual([id]);
  });

  it("the repetition of a batch whose answer was lost answers its ids", async () => {
    const key = nextKey();
    const events = Array.from({ length: 50 }, (_, n) => ({
      customerId: `c${n % 3}`,
      event: key,
      idempotencyKey: `${key} ${n}`,
    }));
    expect(await send("/v1/events/batch", { events }, "loseAnswer")).toBeNull();
    const ids = await idsOf(key);
    expect(await send("/v1/events/batch", { events }, "pass")).toEqual({ accepted: 50, rejected: 0, eventIds: ids });
    expect(await idsOf(key)).toEqual(ids);
  });

  it("the repetition of a request that did not arrive whole is the first", async () => {
    const key = nextKey();
    const event = { customerId: "c", event: key, idempotencyKey: key };
    expect(await send("/v1/events", event, "loseRequest")).toBeNull();
    expect(await send("/v1/events", event, "pass")).toEqual(taken());
    expect(await idsOf(key)).toHaveLength(1);
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
    for (let round = 0; round < 6; round++) await Promise.all(Array.from({ length: 5 }, (_, n) => insist(round + n)));
  });
});

describe("without an idempotency key", () => {
  it("an event is stored at least once: the repetition of one whose answer was lost is another event", async () => {
    const name = nextKey();
    const event = { customerId: "c", event: name };
    expect(await send("/v1/events", event, "loseAnswer")).toBeNull();
    expect(await send("/v1/events", event, "pass")).toEqual(taken(false, EVENT_ID));
    expect(await idsOf(name)).toHaveLength(2);
  });

  it("an identify of a batch that is repeated is applied again, and ends in the same traits", async () => {
    const [key, customerId] = [nextKey(), `customer of ${keys}`];
    const events = [
      { type: "identify", customerId, traits: { plan: "pro", gone: null } },
      { customerId, event: key, idempotencyKey: key },
    ];
    expect(await send("/v1/events/batch", { events }, "loseAnswer")).toBeNull();
    const ids = await idsOf(key);
    expect(await send("/v1/events/batch", { events }, "pass")).toEqual({ accepted: 2, rejected: 0, eventIds: ids });
    const updates = await fixture.service.db.sql`
      select traits from svc.trait_updates where customer_id = ${customerId}`;
    expect(updates.map(({ traits }) => traits as unknown)).toEqual([events[0]!.traits, events[0]!.traits]);
  });
});
