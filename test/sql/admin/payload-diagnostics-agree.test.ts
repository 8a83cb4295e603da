import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventDiagnostics, type PayloadDiagnostic, traitDiagnostics } from "../../../src/model/payload.js";
import { EMPTY_SNAPSHOT, type Field } from "../../../src/model/snapshot/types.js";
import { createDatabase, rolledBack, type TestDatabase } from "../../support/database.js";

let db: TestDatabase;
beforeAll(async () => {
  db = await createDatabase();
});
afterAll(() => db.drop());

type Fields = Record<string, Field>;
type Payload = Record<string, unknown>;

interface Operation {
  fields: Fields;
  event: string;
  payload: Payload;
}

type Violation = Omit<PayloadDiagnostic, "code"> & { code: string };

/** What the database says of an event "e" with these fields as properties, and of an identify with them as traits. */
async function database({ fields, event, payload }: Operation): Promise<{ event: Violation[]; identify: Violation[] }> {
  const operations = [
    { customerId: "c", event, properties: payload },
    { type: "identify", customerId: "c", traits: payload },
  ];
  return rolledBack(db.sql, async (tx) => {
    // A schema without the project that it would belong to.
    await tx`set local session_replication_role = replica`;
    await tx`
      insert into svc.payload_checks (project_id, version, event, names, predicate, fields)
      select 1, 1, e.event, array[]::text[], '$', ${JSON.stringify(fields)}::text::jsonb
      from unnest(array['e', '']) as e (event)`;
    const rows = await tx<(Violation & { ordinal: string; json: string | null })[]>`
      select v.ordinal, v.code, v.message, v.path, v.reason, v.fix, v.value::text as json
      from svc.operation_violations(1, 1, ${JSON.stringify(operations)}::text::jsonb, array[0, 1], false) as v`;
    const of = (ordinal: number) =>
      rows
        .filter((row) => Number(row.ordinal) === ordinal)
        .map(({ code, message, path, reason, fix, json }) => ({
          code,
          message,
          path: path.slice(`events[${ordinal}].`.length),
          reason,
          fix,
          ...(json === null ? {} : { value: JSON.parse(json) as unknown }),
        }));
    return { event: of(0), identify: of(1) };
  });
}

/** What the same is said to be without one. */
function local({ fields, event, payload }: Operation): { event: Violation[]; identify: Violation[] } {
  const snapshot = { ...EMPTY_SNAPSHOT, events: { e: { properties: fields } }, traits: fields };
  const said = { event: eventDiagnostics(snapshot, event, payload), identify: traitDiagnostics(snapshot, payload) };
  // As it is sent: JSON has no negative zero.
  return JSON.parse(JSON.stringify(said)) as typeof said;
}

const long = "ü👍".repeat(200);
const name = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      "seats",
      "plan",
      "a.b",
      "Z",
      "é",
      "\uffff",
      "👍",
      '"',
      "\\",
      "a\nb",
      "$x",
      "toString",
      long,
    ),
  },
  {
    weight: 1,
    arbitrary: fc.string({ minLength: 1, maxLength: 8, unit: "grapheme" }).filter((text) => !text.includes("\0")),
  },
);
const scalarType = fc.constantFrom("string", "number", "boolean", "date");
const choices = fc.uniqueArray(name, { minLength: 1, maxLength: 15 });
const field = fc
  .oneof(
    fc.record({ type: fc.constant("string"), enum: choices }, { requiredKeys: ["type"] }),
    fc.record({ type: fc.constantFrom("number", "boolean", "date") }),
    fc.record({ type: fc.constant("array"), items: scalarType.map((type) => ({ type })) }),
    fc.record({ type: fc.constant("array"), items: choices.map((values) => ({ type: "string", enum: values })) }),
  )
  .chain((made) => fc.boolean().map((optional) => (optional ? { ...made, optional: true } : made) as Field));

const scalar = fc.oneof(
  fc.constantFrom(null, true, false, "", "2026-02-28", "2026-02-29", "2026-02-28T10:00Z", -0, 1e300, -1.5e-300, 1e21),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  name,
);
/** Objects and arrays, some of them within each other. */
const { nested } = fc.letrec<{ nested: unknown }>((tie) => {
  const inner = fc.oneof({ depthSize: "small", withCrossShrink: true }, scalar, tie("nested"));
  return {
    nested: fc.oneof(
      fc.array(inner, { maxLength: 3 }),
      fc.dictionary(name, inner, { maxKeys: 3, noNullPrototype: true }),
    ),
  };
});
const value = fc.oneof(
  { weight: 3, arbitrary: scalar },
  { weight: 2, arbitrary: fc.array(scalar, { maxLength: 4 }) },
  { weight: 3, arbitrary: fc.array(fc.oneof(scalar, nested), { minLength: 1, maxLength: 4 }) },
  { weight: 2, arbitrary: nested },
  // About as long as a value may be that is shown.
  { weight: 1, arbitrary: fc.integer({ min: 1_015, max: 1_030 }).map((length) => "👍".repeat(length)) },
  { weight: 1, arbitrary: fc.integer({ min: 250, max: 260 }).map((length) => Array.from({ length }, () => 12)) },
);

const operation = fc.dictionary(name, field, { maxKeys: 6, noNullPrototype: true }).chain((fields) =>
  fc.record({
    fields: fc.constant(fields),
    event: fc.constantFrom("e", "e", "e", "other", "tostring", 'a "quoted" one'),
    payload: fc.dictionary(fc.oneof(name, fc.constantFrom("seats", ...Object.keys(fields))), value, {
      maxKeys: 8,
      noNullPrototype: true,
    }),
  }),
);

it("says of any payload what the database says, word for word and in the same order", async () => {
  const codes = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(operation, async (made) => {
      const expected = await database(made);
      expect(local(made)).toEqual(expected);
      for (const { code } of [...expected.event, ...expected.identify]) codes.set(code, (codes.get(code) ?? 0) + 1);
    }),
    { numRuns: 300 },
  );
  // The generators must reach every code, or the property says little.
  expect([...codes.keys()].sort()).toEqual([
    "INVALID_PROPERTY_ENUM",
    "INVALID_PROPERTY_TYPE",
    "INVALID_STRUCTURE",
    "INVALID_TRAIT_ENUM",
    "INVALID_TRAIT_TYPE",
    "MISSING_REQUIRED_PROPERTY",
    "UNKNOWN_EVENT",
    "UNKNOWN_PROPERTY",
    "UNKNOWN_TRAIT",
  ]);
});

it("stops at a thousand, as the database does", async () => {
  const fields: Fields = { tags: { type: "array", items: { type: "number" } } };
  const made = { fields, event: "e", payload: { tags: Array.from({ length: 1_100 }, () => "x"), other: 1 } };
  const expected = await database(made);
  expect(expected.event).toHaveLength(1_000);
  expect(local(made)).toEqual(expected);
});
