/** Values that a schema of the OpenAPI document allows. */
import fc, { type Arbitrary } from "fast-check";
import { HARMLESS } from "../attacks/models.js";
import type { Documented, Schema } from "./documented.js";
import { CUSTOMER } from "./world.js";

/** Values of members that their schema does not describe closely enough. No webhook may lead away from this machine. */
const BY_NAME: Readonly<Record<string, Arbitrary<unknown>>> = {
  snapshot: fc.integer({ min: 1, max: 1_000 }).map((value) => ({
    ...HARMLESS,
    segments: [{ id: `segment_${value}`, when: { kind: "inactiveFor", duration: "7d" } }],
  })),
  url: fc.constantFrom(
    "http://127.0.0.1:9/hook",
    "http://127.0.0.1:9/ü?%00#x",
    "http://[::1]:9/",
    "https://localhost:9",
  ),
  customerId: fc.constant(CUSTOMER),
  customer: fc.constant(CUSTOMER),
  segment: fc.constant("quiet"),
  lifecycle: fc.constant("active"),
  since: fc.constantFrom("7d", "1h", "2026-03-01", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"),
  until: fc.constantFrom("1h", "2100-01-01", "9999-12-31T23:59:59Z"),
  grace: fc.constantFrom("0m", "1h", "24h", "400d"),
  inactive: fc.constantFrom("7d", "99999999w"),
  "Last-Event-ID": fc.constantFrom("evt_0000000000000400", "evt_7fffffffffffffff", "evt_ffffffffffffffff"),
};
const LENGTH_MAX = 300;

/** A value that a schema allows. @param name of the member or parameter */
export function valueOf(documented: Documented, referring: Schema, name = ""): Arbitrary<unknown> {
  const schema = documented.resolve(referring);
  const known = Object.hasOwn(BY_NAME, name) ? BY_NAME[name] : undefined;
  if (known !== undefined) return known;
  if ("const" in schema) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map((one) => valueOf(documented, one)));
  const types = [schema.type ?? []].flat();
  if (types.length === 0) return fc.jsonValue();
  return fc.oneof(...types.map((type) => valueOfType(documented, schema, type)));
}

function valueOfType(documented: Documented, schema: Schema, type: string): Arbitrary<unknown> {
  const {
    minimum = -1_000,
    maximum = 1_000_000,
    items = {},
    minItems = 0,
    maxItems = 4,
    properties = {},
    required = [],
  } = schema;
  if (type === "null") return fc.constant(null);
  if (type === "boolean") return fc.boolean();
  if (type === "integer") return fc.integer({ min: minimum, max: maximum });
  if (type === "number") return fc.double({ min: minimum, max: maximum, noNaN: true });
  if (type === "array")
    return fc.uniqueArray(valueOf(documented, items), { minLength: minItems, maxLength: Math.min(4, maxItems) });
  if (type === "string") return textOf(schema);
  const members = Object.entries(properties).map(([key, member]) => [key, valueOf(documented, member, key)] as const);
  return membersOf(Object.fromEntries(members), required);
}

/** An object with the required members and up to two others, because many exclude each other. */
export function membersOf<T>(
  members: Record<string, Arbitrary<T>>,
  required: readonly string[],
): Arbitrary<Record<string, T>> {
  const optional = Object.keys(members).filter((name) => !required.includes(name));
  return fc.subarray(optional, { maxLength: Math.min(2, optional.length) }).chain((chosen) =>
    fc.record(Object.fromEntries([...required, ...chosen].map((name) => [name, members[name]!])), {
      noNullPrototype: true,
    }),
  );
}

function textOf({ pattern, examples, minLength = 0, maxLength = LENGTH_MAX }: Schema): Arbitrary<unknown> {
  const length = { minLength, maxLength: Math.min(maxLength, LENGTH_MAX) };
  const any = fc.oneof(
    fc.string({ ...length, unit: "binary" }),
    fc.string({ ...length, maxLength: Math.max(minLength, 8) }),
  );
  const form = pattern === undefined ? null : new RegExp(pattern, "u");
  // Strings cannot be generated from a pattern with lookahead, so they are filtered.
  const made =
    form === null ? any : pattern!.includes("(?") ? any.filter((text) => form.test(text)) : fc.stringMatching(form);
  return examples === undefined ? made : fc.oneof(made, fc.constantFrom(...examples));
}
