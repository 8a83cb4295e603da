import fc from "fast-check";
import { expect, it } from "vitest";
import { exactJson, withoutNotation } from "../../../fuzz/exact.js";
import { propertyRuns } from "../../support/property-runs.js";
import type { Reply } from "../../support/service.js";
import { eventIds } from "./answers.js";
import { useIngest } from "./fixture.js";

const fixture = await useIngest();

/** How a value is written as JSON: order of members, digits and escapes. All styles of a value mean the same. */
const STYLES = ["plain", "ornate", "reversed"] as const;
type Style = (typeof STYLES)[number];

/** A JSON value as text in one of several spellings that jsonb holds equal. */
function spell(value: unknown, style: Style): string {
  if (typeof value === "number") return spellNumber(JSON.stringify(value), style);
  if (typeof value === "string") return spellText(value, style);
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value))
    return `[${value.map((item) => spell(item, style)).join(style === "ornate" ? " , " : ",")}]`;
  const members = Object.entries(value).map(([name, member]) => `${spellText(name, style)}:${spell(member, style)}`);
  return `{${(style === "plain" ? members : members.reverse()).join(",")}}`;
}

function spellNumber(shortest: string, style: Style): string {
  if (style === "plain" || /e/.test(shortest)) return shortest;
  if (style === "ornate") return shortest.includes(".") ? `${shortest}00` : `${shortest}.0`;
  return `${shortest}e0`;
}

function spellText(text: string, style: Style): string {
  if (style !== "ornate") return JSON.stringify(text);
  const escapes = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at).toString(16).padStart(4, "0"));
  return `"${escapes.map((hex) => `\\u${hex}`).join("")}"`;
}

const MINUTES_FROM_UTC: Readonly<Record<Style, number>> = { plain: 0, ornate: 60, reversed: -330 };

/** An instant in milliseconds as a timestamp; the styles differ in offset and fraction. */
function spellInstant(instant: number, style: Style): string {
  const minutes = MINUTES_FROM_UTC[style];
  if (minutes === 0) return new Date(instant).toISOString();
  const local = new Date(instant + minutes * 60_000).toISOString().replace("Z", "");
  const clock = new Date(Math.abs(minutes) * 60_000).toISOString().slice(11, 16);
  return `${local}000${minutes < 0 ? "-" : "+"}${clock}`;
}

interface Request {
  path: "/v1/events" | "/v1/events/batch";
  operations: ({ instant?: number } | { traits: unknown })[];
}

const payload = fc.dictionary(fc.constantFrom("p", "q", "r"), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 });
/** Few keys and small payloads, so that requests collide: keys are shared within and across requests. */
const track = fc.record(
  {
    customerId: fc.constantFrom("a", "b"),
    event: fc.constantFrom("x", "y"),
    properties: fc.oneof(fc.constant({}), payload),
    instant: fc.constantFrom(Date.parse("2026-03-02T10:00:00Z"), Date.parse("2026-03-03T10:00:00.250Z")),
    idempotencyKey: fc.nat({ max: propertyRuns(100) }).map((n) => `key ${n}`),
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
/** The request to repeat, of this run or an earlier one, and its spelling. */
const repetition = fc.record({ which: fc.nat(), earlier: fc.boolean(), style });

function send({ path, operations }: Request, as: Style): Promise<Reply> {
  const texts = operations.map((each) => {
    if (!("instant" in each)) return spell(each, as);
    const { instant, ...others } = each;
    return spell({ ...others, timestamp: spellInstant(instant, as) }, as);
  });
  return fixture.post(path, path === "/v1/events" ? texts.join("") : `{"events":[${texts.join(",")}]}`);
}

/** Everything stored of track operations, row by row, and the number of identify operations, which have no keys. */
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

it("repeating any accepted request with its idempotency keys changes nothing, however it is spelled and sent", async () => {
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
    { numRuns: propertyRuns(30) },
  );
  // The generator must produce both.
  expect(Math.min(seen[202], seen[409])).toBeGreaterThan(0);
});

function expectSame(again: Reply, original: Reply, seen: Record<202 | 409, number>): void {
  expect(again.status).toBe(original.status);
  seen[original.status as 202 | 409] += 1;
  if (original.status === 409) {
    // Another of its keys can be named, because later requests used keys, too.
    expect(again.body).toMatchObject({ error: { code: "IDEMPOTENCY_CONFLICT" } });
    return;
  }
  expect(original.status).toBe(202);
  expect(eventIds(again)).toEqual(eventIds(original));
  const single = "duplicate" in (original.body as object);
  expect(again.body).toEqual(single ? { ...(original.body as object), duplicate: true } : original.body);
}

/** The hashes of properties given as JSON texts, in order. */
async function hashes(texts: readonly string[]): Promise<string[]> {
  const rows = await fixture.service.db.sql<{ hash: string }[]>`
    select svc.payload_hash('c', 'e', p.value::jsonb, null::timestamptz)::text as hash
    from unnest(${texts as string[]}::text[]) with ordinality as p (value, n) order by p.n`;
  return rows.map(({ hash }) => hash);
}

/** The exact value as one text, with members in order of names. */
function canonical(json: string): string {
  return JSON.stringify(withoutNotation(exactJson(json)), (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

/** Few leaves and shapes, so that payloads differ only slightly, by place or by similar values. */
const similar = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    fc.constantFrom(...'null true false 0 1 1.0 10e-1 -1 "1" "1.50," "1.5," "" "a" "null" {} []'.split(" ")),
    fc.constantFrom("12345678901234567890", "12345678901234567891", "0.1", "0.10", "0.1000000000000000055"),
    fc.constantFrom("1e4", "10000.0", "1e-4", "-0.0001", "10001", "-0"),
    fc.array(tie("value"), { maxLength: 3 }).map((items) => `[${items.join(",")}]`),
    tie("object"),
  ),
  object: fc
    .array(fc.tuple(fc.constantFrom('"a"', '"b"', '"1"', '""'), tie("value")), { maxLength: 3 })
    .map((members) => `{${members.map((member) => member.join(":")).join(",")}}`),
})).object;

it("the hash distinguishes payloads that differ in anything but spelling", async () => {
  const texts = fc.sample(similar, propertyRuns(3_000));
  const of = await hashes(texts);
  const hashOf = new Map<string, string>();
  const payloadOf = new Map<string, string>();
  const wrong: string[] = [];
  for (const [index, json] of texts.entries()) {
    const payload = canonical(json);
    const hash = of[index]!;
    if ((hashOf.get(payload) ?? hash) !== hash) wrong.push(`${json} has two hashes`);
    if ((payloadOf.get(hash) ?? payload) !== payload) wrong.push(`${json} has the hash of ${payloadOf.get(hash)}`);
    hashOf.set(payload, hash);
    payloadOf.set(hash, payload);
  }
  expect(wrong.slice(0, 10)).toEqual([]);
  expect(hashOf.size).toBeGreaterThan(500);
});
