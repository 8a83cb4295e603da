/** Random texts of JSON values: some that the service must accept, others that it may refuse. */
import fc, { type Arbitrary } from "fast-check";

const NAMES =
  '__proto__,constructor,toString,hasOwnProperty,a,b,value,Value,"",é,e\u0301,ﬁ,İ,ß,𝒳,\u202e,\u200b,\u2028,\ufeff,�,\uffff';
const ESCAPES = '\\",\\\\,\\/,\\b,\\f,\\n,\\r,\\t,\\u0041,\\u00e9,\\uD83D\\uDE00,\\ud834\\udd1e,\\u2028,\\uFFFF'.split(
  ",",
);
const NUMBERS =
  "0,-0,-0.0,0.0,0e0,1,0.1000,1.205e2,1E+2,1e-0,120.50,5e-324,1e308,1.7976931348623157e308,-1e308,9007199254740993,12345678901234567890,0.1e1,1e-300";
/** JSON, but not storable. */
const UNSTORABLE =
  '1e309 -1e400 1e-400 0e-16384 0e99999999999 1e999999999999 "\\u0000" "\\ud800" "\\udc00x" "\\ud800\\u0041"'.split(
    " ",
  );
const NO_JSON = [
  ...["01", "-", "+1", ".5", "1.", "1e", "0x10", "NaN", "Infinity", "-Infinity", "1_000", "１"],
  ...['"\\x41"', '"\u0000"', '"\n"', '"', "'a'", "", " ", "undefined", "True", "nul"],
  ...["[", "]", "{", "}", "[,]", "[1,]", '{"a"}', '{"a":1,}', "{a:1}", "//"],
];

/** Characters of any kind except U+0000 and lone surrogates, literal or escaped. */
const piece = fc.oneof(
  fc.constantFrom(...ESCAPES),
  fc.string({ unit: "binary", maxLength: 4 }).map((text) => JSON.stringify(text.replaceAll("\0", "0")).slice(1, -1)),
);
const pieces = fc.array(piece, { maxLength: 6 }).map((all) => `"${all.join("")}"`);
const name = fc.oneof(
  fc.constantFrom(...NAMES.split(",")).map((text) => JSON.stringify(text)),
  pieces,
);
const space = fc.constantFrom("", "", "", " ", "\n", "\t\r ");

const digits = (maxLength: number) =>
  fc.stringMatching(new RegExp(`^[0-9]{1,${maxLength}}$`)).map((text) => text.replace(/^0+(?=.)/, ""));
const number = fc.oneof(
  fc.constantFrom(...NUMBERS.split(",")),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc
    .tuple(
      fc.constantFrom("", "-"),
      digits(40),
      fc.stringMatching(/^(\.[0-9]{1,40})?$/),
      fc.integer({ min: -200, max: 200 }),
    )
    .map(
      ([sign, whole, fraction, exponent]) => `${sign}${whole}${fraction}${exponent % 3 === 0 ? "" : `E${exponent}`}`,
    ),
);

/** A text within `levels` arrays or objects. */
const nested = (levels: number, text: string): string =>
  levels % 2 === 0
    ? "[".repeat(levels) + text + "]".repeat(levels)
    : '{"a":'.repeat(levels) + text + "}".repeat(levels);

/** An object with some of these values; names may be repeated. */
const objectOf = (value: Arbitrary<string>): Arbitrary<string> =>
  fc
    .array(fc.tuple(name, space, value), { maxLength: 4 })
    .map((members) => `{${members.map(([key, gap, text]) => `${gap}${key}${gap}:${gap}${text}`).join(",")}}`);

function valuesOf(scalar: Arbitrary<string>): Arbitrary<string> {
  const { value } = fc.letrec<{ value: string }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      scalar,
      fc
        .array(fc.tuple(space, tie("value")), { maxLength: 4 })
        .map((items) => `[${items.map((item) => item.join("")).join(",")}]`),
      objectOf(tie("value")),
    ),
  }));
  return value;
}

const scalar = fc.oneof(fc.constantFrom("null", "true", "false"), number, number, pieces);
/** Any value that is stored unchanged. */
export const soundValue = fc.oneof(
  { weight: 40, arbitrary: valuesOf(scalar) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 20_000 }).map((length) => `"${"x".repeat(length)}"`) },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.integer({ min: 1, max: 90 }), scalar).map(([levels, text]) => nested(levels, text)),
  },
);
/** An object with such values. */
export const soundObject = objectOf(soundValue);
/** A string of 1 to 256 characters, about half of them the same few. */
export const soundName = fc.oneof(
  fc.constantFrom('"c1"', '"c2"', '"seen"', '"s\\u0065en"'),
  fc.tuple(piece, pieces).map(([first, others]) => `"x${first}${others.slice(1)}`),
);

/** Values that are, or nearly are, too large, too deep or too long. */
const large = fc.oneof(
  fc.constantFrom(95, 98, 99, 100, 101, 5_000, 20_000).map((levels) => nested(levels, "0")),
  fc.constantFrom(60_000, 65_530, 70_000, 600_000).map((length) => `"${"x".repeat(length)}"`),
  fc.constantFrom(300, 16_000, 16_380, 16_384, 140_000).map((length) => `0.${"0".repeat(length)}1`),
  fc.constantFrom(308, 310, 16_000, 140_000).map((length) => "9".repeat(length)),
);
const ODD = [
  "null",
  "[]",
  "{}",
  '""',
  "0",
  "true",
  '{"__proto__":{"a":1}}',
  `"${"x".repeat(257)}"`,
  `"${"𝒳".repeat(256)}"`,
];
/** Values that may be refused, some of which are not JSON. */
export const hostileValue = fc.oneof(
  { weight: 4, arbitrary: soundValue },
  { weight: 6, arbitrary: fc.constantFrom(...UNSTORABLE, ...ODD) },
  { weight: 1, arbitrary: fc.constantFrom(...NO_JSON) },
  { weight: 1, arbitrary: large },
);

const two = (least: number, most: number) =>
  fc.integer({ min: least, max: most }).map((n) => String(n).padStart(2, "0"));
/** A date-time of the years 2 to 9998, in all accepted notations. */
export const soundInstant = fc
  .tuple(
    fc.date({ min: new Date("0002-01-01T00:00:00Z"), max: new Date("9998-12-31T00:00:00Z"), noInvalidDate: true }),
    fc.constantFrom("T", "t"),
    fc.stringMatching(/^(\.[0-9]{1,9})?$/),
    fc.oneof(
      fc.constantFrom("Z", "z", "+00:00", "-00:00"),
      fc
        .tuple(fc.constantFrom("+", "-"), two(0, 15), fc.constantFrom(":", ""), two(0, 59))
        .map((zone) => zone.join("")),
    ),
  )
  .map(
    ([date, separator, fraction, zone]) =>
      `"${date.toISOString().slice(0, 19).replace("T", separator)}${fraction}${zone}"`,
  );
const NO_INSTANTS =
  "2026-02-29T10:00:00Z,2026-03-02T24:00:00Z,2026-03-02T23:59:60Z,0000-01-01T00:00:00Z,0001-01-01T00:00:00+00:01,9999-12-31T23:59:59.9999999Z,9999-12-31T23:59:59-00:01,0001-01-01T00:00:00Z,+010000-01-01T00:00:00Z,2026-03-02,now,infinity,epoch,1772445600,2026-W10-1T00:00:00Z,２０２６-03-02T10:00:00Z,2026-03-02T10:00:00+16:00,2026-03-02T10:00:00.0000000005Z,2026-03-02T10:00:00Z BC";
export const hostileInstant = fc.oneof(
  fc.constantFrom(...NO_INSTANTS.split(",")).map((text) => `"${text}"`),
  hostileValue,
);
