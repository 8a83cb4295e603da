import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Reply } from "../../support/service.js";
import { eventIds } from "./answers.js";
import { startIngest, type IngestFixture } from "./fixture.js";
import { spell, spellInstant, STYLES, type Style } from "./spelling.js";

let fixture: IngestFixture;
beforeAll(async () => {
  fixture = await startIngest();
});
afterAll(() => fixture.service.stop());

interface Track {
  customerId: string;
  event: string;
  properties?: unknown;
  instant?: number;
  idempotencyKey: string;
}
type Operation = Track | { type: "identify"; customerId: string; traits: unknown };
interface Request {
  path: "/v1/events" | "/v1/events/batch";
  operations: Operation[];
}

const payload = fc.dictionary(fc.constantFrom("p", "q", "r"), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 });
/** Few keys and small payloads, so that requests meet: keys are shared within and across requests. */
const track = fc.record(
  {
    customerId: fc.constantFrom("a", "b"),
    event: fc.constantFrom("x", "y"),
    properties: fc.oneof(fc.constant({}), payload),
    instant: fc.constantFrom(Date.parse("2026-03-02T10:00:00Z"), Date.parse("2026-03-03T10:00:00.250Z")),
    idempotencyKey: fc.nat({ max: 400 }).map((n) => `key ${n}`),
  },
  { requiredKeys: ["customerId", "event", "idempotencyKey"] },
);
const identify = fc.record({
  type: fc.constant("identify" as const),
  customerId: fc.constantFrom("a", "b"),
  traits: payload,
});
const operation = fc.oneof({ weight: 5, arbitrary: track }, { weight: 1, arbitrary: identify });
const request: fc.Arbitrary<Request> = fc.oneof(
  track.map((only) => ({ path: "/v1/events" as const, operations: [only] })),
  fc
    .array(operation, { minLength: 1, maxLength: 6 })
    .map((operations) => ({ path: "/v1/events/batch" as const, operations })),
);
const style = fc.constantFrom(...STYLES);
/** Which request is sent again, one of this run's or of an earlier one's; and in which spelling. */
const repetition = fc.record({ which: fc.nat(), earlier: fc.boolean(), style });

function send({ path, operations }: Request, as: Style): Promise<Reply> {
  const texts = operations.map((each) => {
    if (!("instant" in each)) return spell(each, as);
    const { instant, ...others } = each;
    return spell({ ...others, timestamp: spellInstant(instant, as) }, as);
  });
  return fixture.post(path, path === "/v1/events" ? texts.join("") : `{"events":[${texts.join(",")}]}`);
}

/** All that was stored of track operations, row by row, and how much of identify operations, which have no keys. */
async function contents(): Promise<{ tracks: object; identifies: number; inbox: number; batches: number }> {
  const [row] = await fixture.service.db.sql<
    [{ events: string; keys: string; tracked: string; identifies: number; inbox: number; batches: number }]
  >`
    select
      (select md5(string_agg(v::text, '' order by v.event_seq)) from svc.events as v) as events,
      (select md5(string_agg(k::text, '' order by k.idempotency_key)) from svc.idempotency_keys as k) as keys,
      (
        select md5(string_agg(i::text, '' order by i.seq)) from svc.inbox as i
        where i.seq in (select v.event_seq from svc.events as v)
      ) as tracked,
      (select count(*) from svc.trait_updates)::integer as identifies,
      (select count(*) from svc.inbox)::integer as inbox,
      (select count(*) from svc.ingest_batches)::integer as batches`;
  const { identifies, inbox, batches, ...tracks } = row;
  return { tracks, identifies, inbox, batches };
}

it("repeating any accepted request with its idempotency keys changes nothing, however it is spelt and sent", async () => {
  const history: { sent: Request; reply: Reply }[] = [];
  const seen = { 202: 0, 409: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(request, style), { minLength: 1, maxLength: 4 }),
      fc.array(repetition, { minLength: 1, maxLength: 6 }),
      fc.boolean(),
      async (requests, repetitions, atOnce) => {
        const earlier = [...history];
        const now: typeof history = [];
        for (const [sent, as] of requests) now.push({ sent, reply: await send(sent, as) });
        history.push(...now);
        const before = await contents();

        const chosen = repetitions.map(({ which, earlier: old, style: as }) => {
          const from = old && earlier.length > 0 ? earlier : now;
          return { ...from[which % from.length]!, as };
        });
        const again: Reply[] = [];
        if (atOnce) again.push(...(await Promise.all(chosen.map(({ sent, as }) => send(sent, as)))));
        else for (const { sent, as } of chosen) again.push(await send(sent, as));

        for (const [index, { reply }] of chosen.entries()) expectSame(again[index]!, reply, seen);
        // Without keys, the identify operations of an accepted batch are applied again.
        const identifies = chosen
          .filter(({ reply }) => reply.status === 202)
          .map(({ sent }) => sent.operations.filter((each) => "traits" in each).length)
          .filter((count) => count > 0);
        const applied = identifies.reduce((sum, count) => sum + count, 0);
        expect(await contents()).toEqual({
          tracks: before.tracks,
          identifies: before.identifies + applied,
          inbox: before.inbox + applied,
          batches: before.batches + identifies.length,
        });
      },
    ),
    { numRuns: 120 },
  );
  // The generator is worth its while only where it makes both.
  expect(Math.min(seen[202], seen[409])).toBeGreaterThan(20);
});

function expectSame(again: Reply, original: Reply, seen: Record<202 | 409, number>): void {
  expect(again.status).toBe(original.status);
  seen[original.status as 202 | 409] += 1;
  if (original.status === 409) {
    // Which of its keys is named may change, because later requests took keys too.
    expect(again.body).toMatchObject({ error: { code: "IDEMPOTENCY_CONFLICT" } });
    return;
  }
  expect(original.status).toBe(202);
  expect(eventIds(again)).toEqual(eventIds(original));
  const single = "duplicate" in (original.body as object);
  expect(again.body).toEqual(single ? { ...(original.body as object), duplicate: true } : original.body);
}
