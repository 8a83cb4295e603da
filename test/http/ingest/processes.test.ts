import fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import { useDatabase } from "../../support/database.js";
import { propertyRuns } from "../../support/property-runs.js";
import { startServiceProcess } from "../../support/service-process.js";
import { createTenant } from "../../support/tenant.js";

// Two processes of the service on one database, through which alone they coordinate.

const db = await useDatabase();
const processes = await Promise.all([0, 1].map(() => startServiceProcess(db.url, {}, { role: "http" })));
const tenant = await createTenant(db.sql, processes[0]!.url);
afterAll(() => Promise.all(processes.map((each) => each.stop())));

const ROUNDS = propertyRuns(3);

interface Answer {
  eventId?: string;
  duplicate?: boolean;
  eventIds?: string[];
  error?: { code: string };
}

async function send(to: number, path: string, body: object) {
  const response = await tenant.send(path, body, { to: processes[to % 2]!.url });
  return { status: response.status, body: (await response.json()) as Answer };
}

/** An event under a key; `side` makes another payload of it. */
const keyed = (name: string, n: number, side = 0) => ({
  customerId: `c${n % 3}`,
  event: name,
  properties: { side },
  idempotencyKey: `${name} ${n}`,
});

/** The stored events of a name by key; fails if a key has more than one. */
async function storedOf(name: string): Promise<Map<string, { id: string; side: number }>> {
  const rows = await db.sql<{ key: string; id: string; side: number }[]>`
    select k.idempotency_key as key, svc.event_id(v.event_seq) as id, (v.properties ->> 'side')::integer as side
    from svc.events as v
    left join svc.idempotency_keys as k on k.environment_id = v.environment_id and k.event_seq = v.event_seq
    where v.event = ${name}`;
  const stored = new Map(rows.map(({ key: of, id, side }) => [of, { id, side }]));
  expect(stored.size).toBe(rows.length);
  return stored;
}

const range = (length: number) => Array.from({ length }, (_, n) => n);

it("batches that share keys in different orders agree on the events, without deadlock", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const name = `batches ${round}`;
    const orders = fc.sample(fc.shuffledSubarray(range(300), { minLength: 200 }), { numRuns: 8, seed: round });
    const answers = await Promise.all(
      orders.map((order, to) => send(to, "/v1/events/batch", { events: order.map((n) => keyed(name, n)) })),
    );
    const stored = await storedOf(name);
    expect(stored.size).toBe(new Set(orders.flat()).size);
    for (const [index, { status, body }] of answers.entries()) {
      expect(status).toBe(202);
      expect(body.eventIds).toEqual(orders[index]!.map((n) => stored.get(`${name} ${n}`)?.id));
    }
  }
});

it("of concurrent batches and single events with two payloads, accepted ones are stored, and conflicts store nothing", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const name = `mixed ${round}`;
    const requests = fc.sample(
      fc.tuple(fc.shuffledSubarray(range(20), { minLength: 1, maxLength: 8 }), fc.constantFrom(0, 0, 0, 1)),
      { numRuns: 40, seed: round },
    );
    // Half of them are single events; both processes get as many of each.
    const orders = requests.map(([order], index) => (index % 4 < 2 ? order.slice(0, 1) : order));
    const answers = await Promise.all(
      orders.map((order, to) => {
        const events = order.map((n) => keyed(name, n, requests[to]![1]));
        return to % 4 < 2 ? send(to, "/v1/events", events[0]!) : send(to, "/v1/events/batch", { events });
      }),
    );
    const stored = await storedOf(name);
    const accepted = new Set<string>();
    const first = answers.flatMap(({ body }) => (body.duplicate === false ? [body.eventId] : []));
    expect(new Set(first).size).toBe(first.length);
    for (const [index, { status, body }] of answers.entries()) {
      const [order, side] = [orders[index]!, requests[index]![1]];
      if (status === 409) {
        expect(body.error?.code).toBe("IDEMPOTENCY_CONFLICT");
        const opposing = order.filter((n) => stored.get(`${name} ${n}`)?.side === 1 - side);
        expect(opposing).not.toEqual([]);
        continue;
      }
      expect(status).toBe(202);
      const ids = body.eventIds ?? [body.eventId];
      for (const [position, id] of ids.entries()) {
        const of = `${name} ${order[position]}`;
        accepted.add(of);
        expect(stored.get(of)).toEqual({ id, side });
      }
    }
    expect(new Set(stored.keys())).toEqual(accepted);
  }
});
