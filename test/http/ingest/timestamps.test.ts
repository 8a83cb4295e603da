import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PUNCTUAL_MILLISECONDS } from "../../../src/engine/timers.js";
import { parseTimestamp } from "../../../src/ingestion/timestamp.js";
import { eventIds } from "./answers.js";
import { expectRefusal, startIngest, type IngestFixture } from "./fixture.js";

let fixture: IngestFixture;
beforeAll(async () => {
  fixture = await startIngest();
});
afterAll(() => fixture.service.stop());

const at = (timestamp: string) => ({ customerId: "c", event: "e", timestamp });

/** So that no number is negative where SQL takes it apart. */
const MS_FROM_YEAR_1_TO_1970 = 62_135_596_800_000;

/** When the event of an answer occurred and was accepted, to the microsecond. */
async function readBack(body: unknown): Promise<{ occurred: string; accepted: string }> {
  const { eventId } = body as { eventId: string };
  const [row] = await fixture.service.db.sql<[{ occurred: string; accepted: string }]>`
    select to_char(occurred_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') as occurred,
      to_char(accepted_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') as accepted
    from svc_inspect.events where event_id = ${eventId}`;
  return row;
}

describe("a timestamp is taken as the instant that it names:", () => {
  it.each([
    ["2026-03-02T10:00:00Z", "2026-03-02 10:00:00.000000"],
    ["2026-03-02T10:00:00.5Z", "2026-03-02 10:00:00.500000"],
    ["2026-03-02T10:00:00.123456Z", "2026-03-02 10:00:00.123456"],
    ["2026-03-02T10:00:00.123456789Z", "2026-03-02 10:00:00.123457"],
    ["2026-03-02T10:00:00.0000005Z", "2026-03-02 10:00:00.000000"],
    ["2026-03-02T10:00:00.0000015Z", "2026-03-02 10:00:00.000002"],
    ["2026-03-02T10:00:00.999999999Z", "2026-03-02 10:00:01.000000"],
    ["2026-03-02T10:00Z", "2026-03-02 10:00:00.000000"],
    ["2026-03-02t10:00:00z", "2026-03-02 10:00:00.000000"],
    ["2026-03-02T10:00:00+01:00", "2026-03-02 09:00:00.000000"],
    ["2026-03-02T10:00:00-0330", "2026-03-02 13:30:00.000000"],
    ["2026-03-02T10:00:00+05", "2026-03-02 05:00:00.000000"],
    ["2026-03-02T10:00:00-00:00", "2026-03-02 10:00:00.000000"],
    ["2026-03-02T10:00:00+14:00", "2026-03-01 20:00:00.000000"],
    ["2026-03-02T10:00:00-15:59", "2026-03-03 01:59:00.000000"],
    ["2024-02-29T23:59:59Z", "2024-02-29 23:59:59.000000"],
    ["2000-02-29T00:00:00Z", "2000-02-29 00:00:00.000000"],
    ["1970-01-01T00:00:00Z", "1970-01-01 00:00:00.000000"],
    ["1600-07-04T00:00:00Z", "1600-07-04 00:00:00.000000"],
    ["0001-01-01T00:00:00Z", "0001-01-01 00:00:00.000000"],
    ["0001-01-01T01:00:00+01:00", "0001-01-01 00:00:00.000000"],
    ["9999-12-31T23:59:59.999Z", "9999-12-31 23:59:59.999000"],
    ["9999-12-31T23:59:59.999999Z", "9999-12-31 23:59:59.999999"],
    ["9999-12-31T22:59:59-01:00", "9999-12-31 23:59:59.000000"],
  ])("%s", async (timestamp, occurred) => {
    const reply = await fixture.single(at(timestamp));
    expect(reply.status).toBe(202);
    expect((await readBack(reply.body)).occurred).toBe(occurred);
  });
});

it("any timestamp is kept as the instant that src/ingestion reads, which the local engine goes by", async () => {
  const two = (min: number, max: number) => fc.integer({ min, max }).map((n) => String(n).padStart(2, "0"));
  const fraction = fc.oneof(
    fc.constant(""),
    fc.string({ unit: fc.constantFrom("0", "4", "5", "9"), minLength: 1, maxLength: 9 }).map((digits) => `.${digits}`),
    // Halves of a microsecond, which are rounded to even.
    fc.integer({ min: 0, max: 999_999 }).map((n) => `.${String(n).padStart(6, "0")}5`),
  );
  const seconds = fc.tuple(two(0, 59), fraction).map(([second, rest]) => `:${second}${rest}`);
  const timestamp = fc
    .record({
      date: fc.tuple(fc.integer({ min: 2, max: 9998 }), two(1, 12), two(1, 28)),
      time: fc.tuple(two(0, 23), two(0, 59)),
      seconds: fc.option(seconds, { nil: "" }),
      offset: fc.oneof(
        fc.constantFrom("Z", "z"),
        fc
          .tuple(fc.constantFrom("+", "-"), two(0, 15), fc.constantFrom(":", ""), two(0, 59))
          .map((parts) => parts.join("")),
        fc.tuple(fc.constantFrom("+", "-"), two(0, 15)).map((parts) => parts.join("")),
      ),
      letter: fc.constantFrom("T", "t"),
    })
    .map(
      ({ date: [year, month, day], time, seconds: rest, offset, letter }) =>
        `${String(year).padStart(4, "0")}-${month}-${day}${letter}${time.join(":")}${rest}${offset}`,
    );
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(timestamp, { minLength: 50, maxLength: 50 }), async (timestamps) => {
      const reply = await fixture.batch(timestamps.map((each) => ({ ...at(each), event: each })));
      expect(reply.status).toBe(202);
      const rows = await fixture.service.db.sql<{ event: string; milliseconds: number; microseconds: number }[]>`
        select event, floor(us / 1000)::float8 as milliseconds, mod(us, 1000)::integer as microseconds
        from (
          select event, (extract(epoch from occurred_at) * 1000 + ${MS_FROM_YEAR_1_TO_1970}) * 1000 as us
          from svc.events where svc.event_id(event_seq) = any (${eventIds(reply)})
        ) as v`;
      expect(rows).toHaveLength(50);
      const kept = rows.map(({ event, milliseconds, microseconds }) => ({
        event,
        milliseconds: milliseconds - MS_FROM_YEAR_1_TO_1970,
        microseconds,
      }));
      const read = rows.map(({ event }) => ({ event, ...parseTimestamp(event) }));
      expect(kept).toEqual(read);
    }),
    { numRuns: 20, endOnFailure: true }, // a smaller batch would say no more
  );
});

it("an event without a timestamp occurred when it was accepted", async () => {
  const { occurred, accepted } = await readBack((await fixture.single({ customerId: "c", event: "e" })).body);
  expect(occurred).toBe(accepted);
});

const NO_ZONE = "The timestamp has no timezone.";
const NO_FORM = "The timestamp is not an ISO 8601 date-time with timezone.";
const NO_DATE = "The date does not exist.";
const NO_TIME = "The time of day does not exist: hours end at 23, minutes and seconds at 59.";
const NO_OFFSET = "The timezone offset does not exist.";
const NO_YEAR = "The instant is outside the years 1 to 9999 (UTC).";

describe("a timestamp is refused that is", () => {
  it.each([
    ["without a zone", "2026-03-02T10:00:00", NO_ZONE],
    ["without a zone, with a fraction", "2026-03-02T10:00:00.000", NO_ZONE],
    ["without a zone and seconds", "2026-03-02T10:00", NO_ZONE],
    ["without a zone, with a space", "2026-03-02 10:00:00", NO_ZONE],
    ["a date", "2026-03-02", NO_ZONE],
    ["empty", "", NO_FORM],
    ["with a space", "2026-03-02 10:00:00Z", NO_FORM],
    ["with white space around it", " 2026-03-02T10:00:00Z ", NO_FORM],
    ["with a line break at its end", "2026-03-02T10:00:00Z\n", NO_FORM],
    ["a date with a zone", "2026-03-02Z", NO_FORM],
    ["a number of seconds", "1772445600", NO_FORM],
    ["a word of PostgreSQL", "now", NO_FORM],
    ["infinite", "infinity", NO_FORM],
    ["of RFC 2822", "Mon, 02 Mar 2026 10:00:00 +0000", NO_FORM],
    ["with the name of a zone", "2026-03-02T10:00:00 Europe/Zurich", NO_FORM],
    ["in the basic form", "20260302T100000Z", NO_FORM],
    ["of a week", "2026-W10-1T10:00:00Z", NO_FORM],
    ["of five digits of year", "+12026-03-02T10:00:00Z", NO_FORM],
    ["of a negative year", "-0001-03-02T10:00:00Z", NO_FORM],
    ["with a comma", "2026-03-02T10:00:00,5Z", NO_FORM],
    ["with a dot and no fraction", "2026-03-02T10:00:00.Z", NO_FORM],
    ["with ten digits of fraction", "2026-03-02T10:00:00.0000000001Z", NO_FORM],
    ["in digits of another script", "２０２６-03-02T10:00:00Z", NO_FORM],
    ["in month 13", "2026-13-02T10:00:00Z", NO_DATE],
    ["in month 0", "2026-00-02T10:00:00Z", NO_DATE],
    ["on day 0", "2026-03-00T10:00:00Z", NO_DATE],
    ["on the 31st of April", "2026-04-31T10:00:00Z", NO_DATE],
    ["on the 29th of February of a common year", "2026-02-29T10:00:00Z", NO_DATE],
    ["on the 29th of February 1900", "1900-02-29T10:00:00Z", NO_DATE],
    ["at hour 24", "2026-03-02T24:00:00Z", NO_TIME],
    ["at minute 60", "2026-03-02T10:60:00Z", NO_TIME],
    ["a leap second", "2016-12-31T23:59:60Z", NO_TIME],
    ["16 hours from UTC", "2026-03-02T10:00:00+16:00", NO_OFFSET],
    ["60 minutes from UTC", "2026-03-02T10:00:00+01:60", NO_OFFSET],
    ["in year 0", "0000-03-02T10:00:00Z", NO_YEAR],
    ["in year 0 by its offset", "0001-01-01T00:59:59+01:00", NO_YEAR],
    ["in year 10000 by its offset", "9999-12-31T23:00:00-01:00", NO_YEAR],
    ["in year 10000 by its fraction", "9999-12-31T23:59:59.9999999Z", NO_YEAR],
  ])("%s", async (_, timestamp, reason) => {
    const envelope = (field: string) => ({
      field,
      value: timestamp,
      reason,
      fix: "Send ISO 8601 with a timezone, for example 2026-03-02T10:00:00Z, or leave the field out for the time of ingestion.",
    });
    await expectRefusal(
      fixture,
      () => fixture.single(at(timestamp)),
      400,
      "VALIDATION_ERROR",
      "`timestamp` is not a valid timestamp.",
      envelope("timestamp"),
    );
    await expectRefusal(
      fixture,
      () => fixture.batch([{ customerId: "c", event: "e" }, at(timestamp)]),
      400,
      "VALIDATION_ERROR",
      "`events[1].timestamp` is not a valid timestamp.",
      envelope("events[1].timestamp"),
    );
  });
});

it("five minutes make a call late, in the database as in the engine", async () => {
  const { sql } = fixture.service.db;
  const [row] = await sql`select extract(epoch from svc.punctual())::integer * 1000 as punctual`;
  expect(row).toEqual({ punctual: PUNCTUAL_MILLISECONDS });
  const lateAfter = async (...seconds: number[]) => {
    const events = seconds.map((past) => at(new Date(Date.now() - past * 1000).toISOString()));
    const [id] = eventIds(await fixture.batch(events));
    const [call] = await sql`
      select b.late
      from svc.ingest_batches as b
      join svc.events as e on e.environment_id = b.environment_id and e.event_seq >> 10 = b.batch_seq
      where svc.event_id(e.event_seq) = ${id!}`;
    return call!["late"] as boolean;
  };
  expect(await lateAfter(0, 240)).toBe(false);
  expect(await lateAfter(0, 360)).toBe(true);
});
