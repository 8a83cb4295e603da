import type { PostgresType } from "postgres";

/** What a value of a type is in JavaScript, and how it is written in an array. */
interface Element {
  parse(text: string): unknown;
  serialize(value: unknown): string;
}

const text: Element = { parse: (value) => value, serialize: String };
const number: Element = { parse: Number, serialize: String };
const boolean: Element = { parse: (value) => value === "t", serialize: (value) => (value === true ? "t" : "f") };
const date: Element = {
  parse: (value) => new Date(value),
  serialize: (value) => (value instanceof Date ? value.toISOString() : String(value)),
};
const json: Element = { parse: (value) => JSON.parse(value) as unknown, serialize: (value) => JSON.stringify(value) };
const bytea: Element = {
  parse: (value) => Buffer.from(value.slice(2), "hex"),
  serialize: (value) => `\\x${Buffer.from(value as Uint8Array).toString("hex")}`,
};

/** Object ids of PostgreSQL's array types, which never change. */
const ELEMENTS: readonly (readonly [arrayType: number, element: Element])[] = [
  [1000, boolean],
  [1001, bytea],
  [1003, text], // name
  [1005, number], // smallint
  [1007, number], // integer
  [1009, text],
  [1015, text], // varchar
  [1016, text], // bigint may exceed a double
  [1021, number], // real
  [1022, number], // double precision
  [1028, number], // oid
  [1185, date], // timestamptz
  [1231, text], // numeric
  [199, json],
  [2951, text], // uuid
  [3807, json], // jsonb
];

/**
 * Arrays of the types that the service uses. The driver would ask each new connection for all array types there are; where that
 * connection is lost meanwhile, nobody handles the failure of its question, and the process would end.
 */
export const ARRAY_TYPES: Record<string, PostgresType> = Object.fromEntries(
  ELEMENTS.map(([type, element]) => [
    `array ${type}`,
    {
      to: type,
      from: [type],
      serialize: (value: unknown) => (Array.isArray(value) ? serializeArray(value, element) : value),
      parse: (literal: string) => parseArray(literal, element),
    },
  ]),
);

function serializeArray(values: readonly unknown[], element: Element): string {
  const items = values.map((value) => {
    if (Array.isArray(value)) return serializeArray(value, element);
    return value === null ? "NULL" : `"${element.serialize(value).replace(/["\\]/g, "\\$&")}"`;
  });
  return `{${items.join(",")}}`;
}

function parseArray(literal: string, element: Element): unknown {
  const root: unknown[] = [];
  const open: unknown[][] = [root];
  // Where an array does not begin at 1, its bounds come first.
  for (const [token, quoted, bare] of literal
    .slice(literal.indexOf("{"))
    .matchAll(/[{}]|"((?:[^"\\]|\\.)*)"|([^{},"]+)/gs)) {
    const list = open.at(-1);
    if (token === "}") open.pop();
    else if (token === "{") {
      const inner: unknown[] = [];
      list?.push(inner);
      open.push(inner);
    } else if (bare === "NULL") list?.push(null);
    else list?.push(element.parse(bare ?? quoted?.replace(/\\(.)/gs, "$1") ?? ""));
  }
  return root[0];
}
