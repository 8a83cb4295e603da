import { afterAll, expect, it } from "vitest";
import type { Reply } from "../../support/service.js";
import { startIngest } from "./fixture.js";

const fixture = await startIngest();
afterAll(() => fixture.service.stop());

/** Ends every connection of the service, whatever it is doing, and answers how many those were. */
async function killConnections(): Promise<number> {
  const rows = await fixture.service.db.sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'svc test http'`;
  return rows.length;
}

/** Runs `work`, and kills the connections so many times while it is under way. */
async function underFire(work: Promise<unknown>, times: number): Promise<void> {
  for (let kills = 0; kills < times;) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    if ((await killConnections()) > 0) kills += 1;
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
  const sendSingles = async (sender: number) => {
    for (let n = 0; n < 60; n++) {
      // Without a key a 503 leaves open what happened, so such an event is sent once; the service's own retries must do.
      const keyed = n % 2 === 0;
      const body = {
        customerId: `c${sender}`,
        event: `single ${sender} ${n}`,
        ...(keyed && { idempotencyKey: `${sender} ${n}` }),
      };
      const reply = keyed ? await insist(() => fixture.single(body)) : await fixture.single(body);
      if (reply.status === 503) refused += 1;
      else {
        expect(reply.status).toBe(202);
        ids.push((reply.body as { eventId: string }).eventId);
      }
    }
  };
  const sendBatches = async (sender: number) => {
    for (let n = 0; n < 12; n++) {
      const events = Array.from({ length: 200 }, (_, position) => ({
        customerId: `c${position % 10}`,
        event: `batch ${sender} ${n} ${position}`,
        ...(n % 2 === 0 && { idempotencyKey: `${sender} ${n} ${position}` }),
      }));
      const reply = n % 2 === 0 ? await insist(() => fixture.batch(events)) : await fixture.batch(events);
      if (reply.status === 503) refused += 200;
      else {
        expect(reply.status).toBe(202);
        ids.push(...(reply.body as { eventIds: string[] }).eventIds);
      }
    }
  };
  await underFire(
    Promise.all([...Array.from({ length: 16 }, (_, n) => sendSingles(n)), sendBatches(100), sendBatches(101)]),
    3,
  );
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.length + refused).toBe(16 * 60 + 2 * 12 * 200);
  const [row] = await fixture.service.db.sql<[{ answered: number; doubled: number; stored: number; inbox: number }]>`
    select
      (select count(*) from svc.events as v join unnest(${ids}::text[]) as i (id) on svc.event_id(v.event_seq) = i.id)::integer as answered,
      (select count(*) from (select 1 from svc.events group by event having count(*) > 1) as d)::integer as doubled,
      (select count(*) from svc.events)::integer as stored,
      (select count(*) from svc.inbox)::integer as inbox`;
  expect(row).toMatchObject({ answered: ids.length, doubled: 0, inbox: row.stored });
  expect(row.stored - ids.length).toBeLessThanOrEqual(refused);
  expect((await fixture.single({ customerId: "c", event: "after" })).status).toBe(202);
});
