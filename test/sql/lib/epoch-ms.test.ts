import fc from "fast-check";
import { expect, it } from "vitest";
import { useDatabase } from "../../support/database.js";

const { sql } = await useDatabase();

/** Instants (µs since 1970) near whole milliseconds, near the years up to which doubles are used, and anywhere. */
const microseconds = fc.oneof(
  fc
    .tuple(fc.integer({ min: -2_145_916_800_000, max: 2_145_916_800_000 }), fc.integer({ min: -2, max: 2 }))
    .map(([ms, off]) => BigInt(ms) * 1000n + BigInt(off)),
  fc
    .constantFrom(-2_145_916_800n, 2_145_916_800n)
    .chain((s) => fc.bigInt(-2000n, 2000n).map((off) => s * 1_000_000n + off)),
  fc.bigInt(-62_135_596_800_000_000n, 253_402_300_799_999_999n),
);

it("milliseconds of an instant are those of its microseconds, rounded down, in any year", async () => {
  const values = fc.sample(microseconds, 20_000);
  const wrong = await sql`
    select u.us::text, svc.epoch_ms(t.at)::text as ms
    from unnest(${values.map(String)}::bigint[]) as u (us)
    cross join lateral (
      -- In two steps: multiplying an interval by so many microseconds would round them.
      select 'epoch'::timestamptz + div(u.us, 1000000)::bigint * interval '1 second' + u.us % 1000000 * interval '1 microsecond' as at
    ) as t
    where svc.epoch_ms(t.at) is distinct from floor(u.us::numeric / 1000)::bigint`;
  expect(wrong).toEqual([]);
});
