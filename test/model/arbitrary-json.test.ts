import fc from "fast-check";
import { expect, test } from "vitest";

import { canonicalJson } from "../../src/model/snapshot/canonical.js";
import { parseSnapshot } from "../../src/model/validate/validate.js";
import type { Snapshot } from "../../src/model/snapshot/types.js";
import { addTo, all, emit, healthOf, inSegment, not, of, rule } from "../engine/support/builders.js";
import { propertyRuns } from "../support/property-runs.js";
import { complete, ordered } from "./sound.js";

/** Names and values with a meaning in snapshots, so that not all arbitrary documents are refused at once. */
const WORDS =
  "kind,id,when,of,event,order placed,total,plan,onboarding,create,chosen,manual,all,any,not,count,aggregate,latest,sequence," +
  "journeyStep,health,scale,display,show,emit,state,7d,0d,a,upsell.ready,constructor,toString,eq,gte,in,sum,active,previousStep";
const word = fc.constantFrom(...WORDS.split(","));
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    fc.oneof(word, fc.constantFrom(null, true, false, 0, 1, -1, 1.5, 1e300), fc.string()),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.oneof(word, fc.string()), tie("value"), { maxKeys: 5, noNullPrototype: true }),
  ),
}));

type Container = Record<string | number, unknown>;

/** A snapshot with one of every kind of part. */
const full: Snapshot = {
  ...complete,
  health: healthOf(
    {
      a: {
        kind: "steps",
        of: { kind: "count", of: { event: "order placed" }, within: "7d" },
        steps: [[1, 50]],
        otherwise: 100,
      },
      b: { kind: "map", trait: "plan", values: { free: 1 } },
    },
    { good: 50, bad: 0 },
  ),
  rules: [
    {
      id: "r",
      ...rule({ kind: "event", of: of("order placed", { kind: "exists", property: "total" }) }, emit("upsell.ready"), {
        when: not(ordered),
        cooldown: "7d",
      }),
    },
    { id: "s", ...rule({ kind: "signalRaised", signal: "manual" }, addTo("chosen")) },
  ],
  display: { name: "plan", show: ["seats", "plan"] },
};

/** The paths of all places in a document. */
function places(node: unknown, trail: (string | number)[] = []): (string | number)[][] {
  if (typeof node !== "object" || node === null) return [trail];
  const keys = Array.isArray(node) ? node.map((_, index) => index) : Object.keys(node);
  return [trail, ...keys.flatMap((key) => places((node as Container)[key], [...trail, key]))];
}

/** The full snapshot with one to three of its places replaced or removed. */
const broken = fc
  .array(fc.tuple(fc.constantFrom(...places(full).slice(1)), fc.option(value, { nil: undefined })), {
    minLength: 1,
    maxLength: 3,
  })
  .map((changes) => {
    const copy = structuredClone(full) as unknown as Container;
    for (const [trail, other] of changes) {
      const parent = trail.slice(0, -1).reduce<unknown>((node, key) => (node as Container | undefined)?.[key], copy);
      if (typeof parent !== "object" || parent === null) continue;
      const last = trail.at(-1)!;
      if (other !== undefined) (parent as Container)[last] = other;
      else if (!Array.isArray(parent)) delete (parent as Container)[last];
    }
    // A place past the end of a shortened list leaves a hole, which JSON cannot have.
    return JSON.parse(JSON.stringify(copy)) as unknown;
  });

const sections = fc.record(
  {
    formatVersion: fc.constant(1),
    strictSchema: fc.boolean(),
    events: value,
    traits: value,
    lifecycle: value,
    journeys: fc.array(value, { maxLength: 3 }),
    segments: fc.array(value, { maxLength: 3 }),
    health: value,
    rules: fc.array(value, { maxLength: 3 }),
    signals: fc.array(value, { maxLength: 3 }),
    display: value,
  },
  { requiredKeys: ["formatVersion"] },
);

test.each([
  ["any JSON", value, 100],
  ["any parts", sections, 150],
  ["a valid snapshot with a few places changed", broken, 750],
])("reading %s never throws, and a snapshot that was read reads back the same", (_, document, runs) => {
  let taken = 0;
  fc.assert(
    fc.property(document, (json) => {
      const result = parseSnapshot(json);
      if (!result.ok) {
        expect(result.problems.length).toBeGreaterThan(0);
        for (const { path, code, message } of result.problems) {
          expect([typeof path, code, message.length > 0]).toEqual(["string", expect.stringMatching(/^[A-Z_]+$/), true]);
        }
        return;
      }
      taken += 1;
      const bytes = canonicalJson(result.snapshot);
      expect(bytes).toBe(canonicalJson(json));
      const again = parseSnapshot(JSON.parse(bytes));
      expect(again.ok && canonicalJson(again.snapshot)).toBe(bytes);
      // The copy has its keys in canonical order.
      expect(JSON.stringify(result.snapshot)).toBe(bytes);
    }),
    { numRuns: propertyRuns(runs) },
  );
  // Usually about fifteen: few random changes leave a snapshot valid.
  if (document === broken) expect(taken).toBeGreaterThan(1);
});

test("the snapshot that these tests break is valid", () => {
  expect(parseSnapshot(full)).toMatchObject({ ok: true });
});

test("a document full of mistakes reports the first thousand, quickly", () => {
  const conditions = Array.from({ length: 12_000 }, (_, index) => inSegment(`unknown_segment_${index}`));
  const segments = Array.from({ length: 500 }, (_, index) => ({ id: `segment_with_a_long_name_${index}` }));
  const result = parseSnapshot({ ...complete, segments: [...segments, { id: "s", when: all(...conditions) }] });
  expect(result.ok ? 0 : result.problems.length).toBe(1_000);
});
