import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDatabase, type TestDatabase } from "../../support/database.js";
import { readExactly } from "./exact-json.js";
import { spell, STYLES } from "./spelling.js";

let db: TestDatabase;
beforeAll(async () => {
  db = await createDatabase();
});
afterAll(() => db.drop());

/** The hashes of properties given as JSON texts, in their order. */
async function hashes(texts: readonly string[]): Promise<string[]> {
  const rows = await db.sql<{ hash: string }[]>`
    select svc.payload_hash('c', 'e', p.value::jsonb, null::timestamptz)::text as hash
    from unnest(${texts as string[]}::text[]) with ordinality as p (value, n) order by p.n`;
  return rows.map(({ hash }) => hash);
}

/** An exact reading as one text: members in order of their names. */
function canonical(json: string): string {
  return JSON.stringify(readExactly(json), (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

/** Few leaves and few shapes, so that payloads differ by little: where something stands, or what of two like things it is. */
const similar = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    fc.constantFrom(
      "null",
      "true",
      "false",
      "0",
      "1",
      "1.0",
      "10e-1",
      "-1",
      '"1"',
      '"1.50,"',
      '"1.5,"',
      '""',
      '"a"',
      '"null"',
      "{}",
      "[]",
    ),
    fc.constantFrom("12345678901234567890", "12345678901234567891", "0.1", "0.10", "0.1000000000000000055"),
    fc.constantFrom("1e4", "10000.0", "1e-4", "-0.0001", "10001", "-0"),
    fc.array(tie("value"), { maxLength: 3 }).map((items) => `[${items.join(",")}]`),
    tie("object"),
  ),
  object: fc
    .array(fc.tuple(fc.constantFrom('"a"', '"b"', '"1"', '""'), tie("value")), { maxLength: 3 })
    .map((members) => `{${members.map((member) => member.join(":")).join(",")}}`),
})).object;

describe("the hash of a payload", () => {
  it("tells payloads apart that differ in anything, and none that differ in spelling", async () => {
    const texts = fc.sample(similar, 10_000);
    const of = await hashes(texts);
    const hashOf = new Map<string, string>();
    const payloadOf = new Map<string, string>();
    const wrong: string[] = [];
    for (const [index, json] of texts.entries()) {
      const payload = canonical(json);
      const hash = of[index]!;
      if ((hashOf.get(payload) ?? hash) !== hash) wrong.push(`${json} has two hashes`);
      if ((payloadOf.get(hash) ?? payload) !== payload) wrong.push(`${json} has the hash of ${payloadOf.get(hash)}`);
      hashOf.set(payload, hash);
      payloadOf.set(hash, payload);
    }
    expect(wrong.slice(0, 10)).toEqual([]);
    expect(hashOf.size).toBeGreaterThan(1_000);
  });

  it("is one for all spellings of any payload", async () => {
    const payloads = fc.array(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })), { maxLength: 50 });
    await fc.assert(
      fc.asyncProperty(payloads, async (values) => {
        const [plain, ...others] = await Promise.all(
          STYLES.map((style) => hashes(values.map((value) => spell(value, style)))),
        );
        for (const other of others) expect(other).toEqual(plain);
      }),
      { numRuns: 30, endOnFailure: true },
    );
  });
});
