import { expect, it } from "vitest";
import { startOfDay } from "../../../src/console/span.js";
import { useDatabase } from "../../support/database.js";

const { sql } = await useDatabase();

it.each([
  ["in a zone with a constant offset", "UTC", "2026-03-01", "2026-03-01T00:00:00.000Z"],
  ["with two midnights", "Atlantic/Azores", "2026-10-25", "2026-10-25T00:00:00.000Z"],
  ["with two midnights", "America/Havana", "2026-11-01", "2026-11-01T04:00:00.000Z"],
  ["whose last hour occurs twice", "America/Santiago", "2026-04-05", "2026-04-05T04:00:00.000Z"],
  ["that begins at one o'clock", "America/Santiago", "2026-09-06", "2026-09-06T04:00:00.000Z"],
  ["that begins at half past midnight", "America/Toronto", "1919-03-31", "1919-03-31T04:30:00.000Z"],
  ["that was skipped", "Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00.000Z"],
  ["after the skipped one", "Pacific/Apia", "2011-12-31", "2011-12-30T10:00:00.000Z"],
  ["at the end of time", "Atlantic/Azores", "9999-12-31", "9999-12-31T01:00:00.000Z"],
])("is the first instant of a day %s: %s %s", async (_, zone, day, expected) => {
  const [row] = await sql<[{ at: Date }]>`select svc.start_of_day(${day}, ${zone}) as at`;
  expect(row.at.toISOString()).toBe(expected);
});

it("is where the date of instants changes, on each day of fifteen years", async () => {
  const wrong = await sql`
    select z.name, d.day
    from pg_timezone_names as z, generate_series(timestamp '2012-01-01', '2027-01-01', '1 day') as d (day)
    cross join lateral (select svc.start_of_day(d.day::date, z.name) as at) as s
    where z.name in (
        'Africa/Cairo', 'America/Asuncion', 'America/Havana', 'America/Santiago', 'America/Sao_Paulo', 'America/Scoresbysund',
        'Asia/Amman', 'Asia/Beirut', 'Asia/Gaza', 'Asia/Kathmandu', 'Atlantic/Azores', 'Australia/Lord_Howe', 'Europe/Berlin'
      )
      and not (
        (s.at at time zone z.name)::date = d.day and ((s.at - interval '1 microsecond') at time zone z.name)::date = d.day - interval '1 day'
      )`;
  expect(wrong).toEqual([]);
});

it("is the same in the console", async () => {
  const rows = await sql<{ zone: string; day: string; at: Date }[]>`
    select z as zone, d::date::text as day, svc.start_of_day(d::date, z) as at
    from unnest(array['America/Havana', 'America/Santiago', 'Asia/Kathmandu', 'Atlantic/Azores', 'Pacific/Apia', 'UTC']) as z,
      unnest(array['2025-03-09', '2025-03-30', '2025-04-06', '2025-09-07', '2025-10-26', '2025-11-02', '2026-01-01', '2011-12-30']) as d`;
  expect(rows.map(({ zone, day }) => [zone, day, new Date(startOfDay(day, zone))])).toEqual(
    rows.map(({ zone, day, at }) => [zone, day, at]),
  );
});
