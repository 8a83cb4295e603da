import fc from "fast-check";

// Arbitrary JSON at the text level, with what JSON.stringify never writes: numbers of any size and spelling, any escape, repeated
// members.

const digits = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.integer({ min: 0, max: 9 }).map(String), minLength, maxLength });

const number = fc
  .record({
    sign: fc.constantFrom("", "-"),
    whole: fc.oneof(
      fc.constant("0"),
      fc.tuple(fc.integer({ min: 1, max: 9 }), digits(0, 30)).map((all) => all.join("")),
    ),
    fraction: fc.option(fc.oneof({ weight: 9, arbitrary: digits(1, 30) }, digits(200, 400)), { nil: "", freq: 2 }),
    exponent: fc.option(
      fc.tuple(
        fc.constantFrom("e", "E"),
        fc.constantFrom("", "+", "-"),
        fc.oneof({ weight: 6, arbitrary: fc.nat(12) }, { weight: 3, arbitrary: fc.nat(320) }, fc.nat(20_000)),
      ),
      { nil: [], freq: 2 },
    ),
  })
  .map(({ sign, whole, fraction, exponent }) => sign + whole + (fraction && `.${fraction}`) + exponent.join(""));

const piece = fc.oneof(
  { weight: 30, arbitrary: fc.constantFrom("a", "é", "😀", "'", "{", "[", "1e400", "\u2028", "\uffff", "__proto__") },
  {
    weight: 30,
    arbitrary: fc.constantFrom("\\n", "\\/", "\\\\", '\\"', "\\u0061", "\\u00E9", "\\ud83d\\ude00", "\\\\u0000"),
  },
  { weight: 1, arbitrary: fc.constantFrom("\\u0000", "\\ud83d", "\\ude00", "\\udbff\\ud83d") },
);
const text = fc.array(piece, { maxLength: 6 }).map((pieces) => `"${pieces.join("")}"`);
const name = fc.oneof(fc.constantFrom('"a"', '"\\u0061"', '"__proto__"', '"constructor"', '"toString"', '""'), text);

const value = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: "small", withCrossShrink: true },
    fc.constantFrom("null", "true", "false", "{}", "[]"),
    number,
    text,
    fc.array(tie("value"), { maxLength: 4 }).map((items) => `[${items.join(" , ")}]`),
    fc.array(fc.tuple(name, tie("value")), { maxLength: 4 }).map((members) => {
      return `{${members.map((member) => member.join(":")).join(",")}}`;
    }),
  ),
})).value;

/** A value as JSON text, sometimes nested in so many lists that it is nearly or just too deep. */
export const jsonText = fc.oneof(
  { weight: 12, arbitrary: value },
  fc
    .tuple(value, fc.integer({ min: 90, max: 105 }))
    .map(([inner, levels]) => "[".repeat(levels) + inner + "]".repeat(levels)),
);
