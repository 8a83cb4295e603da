import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isIsoDate } from "../../../src/model/snapshot/duration.js";
import type { Field } from "../../../src/model/snapshot/types.js";
import { createDatabase, type TestDatabase } from "../../support/database.js";

let db: TestDatabase;
beforeAll(async () => {
  db = await createDatabase();
});
afterAll(() => db.drop());

type Kind = "properties" | "traits";
type Payload = Record<string, unknown>;

interface Verdict {
  conforms: boolean | null;
  codes: string[];
  paths: string[];
}

/** What the two paths of the schema check say about a payload. */
async function check(kind: Kind, fields: Record<string, unknown>, payload: Payload | string): Promise<Verdict> {
  const text = typeof payload === "string" ? payload : JSON.stringify(payload);
  const [row] = await db.sql<[Verdict]>`
    select
      svc.payload_conforms(
        p.payload, array(select jsonb_object_keys(p.fields)), svc.payload_predicate(${kind}, p.fields)
      ) as conforms,
      array(select d.code from svc.payload_diagnostics(${kind}, 'e', p.fields, p.payload, 'events[0].properties') as d) as codes,
      array(select d.path from svc.payload_diagnostics(${kind}, 'e', p.fields, p.payload, 'events[0].properties') as d) as paths
    from (select ${JSON.stringify(fields)}::text::jsonb as fields, ${text}::text::jsonb as payload) as p`;
  return row;
}

/** Names that mean something to JSON, to jsonpath or to SQL, beside ordinary and arbitrary ones. */
const name = fc.oneof(
  fc.constantFrom(
    "seats",
    "plan",
    "a.b",
    "$",
    "@",
    "*",
    "**",
    '"',
    "\\",
    '\\"',
    "'",
    "a\nb",
    "\u2028",
    "key",
    "value",
    "$.x",
    "é",
    "👍",
  ),
  fc.constantFrom(
    '" || true || "',
    '").x == 1 || ($."',
    "\\u0041",
    "/* */",
    "last",
    "strict $",
    "%s",
    "%1$s",
    "exists",
  ),
  fc.string({ minLength: 1, maxLength: 12, unit: "grapheme" }).filter((text) => !text.includes("\0")),
);

const scalarType = fc.constantFrom("string", "number", "boolean", "date");
const choices = fc.uniqueArray(name, { minLength: 1, maxLength: 4 });
const field: fc.Arbitrary<Field> = fc
  .oneof(
    fc.record({ type: fc.constant("string"), enum: choices }, { requiredKeys: ["type"] }),
    fc.record({ type: fc.constantFrom("number", "boolean", "date") }),
    fc.record({ type: fc.constant("array"), items: scalarType.map((type) => ({ type })) }),
    fc.record({ type: fc.constant("array"), items: choices.map((values) => ({ type: "string", enum: values })) }),
  )
  .chain((made) => fc.boolean().map((optional) => (optional ? { ...made, optional: true } : made) as Field));
const fieldsOf = fc.dictionary(name, field, { maxKeys: 5 }).map((made) => ({ ...made }));

const twoDigits = (max: number) => fc.integer({ min: 0, max }).map((number) => String(number).padStart(2, "0"));
const dateText = fc
  .tuple(
    fc.constantFrom("2024", "2025", "2000", "1900", "0000", "9999"),
    twoDigits(14),
    twoDigits(33),
    fc.constantFrom(
      "",
      "",
      "T10:00Z",
      "T10:00:00Z",
      "T23:59:59.999999999+23:59",
      "T24:00:00Z",
      "T10:00:60Z",
      "T10:00:00",
      "t10:00z",
      "\n",
    ),
  )
  .map(([year, month, day, rest]) => `${year}-${month}-${day}${rest}`);

const anything = fc.oneof(
  fc.constantFrom(null, true, false, 0, -1.5, 1e300, "", "text"),
  name,
  dateText,
  fc.constant([]),
  fc.constant({}),
  fc.array(fc.oneof(name, dateText, fc.integer(), fc.constant(null), fc.constant(["nested"]), fc.constant({})), {
    maxLength: 3,
  }),
  fc.constantFrom([["x"]], [{ type: "string" }], [[]], { type: "string" }, { items: ["x"] }),
  fc.constant({ key: "seats", value: 1 }),
);

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

/** Fields and a payload that mostly fits them. */
const attempt = fieldsOf.chain((fields) =>
  fc
    .tuple(
      ...Object.entries(fields).map(([key, made]) =>
        fc
          .oneof(
            { weight: 8, arbitrary: conforming(made).map((value) => [value]) },
            { weight: 1, arbitrary: anything.map((value) => [value]) },
            { weight: 1, arbitrary: fc.constant([]) },
          )
          .map((value) => [key, value] as const),
      ),
      fc.oneof(
        { weight: 8, arbitrary: fc.constant(["", []] as const) },
        {
          weight: 1,
          arbitrary: fc.tuple(
            name,
            anything.map((value) => [value]),
          ),
        },
      ),
    )
    .map((members) => ({
      fields,
      payload: Object.fromEntries(
        members.filter(([, value]) => value.length > 0).map(([key, [value]]) => [key, value]),
      ),
    })),
);

/** The rule itself, said a third time, as plainly as can be. */
function violations(kind: Kind, fields: Record<string, Field>, payload: Payload): string[] {
  const noun = kind === "traits" ? "TRAIT" : "PROPERTY";
  const found = Object.entries(fields).flatMap(([key, made]) => {
    if (!Object.hasOwn(payload, key)) return kind === "traits" || made.optional ? [] : ["MISSING_REQUIRED_PROPERTY"];
    if (kind === "traits" && payload[key] === null) return [];
    const value = payload[key];
    if (made.type !== "array" || !Array.isArray(value)) return valueViolations(noun, made, value);
    return value.flatMap((item) =>
      Array.isArray(item) ? ["INVALID_STRUCTURE"] : valueViolations(noun, made.items, item),
    );
  });
  const unknown = Object.keys(payload).filter((key) => !Object.hasOwn(fields, key));
  return [...found, ...unknown.map(() => `UNKNOWN_${noun}`)].sort();
}

function valueViolations(noun: string, made: { type: string; enum?: string[] }, value: unknown): string[] {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return ["INVALID_STRUCTURE"];
  const fits = made.type === "date" ? typeof value === "string" && isIsoDate(value) : typeof value === made.type;
  if (!fits) return [`INVALID_${noun}_TYPE`];
  return made.enum && !made.enum.includes(value as string) ? [`INVALID_${noun}_ENUM`] : [];
}

describe.each(["properties", "traits"] as const)("the schema check of %s", (kind) => {
  it("finds every violation, and its fast path is true for none that has one", async () => {
    let fast = 0;
    let slow = 0;
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(attempt, async ({ fields, payload }) => {
        const expected = violations(kind, fields, payload);
        const { conforms, codes } = await check(kind, fields, payload);
        expect([...codes].sort()).toEqual(expected);
        expect(conforms).not.toBeNull();
        if (expected.length > 0) expect(conforms).toBe(false);
        else if (!JSON.stringify(payload).includes("-02-29")) expect(conforms).toBe(true);
        if (expected.length > 0) refused += 1;
        else if (conforms) fast += 1;
        else slow += 1;
      }),
      { numRuns: 400 },
    );
    // The generators must reach both outcomes, or the property says nothing.
    expect(fast).toBeGreaterThan(40);
    expect(refused).toBeGreaterThan(40);
    expect(fast + slow + refused).toBeGreaterThanOrEqual(400);
  });
});

describe("svc.is_iso_date", () => {
  it("agrees with the snapshot's own rule on every day of some years, and on odd times", async () => {
    const days = ["0000", "1900", "2000", "2023", "2024"].flatMap((year) =>
      Array.from({ length: 14 * 33 }, (_, n) => `${year}-${two(Math.floor(n / 33))}-${two(n % 33)}`),
    );
    const times = [
      "T00:00Z",
      "T23:59:59.1-00:00",
      "T24:00Z",
      "T00:60Z",
      "T00:00:60Z",
      "T00:00",
      "T00:00+24:00",
      " 00:00Z",
      "Z",
      "T1:00Z",
    ];
    const texts = [
      ...days,
      ...times.map((time) => `2024-02-29${time}`),
      "",
      "2024",
      "02024-01-01",
      "2024-01-01\n",
      "２０２４-01-01",
    ];
    const rows = await db.sql<{ text: string; holds: boolean }[]>`
      select t.text, svc.is_iso_date(t.text) as holds from unnest(${texts}::text[]) as t (text)`;
    expect(rows.filter(({ text, holds }) => holds !== isIsoDate(text))).toEqual([]);
  });
});

describe("svc.payload_diagnostics", () => {
  const fields: Record<string, Field> = {
    need: { type: "string" },
    on: { type: "date" },
    "odd name": { type: "string", enum: ["x", "y"] },
    tags: { type: "array", items: { type: "string", enum: ["p"] } },
  };

  it("names the path, the reason and what to do, in the order of the names", async () => {
    const rows = await db.sql`
      select * from svc.payload_diagnostics(
        'properties', 'signed_up', ${JSON.stringify(fields)}::text::jsonb,
        ${JSON.stringify({ on: "2025-02-29", "odd name": "z", tags: ["p", 1, "q"], extra: null })}::text::jsonb,
        'events[7].properties'
      )`;
    expect(rows.map((row) => ({ ...row }))).toEqual([
      {
        code: "MISSING_REQUIRED_PROPERTY",
        message: 'The event "signed_up" requires the property "need".',
        path: "events[7].properties.need",
        value: null,
        reason: "It is not there.",
        fix: "Send the property, or declare it optional in the model and deploy it.",
      },
      {
        code: "INVALID_PROPERTY_ENUM",
        message: 'The value of the property "odd name" must be one of the declared ones.',
        path: 'events[7].properties["odd name"]',
        value: "z",
        reason: 'Declared are "x", "y".',
        fix: "Send one of them, or add the value in the model and deploy it.",
      },
      {
        code: "INVALID_PROPERTY_TYPE",
        message: 'The value of the property "on" must be an ISO 8601 date, or date-time with a zone.',
        path: "events[7].properties.on",
        value: "2025-02-29",
        reason: "It is another text.",
        fix: "Send an ISO 8601 date, or date-time with a zone, or change the type in the model and deploy it.",
      },
      {
        code: "INVALID_PROPERTY_TYPE",
        message: 'Item 1 of the property "tags" must be a text.',
        path: "events[7].properties.tags[1]",
        value: 1,
        reason: "It is a number.",
        fix: "Send a text, or change the type in the model and deploy it.",
      },
      {
        code: "INVALID_PROPERTY_ENUM",
        message: 'Item 2 of the property "tags" must be one of the declared ones.',
        path: "events[7].properties.tags[2]",
        value: "q",
        reason: 'Declared are "p".',
        fix: "Send one of them, or add the value in the model and deploy it.",
      },
      {
        code: "UNKNOWN_PROPERTY",
        message: 'The event "signed_up" has no property "extra".',
        path: "events[7].properties.extra",
        value: null,
        reason: "The active schema is strict and does not declare it.",
        fix: "Declare the property in the model and deploy it, or do not send it.",
      },
    ]);
  });

  it("takes null as the removal of a trait, and requires none", async () => {
    expect(await check("traits", fields, { need: null, tags: null })).toMatchObject({ conforms: true, codes: [] });
    expect(await check("traits", {}, { gone: null })).toMatchObject({ conforms: false, codes: ["UNKNOWN_TRAIT"] });
  });

  it("takes numbers that exceed a double", async () => {
    const payload = '{"n": 12345678901234567890123, "m": 1e400}';
    const numbers = { n: { type: "number" }, m: { type: "number" } } as const;
    expect(await check("properties", numbers, payload)).toMatchObject({ conforms: true, codes: [] });
  });

  it("does not confuse an array of arrays, or of objects, with what is in them", async () => {
    const tags = { tags: { type: "array", items: { type: "string" } } } as const;
    const plan = { plan: { type: "string", enum: ["pro"] } } as const;
    const cases = [
      [tags, { tags: [["x"]] }, "INVALID_STRUCTURE"],
      [tags, { tags: [{ type: "string" }] }, "INVALID_STRUCTURE"],
      [tags, { tags: { 0: "x" } }, "INVALID_STRUCTURE"],
      [tags, { tags: "x" }, "INVALID_PROPERTY_TYPE"],
      [plan, { plan: { pro: "pro" } }, "INVALID_STRUCTURE"],
      [plan, { plan: ["pro"] }, "INVALID_PROPERTY_TYPE"],
    ] as const;
    for (const [fields, payload, code] of cases) {
      expect(await check("properties", fields, payload)).toMatchObject({ conforms: false, codes: [code] });
    }
  });
});

function two(number: number): string {
  return String(number).padStart(2, "0");
}
