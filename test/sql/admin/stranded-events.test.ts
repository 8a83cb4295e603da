import { expect, it as test } from "vitest";
import { EMPTY_SNAPSHOT, type Field, type Snapshot } from "../../../src/model/snapshot/types.js";
import { useDatabase } from "../../support/database.js";
import { isCluster } from "../../support/is-cluster.js";
import { pagesOf } from "../../support/pages.js";
import { TestEnvironment } from "../../tasks/support/environment.js";

// Plans of a single server.
const it = test.skipIf(isCluster);

const EVENTS = 3_000;
/** More than are looked up one by one in each event. */
const MANY = 40;

const { sql } = await useDatabase();
const { environmentId } = await TestEnvironment.create(sql);
// The property pN is in every event whose number is a multiple of N + 1.
await sql`
  insert into svc.events (environment_id, event_seq, customer_id, event, properties, occurred_at, accepted_at)
  select
    ${environmentId}, n, 'c', 'login',
    (
      select coalesce(jsonb_object_agg('p' || p, case when n % 2 = 0 then '"2028-02-29"' else '"other"' end::jsonb), '{}')
      from generate_series(0, ${MANY - 1}::integer) as p where n % (p + 1) = 0
    ),
    now(), now()
  from generate_series(1, ${EVENTS}::integer) as n`;

const stored = (p: number) => Math.floor(EVENTS / (p + 1));
/** Of those, the ones with an odd number. */
const odd = (p: number) => (p % 2 === 0 ? Math.ceil(stored(p) / 2) : 0);

/** The snapshot that declares as many properties. */
const declaring = (count: number, field: Field): Snapshot => ({
  ...EMPTY_SNAPSHOT,
  strictSchema: true,
  events: { login: { properties: Object.fromEntries(Array.from({ length: count }, (_, p) => [`p${p}`, field])) } },
});
const warnings = (active: Snapshot, next: Snapshot) => sql`
  select * from svc.stranded_events(
    ${environmentId}, ${JSON.stringify(active)}::text::json, ${JSON.stringify(next)}::text::json
  )`;

const text: Field = { type: "string", optional: true };
const changes = {
  PROPERTY_REMOVED: { from: text, to: null, amount: stored },
  PROPERTY_REQUIRED: { from: null, to: { type: "string" }, amount: (p: number) => EVENTS - stored(p) },
  PROPERTY_TYPE_CHANGED: { from: text, to: { type: "date", optional: true }, amount: odd },
  PROPERTY_VALUES_REMOVED: { from: text, to: { ...text, enum: ["2028-02-29"] }, amount: odd },
} satisfies Record<string, { from: Field | null; to: Field | null; amount: (p: number) => number }>;

for (const [code, { from, to, amount }] of Object.entries(changes)) {
  const [active, next] = [from, to].map(
    (field) => (count: number) => (field ? declaring(count, field) : declaring(0, text)),
  );

  test.each([1, MANY])(`${code} states how many events are concerned, for each of %i properties`, async (count) => {
    const found = await sql<
      { code: string; path: string; message: string }[]
    >`${warnings(active!(count), next!(count))}`;
    const amounts = found.map(({ path, message }) => [
      path,
      Number(/ ([\d,]+) events? /.exec(message)![1]!.replace(",", "")),
    ]);
    expect(found.filter((warning) => warning.code !== code)).toEqual([]);
    const expected = Array.from({ length: count }, (_, p) => [`events.login.properties.p${p}`, amount(p)] as const);
    expect(Object.fromEntries(amounts)).toEqual(Object.fromEntries(expected.filter(([, of]) => of > 0)));
  });

  it(`${code} reads the events once, not for each property`, async () => {
    await sql`vacuum (analyze) svc.events`;
    const pages = (count: number) => pagesOf(sql, warnings(active!(count), next!(count)));
    await pages(MANY); // reads the catalog, too
    expect(await pages(MANY)).toBeLessThan(2 * (await pages(1)));
  });
}
