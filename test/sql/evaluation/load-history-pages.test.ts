import { expect, it } from "vitest";
import { loadHistoryPages, type CustomerRequest } from "../../../src/db/api/evaluation.js";
import { useDatabase, rolledBack } from "../../support/database.js";
import { pagesOf } from "../../support/pages.js";

const ENVIRONMENT = 7;
const START = Date.parse("2026-01-01T00:00:00Z");
const MINUTE = 60_000;

const db = await useDatabase();
const { sql } = db;
// One customer with 10,000 events, alternating between two names, one per minute, among others; not analyzed yet.
await sql`
  insert into svc.events (environment_id, event_seq, customer_id, event, properties, occurred_at, accepted_at)
  select ${ENVIRONMENT}, n, 'long', case when n % 2 = 0 then 'paid' else 'other' end, jsonb_build_object('n', n),
    '2026-01-01T00:00:00Z'::timestamptz + n * interval '1 minute', now()
  from generate_series(1, 10000) as n`;
await sql`
  insert into svc.events (environment_id, event_seq, customer_id, event, properties, occurred_at, accepted_at)
  select ${ENVIRONMENT}, 100000 + n, 'short-' || n, 'paid', '{}', '2026-01-01T00:00:00Z', now()
  from generate_series(1, 1000) as n`;

function asked(customerId: string, after: [number, number], until: [number, number] | null = null): CustomerRequest {
  const order = ([occurredAt, seq]: [number, number]) => ({ occurredAt, seq });
  return { customerId, request: { event: "paid", after: order(after), until: until && order(until) } };
}

async function answers(requests: CustomerRequest[], pageSize = 100): Promise<{ seqs: number[]; complete: boolean }[]> {
  const pages = await sql.begin((tx) => loadHistoryPages(tx, ENVIRONMENT, requests, pageSize));
  return pages.map(({ events, complete }) => ({ seqs: events.map(({ seq }) => seq), complete }));
}

it("returns the events of one name after one place in order, up to and including another", async () => {
  expect(
    await answers([
      asked("long", [START + 10 * MINUTE, 10], [START + 16 * MINUTE, 16]),
      asked("long", [START + 10 * MINUTE, 9], [START + 16 * MINUTE, 15]),
      asked("long", [START + 9_996 * MINUTE, 9_996]),
      asked("nobody", [START, 0]),
    ]),
  ).toEqual([
    { seqs: [12, 14, 16], complete: true },
    { seqs: [10, 12, 14], complete: true },
    { seqs: [9_998, 10_000], complete: true },
    { seqs: [], complete: true },
  ]);
});

it("returns one page if there is more, and says so, with unchanged events and instants in milliseconds", async () => {
  const pages = await sql.begin((tx) => loadHistoryPages(tx, ENVIRONMENT, [asked("long", [START, 0])], 3));
  const event = (n: number) => ({ event: "paid", seq: n, occurredAt: START + n * MINUTE, properties: { n } });
  expect(pages).toEqual([{ events: [2, 4, 6].map(event), complete: false }]);
  // Only the next page shows that this was the last one.
  const last = { seqs: [9_996, 9_998, 10_000], complete: false };
  expect(await answers([asked("long", [START + 9_994 * MINUTE, 9_994])], 3)).toEqual([last]);
  expect(await answers([asked("long", [START + 10_000 * MINUTE, 10_000])], 3)).toEqual([{ seqs: [], complete: true }]);
  await rolledBack(sql, async (tx) => {
    await tx`insert into svc.inbox (environment_id, customer_id, seq, not_before)
      values (${ENVIRONMENT}, 'long', 4, null), (${ENVIRONMENT}, 'long', 8, '2999-01-01Z')`;
    const [page] = await loadHistoryPages(tx, ENVIRONMENT, [asked("long", [START, 0])], 3);
    expect(
      page?.events.map(({ seq }) => seq),
      "those that still wait are left out",
    ).toEqual([2, 6, 10]);
  });
});

it("never splits a millisecond, and orders it by acceptance", async () => {
  await rolledBack(sql, async (tx) => {
    // Within the millisecond, the order by microsecond differs from the order of acceptance.
    await tx`
      insert into svc.events (environment_id, event_seq, customer_id, event, properties, occurred_at, accepted_at)
      values
        (${ENVIRONMENT}, 200001, 'dense', 'paid', '{}', '2026-01-01T00:00:00.000900Z', now()),
        (${ENVIRONMENT}, 200002, 'dense', 'paid', '{}', '2026-01-01T00:00:00.000100Z', now()),
        (${ENVIRONMENT}, 200003, 'dense', 'paid', '{}', '2026-01-01T00:00:00.000500Z', now()),
        (${ENVIRONMENT}, 200004, 'dense', 'paid', '{}', '2026-01-01T00:00:00.001000Z', now())`;
    const read = async (after: [number, number], until: [number, number] | null = null) => {
      const [page] = await loadHistoryPages(tx, ENVIRONMENT, [asked("dense", after, until)], 1);
      return page!.events.map(({ seq }) => seq - 200_000);
    };
    expect(await read([START - 1, 0])).toEqual([1, 2, 3]);
    expect(await read([START, 200_001])).toEqual([2, 3]);
    expect(await read([START - 1, 0], [START, 200_002])).toEqual([1, 2]);
    expect(await read([START, 200_003])).toEqual([4]);
  });
});

it("limits the size of a page, and continues where it ended", async () => {
  await rolledBack(sql, async (tx) => {
    // 60 kB each: incompressible texts, then some that are stored in a kilobyte.
    await tx`
      insert into svc.events (environment_id, event_seq, customer_id, event, properties, occurred_at, accepted_at)
      select ${ENVIRONMENT}, 300000 + n, 'wide', 'paid',
        jsonb_build_object('text', case
          when n <= 40 then (select string_agg(sha512((n * 1000 + i)::text::bytea)::text, '') from generate_series(1, 460) as i)
          else repeat('x', 60000)
        end),
        '2026-01-01T00:00:00Z'::timestamptz + n * interval '1 minute', now()
      from generate_series(1, 80) as n`;
    const seqs: number[] = [];
    let pages = 0;
    for (let place: [number, number] = [START, 0]; ; pages++) {
      const [page] = await loadHistoryPages(tx, ENVIRONMENT, [asked("wide", place)], 400);
      const { events, complete } = page!;
      expect(Buffer.byteLength(JSON.stringify(events))).toBeLessThan(400 * 1_600 + 64 * 1_024);
      seqs.push(...events.map(({ seq }) => seq - 300_000));
      if (complete) break;
      const { occurredAt, seq } = events.at(-1)!;
      place = [occurredAt, seq];
    }
    expect(seqs).toEqual(Array.from({ length: 80 }, (_, n) => n + 1));
    expect(pages).toBe(7);
    // At least one event, however small the page is.
    const [least] = await loadHistoryPages(tx, ENVIRONMENT, [asked("wide", [START, 0])], 1);
    expect(least!.events.map(({ seq }) => seq)).toEqual([300_001]);
  });
});

it("reads a range of an index, whatever the length of the history and the statistics", async () => {
  const buffers = async (from: number) => {
    const requests = JSON.stringify([
      { customerId: "long", event: "paid", after: { occurredAt: START + from * MINUTE, seq: from }, until: null },
    ]);
    const pages = () =>
      pagesOf(sql, sql`select * from svc_api.load_history_pages(${ENVIRONMENT}, ${requests}::text::json, 32)`);
    // The first call also reads the catalogs.
    await pages();
    return pages();
  };
  // A page of 32 in 64 events, each looked up in the inbox.
  for (const from of [0, 5_000, 9_900]) expect(await buffers(from)).toBeLessThan(300);
});
