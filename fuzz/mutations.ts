/** Nearly correct input: texts with a few changed bytes, documents with other values in a few places. */
import fc, { type Arbitrary } from "fast-check";

const BYTES = ['"', "\\", "{", "}", "[", "]", ",", ":", "0", "-", "e", ".", "u", " ", "\n", "\0", "\x7f"]
  .map((text) => Buffer.from(text))
  .concat(["ff", "c0af", "eda080", "efbbbf", "f4908080", "e2"].map((hex) => Buffer.from(hex, "hex")));

const change = fc.record({
  kind: fc.constantFrom("truncate", "flip", "insert", "remove", "repeat"),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  size: fc.integer({ min: 1, max: 8 }),
  bytes: fc.constantFrom(...BYTES),
});

/** The bytes with one to three changes. */
export function mutated(bytes: Arbitrary<Buffer>): Arbitrary<Buffer> {
  return fc.tuple(bytes, fc.array(change, { minLength: 1, maxLength: 3 })).map(([original, changes]) =>
    changes.reduce((before, { kind, at: share, size, bytes: more }) => {
      const at = Math.floor(share * before.length);
      const [head, tail] = [before.subarray(0, at), before.subarray(at)];
      if (kind === "truncate") return head;
      if (kind === "insert") return Buffer.concat([head, more, tail]);
      if (kind === "remove") return Buffer.concat([head, tail.subarray(size)]);
      if (kind === "repeat") return Buffer.concat([head, tail.subarray(0, size), tail]);
      const flipped = Buffer.from(before);
      if (at < flipped.length) flipped[at]! ^= 1 << (size - 1);
      return flipped;
    }, original),
  );
}

type Container = Record<string | number, unknown>;
type Trail = (string | number)[];

/** Every place in a document except the root. */
function places(node: unknown, trail: Trail = []): Trail[] {
  if (typeof node !== "object" || node === null) return [];
  const keys = Array.isArray(node) ? node.map((_, index) => index) : Object.keys(node);
  return keys.flatMap((key) => [[...trail, key], ...places((node as Container)[key], [...trail, key])]);
}

const MARK = (index: number) => `~mark ${index}~`;

const valueAt = (document: unknown, trail: Trail): unknown =>
  trail.reduce<unknown>((node, key) => (node as Container | undefined)?.[key], document);

/**
 * The text of a document with one to `most` changes: another text, a removed value, or an additional member.
 *
 * @param other what may replace a value that has this name in an object
 */
export function changed(
  document: unknown,
  other: (value: unknown, name: string) => Arbitrary<string>,
  most: number,
): Arbitrary<string> {
  const all = places(document);
  if (all.length === 0) return other(document, "");
  const one = fc.constantFrom(...all).chain((trail) =>
    fc.record({
      trail: fc.constant(trail),
      kind: fc.constantFrom("replace", "replace", "replace", "replace", "remove", "add"),
      name: fc.constantFrom("__proto__", "constructor", "unknown", "id", "when", ""),
      text: other(valueAt(document, trail), trail.filter((key) => typeof key === "string").at(-1) ?? ""),
    }),
  );
  return fc.array(one, { minLength: 1, maxLength: most }).map((changes) => {
    const copy = structuredClone(document) as Container;
    for (const [index, { trail, kind, name }] of changes.entries()) {
      const parent = valueAt(copy, trail.slice(0, -1));
      if (typeof parent !== "object" || parent === null) continue;
      const key = kind === "add" ? name : trail.at(-1)!;
      if (kind !== "remove")
        Object.defineProperty(parent, key, {
          value: MARK(index),
          enumerable: true,
          configurable: true,
          writable: true,
        });
      else if (Array.isArray(parent)) parent.splice(Number(key), 1);
      else Reflect.deleteProperty(parent, key);
    }
    return changes.reduce(
      (text, { text: put }, index) => text.replace(JSON.stringify(MARK(index)), () => put),
      JSON.stringify(copy),
    );
  });
}
