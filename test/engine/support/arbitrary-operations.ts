import fc from "fast-check";

import type { Json, Operation } from "../../../src/engine/index.js";
import { EVENTS, weighted } from "./arbitrary-conditions.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export const START = Date.parse("2026-01-01T00:00:00Z");
/** Later than any operation, and than most timers that follow from one. */
export const FINAL_INSTANT = START + 8 * DAY;

const properties = fc.constantFrom<Record<string, Json>>(
  {},
  { x: 0 },
  { x: 1, y: "p" },
  { x: 2, y: "q" },
  { x: 0.1 },
  { x: 0.2, y: "p" },
  { x: -1.5 },
  { x: null },
  { x: "1" },
  { day: "2026-01-01" },
  { day: "2026-01-01T01:00:00+01:00" },
  { day: "soon", y: 1 },
);

/** Changing, repeating and removing values. */
const traits = fc.oneof(
  fc.record({ plan: fc.constantFrom("free", "pro", null) }),
  fc.record({ seats: fc.constantFrom(1, 2, 3, null) }),
  fc.record({ renewsOn: fc.constantFrom("2026-01-02", "2026-01-04T12:00:00Z", "2026-01-09", "soon", null) }),
) as fc.Arbitrary<Record<string, Json>>;

/** The time between the acceptance of an operation and the one before it: often none. */
const gap = fc.constantFrom(0, 0, 0, 4 * MINUTE, HOUR, 6 * HOUR, 6 * HOUR, 12 * HOUR);
/** The offset of an event's occurrence from its acceptance: mostly none, sometimes within the tolerance, late or ahead. */
const shift = weighted(
  [5, fc.constant(0)],
  [2, fc.constantFrom(-4 * MINUTE, 4 * MINUTE, 5 * MINUTE, -5 * MINUTE)],
  [2, fc.constantFrom(-HOUR, -6 * HOUR, -DAY, -3 * DAY)],
  [1, fc.constantFrom(6 * MINUTE, 6 * HOUR, 12 * HOUR)],
);
const event = fc.constantFrom(...EVENTS, ...EVENTS, "other");

const track = fc.record({ kind: fc.constant("track"), gap, shift, event, properties });
const identify = fc.record({ kind: fc.constant("identify"), gap, traits });
type Draft = typeof track extends fc.Arbitrary<infer T> ? T | (typeof identify extends fc.Arbitrary<infer I> ? I : never) : never; // oxfmt-ignore

function accept(drafts: readonly Draft[]): Operation[] {
  let acceptedAt = START;
  return drafts.map((draft, i): Operation => {
    const seq = i + 1;
    acceptedAt += draft.gap;
    if (draft.kind === "identify") return { kind: "identify", seq, traits: draft.traits, acceptedAt };
    const { event, properties, shift } = draft;
    const occurredAt = acceptedAt + shift;
    return { kind: "track", seq, eventId: `e${seq}`, event, properties, occurredAt, acceptedAt };
  });
}

/** Operations of one customer in order of acceptance. */
export const operations: fc.Arbitrary<Operation[]> = fc
  .array(weighted([4, track], [1, identify]), { minLength: 1, maxLength: 12 })
  .map((drafts) => accept(drafts));

const known = fc.record({
  plan: fc.constantFrom("free", "pro"),
  renewsOn: fc.constantFrom("2026-01-04", "2026-01-09"),
});
const timely = track.map((draft) => ({ ...draft, shift: draft.shift > 5 * MINUTE ? draft.shift : 0 }));

/**
 * Operations that are evaluated in order: traits first, if any, then perhaps a backfill in one request, then events that are
 * punctual or far ahead.
 */
export const inOrder: fc.Arbitrary<Operation[]> = fc
  .record({
    known: fc.option(known, { nil: null, freq: 2 }),
    backfilled: fc.array(fc.record({ age: fc.integer({ min: 1, max: 12 }), event, properties }), { maxLength: 5 }),
    drafts: fc.array(timely, { maxLength: 8 }),
  })
  .map(({ known, backfilled, drafts }) => {
    const identify: Draft[] = known === null ? [] : [{ kind: "identify", gap: 0, traits: known }];
    const past = backfilled
      .sort((a, b) => b.age - a.age)
      .map(({ age, ...rest }): Draft => ({ kind: "track", gap: 0, shift: -age * 6 * HOUR, ...rest }));
    const all = [...identify, ...past, ...drafts];
    // For a first event in the future, a replay knows its acceptance, but not what else came at that instant.
    if (all[0]?.kind === "track" && all[1] !== undefined) all[1] = { ...all[1], gap: Math.max(all[1].gap, HOUR) };
    return accept(all);
  });
