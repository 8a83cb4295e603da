import fc from "fast-check";
import { expect, it } from "vitest";
import { isIsoDate } from "../../../src/model/snapshot/duration.js";
import { eventDiagnostics, type PayloadDiagnostic, traitDiagnostics } from "../../../src/model/payload.js";
import { EMPTY_SNAPSHOT, type Field } from "../../../src/model/snapshot/types.js";
import { useDatabase, rolledBack } from "../../support/database.js";

const db = await useDatabase();
const { sql } = db;

type Kind = "properties" | "traits";
type Payload = Record<string, unknown>;

interface Verdict {
  conforms: boolean | null;
  /** Whether a declared field has a value of the wrong kind, by svc.conforms_to_field. */
  misfits: boolean;
  codes: string[];
}

/** The results of the schema check's paths for a payload. */
async function check(kind: Kind, fields: object, payload: Payload | string): Promise<Verdict> {
  const text = typeof payload === "string" ? payload : JSON.stringify(payload);
  const [row] = await sql<[Verdict]>`
    select
      svc.payload_conforms(
        p.payload, array(select jsonb_object_keys(p.fields)), svc.payload_predicate(${kind}, p.fields)
      ) as conforms,
      exists (
        select from jsonb_each(p.fields) as f
        where p.payload ? f.key and not svc.conforms_to_field(p.payload -> f.key, f.value)
          and not (${kind} = 'traits' and p.payload -> f.key = 'null')
      ) as misfits,
      array(select d.code from svc.payload_diagnostics(${kind}, 'e', p.fields, p.payload, 'events[0].properties') as d) as codes
    from (select ${JSON.stringify(fields)}::text::jsonb as fields, ${text}::text::jsonb as payload) as p`;
  return row;
}

/** Names with a meaning in JSON, jsonpath or SQL, and ordinary and arbitrary ones. */
const name = fc.oneof(
  fc.constantFrom(
    ...'seats plan a.b $ @ * ** " \\ \\" \' key value $.x é 👍 Z \uffff $x toString \\u0041 last %s exists'.split(" "),
  ),
  fc.constantFrom("a\nb", "\u2028", "strict $", "/* */", '" || true || "', '").x == 1 || ($."', "ü👍".repeat(200)),
  fc.string({ minLength: 1, maxLength: 12, unit: "grapheme" }).filter((text) => !text.includes("\0")),
);

const scalarType = fc.constantFrom("string", "number", "boolean", "date");
const choices = fc.uniqueArray(name, { minLength: 1, maxLength: 15 });
const field: fc.Arbitrary<Field> = fc
  .oneof(
    fc.record({ type: fc.constant("string"), enum: choices }, { requiredKeys: ["type"] }),
    fc.record({ type: fc.constantFrom("number", "boolean", "date") }),
    fc.record({ type: fc.constant("array"), items: scalarType.map((type) => ({ type })) }),
    fc.record({ type: fc.constant("array"), items: choices.map((values) => ({ type: "string", enum: values })) }),
  )
  .chain((made) => fc.boolean().map((optional) => (optional ? { ...made, optional: true } : made) as Field));
const padded = (number: number) => String(number).padStart(2, "0");
const twoDigits = (max: number) => fc.integer({ min: 0, max }).map(padded);
const dateText = fc
  .tuple(
    fc.constantFrom("2024", "2025", "2000", "1900", "0000", "9999"),
    twoDigits(14),
    twoDigits(33),
    fc.constantFrom(
      ...["", "", "\n"],
      ..."T10:00Z T10:00:00Z T23:59:59.999999999+23:59 T24:00:00Z T10:00:60Z T10:00:00 t10:00z".split(" "),
    ),
  )
  .map(([year, month, day, rest]) => `${year}-${month}-${day}${rest}`);

function conforming(made: Field): fc.Arbitrary<unknown> {
  switch (made.type) {
    case "string":
      return made.enum ? fc.constantFrom(...made.enum) : name;
    case "number":
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case "boolean":
      return fc.boolean();
    case "date":
      return dateText.filter(isIsoDate);
    case "array":
      return fc.array(conforming(made.items as Field), { maxLength: 3 });
  }
}

it("svc.is_iso_date agrees with the snapshot's own rule on every day of some years, and for unusual times", async () => {
  const days = ["0000", "1900", "2000", "2023", "2024"].flatMap((year) =>
    Array.from({ length: 14 * 33 }, (_, n) => `${year}-${padded(Math.floor(n / 33))}-${padded(n % 33)}`),
  );
  const times = "T00:00Z T23:59:59.1-00:00 T24:00Z T00:60Z T00:00:60Z T00:00 T00:00+24:00 Z T1:00Z".split(" ");
  const odd = ["", "2024", "02024-01-01", "2024-01-01\n", "２０２４-01-01"];
  const texts = [...days, ...[...times, " 00:00Z"].map((time) => `2024-02-29${time}`), ...odd];
  const rows = await sql<{ text: string; holds: boolean }[]>`
    select t.text, svc.is_iso_date(t.text) as holds from unnest(${texts}::text[]) as t (text)`;
  expect(rows.filter(({ text, holds }) => holds !== isIsoDate(text))).toEqual([]);
});

it("svc.payload_diagnostics accepts numbers beyond the range of doubles", async () => {
  const payload = '{"n": 12345678901234567890123, "m": 1e400}';
  const numbers = { n: { type: "number" }, m: { type: "number" } } as const;
  expect(await check("properties", numbers, payload)).toMatchObject({ conforms: true, codes: [] });
});

type Fields = Record<string, Field>;

interface Operation {
  fields: Fields;
  event: string;
  payload: Payload;
}

type Violation = Omit<PayloadDiagnostic, "code"> & { code: string };

/** The database's diagnostics of an event "e" with these fields as properties, and of an identify with them as traits. */
async function database({ fields, event, payload }: Operation): Promise<{ event: Violation[]; identify: Violation[] }> {
  const operations = [
    { customerId: "c", event, properties: payload },
    { type: "identify", customerId: "c", traits: payload },
  ];
  return rolledBack(sql, async (tx) => {
    // A schema without a project.
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

/** The same diagnostics without a database. */
function local({ fields, event, payload }: Operation): { event: Violation[]; identify: Violation[] } {
  const snapshot = { ...EMPTY_SNAPSHOT, events: { e: { properties: fields } }, traits: fields };
  const result = { event: eventDiagnostics(snapshot, event, payload), identify: traitDiagnostics(snapshot, payload) };
  // In JSON form, which has no negative zero.
  return JSON.parse(JSON.stringify(result)) as typeof result;
}

const scalar = fc.oneof(
  fc.constantFrom(null, true, false, "", "2026-02-28", "2026-02-29", "2026-02-28T10:00Z", -0, 1e300, -1.5e-300, 1e21),
  dateText,
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  name,
);
/** Objects and arrays, some of them nested. */
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
  { weight: 1, arbitrary: fc.constantFrom([["x"]], [{ type: "string" }], [[]], { type: "string" }, { items: ["x"] }) },
  // About the maximum length of a value that is shown.
  { weight: 1, arbitrary: fc.integer({ min: 1_015, max: 1_030 }).map((length) => "👍".repeat(length)) },
  { weight: 1, arbitrary: fc.integer({ min: 250, max: 260 }).map((length) => Array.from({ length }, () => 12)) },
);

/** A payload that mostly fits fields. */
const fitting = (fields: Fields) =>
  fc
    .tuple(
      ...Object.entries(fields).map(([key, made]) =>
        fc
          .oneof(
            { weight: 8, arbitrary: conforming(made).map((one) => [one]) },
            { weight: 1, arbitrary: value.map((one) => [one]) },
            // Rarely one of the choices of a field that has any.
            { weight: 1, arbitrary: name.map((one) => [one]) },
            { weight: 1, arbitrary: fc.constant([]) },
          )
          .map((found) => found.map((one) => [key, one] as const)),
      ),
    )
    .map((members) => Object.fromEntries(members.flat()));

const operation = fc.dictionary(name, field, { maxKeys: 5, noNullPrototype: true }).chain((fields) =>
  fc.record({
    fields: fc.constant(fields),
    event: fc.constantFrom("e", "e", "e", "other", "tostring", 'a "quoted" one'),
    payload: fc.oneof(
      fitting(fields),
      fc.dictionary(fc.oneof(name, fc.constantFrom("seats", ...Object.keys(fields))), value, {
        maxKeys: 8,
        noNullPrototype: true,
      }),
    ),
  }),
);

it("any payload has the same diagnostics without a database, word for word and in order; the database's fast path accepts none that has one", async () => {
  const codes = new Map<string, number>();
  const paths = { accepted: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(operation, async ({ fields, event, payload }) => {
      const expected = await database({ fields, event, payload });
      expect(local({ fields, event, payload })).toEqual(expected);
      for (const { code } of [...expected.event, ...expected.identify]) codes.set(code, (codes.get(code) ?? 0) + 1);

      const declared = Object.fromEntries(Object.entries(payload).filter(([key]) => Object.hasOwn(fields, key)));
      const optional = Object.fromEntries(
        Object.entries(fields).map(([key, made]) => [key, { ...made, optional: true }]),
      ) as Fields;
      for (const [kind, side] of [
        ["properties", "event"],
        ["traits", "identify"],
      ] as const) {
        const violations = local({ fields, event: "e", payload })[side];
        const { conforms, misfits, codes: found } = await check(kind, fields, payload);
        expect(found).toEqual(violations.map(({ code }) => code));
        expect(misfits).toBe(local({ fields: optional, event: "e", payload: declared })[side].length > 0);
        expect(conforms).not.toBeNull();
        if (violations.length > 0) expect(conforms).toBe(false);
        else if (!JSON.stringify(payload).includes("-02-29")) expect(conforms).toBe(true);
        paths[violations.length > 0 ? "refused" : "accepted"] += 1;
      }
    }),
    { numRuns: 150 },
  );
  // The generators must reach every code and both outcomes, or the property shows little.
  expect([...codes.keys()].sort().join(" ")).toBe(
    "INVALID_PROPERTY_ENUM INVALID_PROPERTY_TYPE INVALID_STRUCTURE INVALID_TRAIT_ENUM INVALID_TRAIT_TYPE " +
      "MISSING_REQUIRED_PROPERTY UNKNOWN_EVENT UNKNOWN_PROPERTY UNKNOWN_TRAIT",
  );
  expect(paths.accepted).toBeGreaterThan(40);
  expect(paths.refused).toBeGreaterThan(40);
});

it("stops at a thousand diagnostics, like the database", async () => {
  const fields: Fields = { tags: { type: "array", items: { type: "number" } } };
  const made = { fields, event: "e", payload: { tags: Array.from({ length: 1_100 }, () => "x"), other: 1 } };
  const expected = await database(made);
  expect(expected.event).toHaveLength(1_000);
  expect(local(made)).toEqual(expected);
});
