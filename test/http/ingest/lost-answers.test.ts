import { expect, it } from "vitest";
import { eventIds } from "./answers.js";
import { useIngest } from "./fixture.js";

// Answers lost between the service and its database; test/spec and test/client cover those between client and service.

const fixture = await useIngest();

/** Requests per sender, and events per batch. */
const [SINGLES, BATCHES, BATCH] = [30, 8, 100];

/** Terminates every connection of the service `times` times while `work` runs. */
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

it("no event is lost or duplicated when connections are killed under load, with or without keys", async () => {
  const ids: string[] = [];
  let refused = 0;
  /** Without a key, the outcome of a 503 is unknown, so such a request is sent once and relies on the service's retries. */
  const sendAll = async (sender: string, requests: number, operations: number) => {
    for (let n = 0; n < requests; n++) {
      const keyed = n % 2 === 0;
      const events = Array.from({ length: operations }, (_, position) => ({
        customerId: `c${position % 10}`,
        event: `${sender} ${n} ${position}`,
        ...(keyed && { idempotencyKey: `${sender} ${n} ${position}` }),
      }));
      const request = () => (operations === 1 ? fixture.single(events[0]) : fixture.batch(events));
      let reply = await request();
      // As the specification asks of clients.
      while (keyed && reply.status === 503) reply = await request();
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
