import { describe, expect, test } from "vitest";

import { canonicalJson, hashSnapshot } from "../../src/model/snapshot/canonical.js";
import { isDuration, isIsoDate, parseDuration } from "../../src/model/snapshot/duration.js";
import {
  type Condition,
  EMPTY_SNAPSHOT,
  type PropertyCondition,
  type Snapshot,
} from "../../src/model/snapshot/types.js";
import { parseSnapshot } from "../../src/model/validate/validate.js";
import { ordered, problemsOf, sound } from "./sound.js";

const withCondition = (when: unknown) => problemsOf({ segments: [{ id: "chosen" }, { id: "s", when }] });
const count = (parts: object) => ({ ...ordered, ...parts });
const where = (condition: unknown) => withCondition(count({ of: { event: "order placed", where: condition } }));
const compare = (property: string, operator: string, value: unknown) =>
  where({ kind: "compare", property, operator, value });
const trait = (name: string, operator: string, value: unknown) =>
  withCondition({ kind: "trait", trait: name, operator, value });

test("the empty snapshot is valid, and so is one with everything", () => {
  expect(parseSnapshot(EMPTY_SNAPSHOT)).toEqual({ ok: true, snapshot: EMPTY_SNAPSHOT });
  const properties: PropertyCondition[] = [
    { kind: "not", condition: { kind: "exists", property: "source" } },
    { kind: "compare", property: "source", operator: "in", value: ["web"] },
    { kind: "compare", property: "tags", operator: "contains", value: "x" },
    { kind: "compare", property: "gift", operator: "ne", value: true },
  ];
  const of = { event: "order placed", where: { kind: "any" as const, conditions: properties } };
  const conditions: Condition[] = [
    { kind: "count", of, within: "30d", operator: "gte", value: 10_000 },
    { kind: "count", of, since: "state", operator: "eq", value: 0 },
    { kind: "trait", trait: "renewsOn", operator: "lt", value: "2026-02-28T10:00:00+01:00" },
    { kind: "traitExists", trait: "plan" },
    { kind: "traitDateWithin", trait: "renewsOn", within: "4w" },
    { kind: "inactiveFor", duration: "1d" },
    { kind: "activeWithin", duration: "15m" },
    { kind: "lifecycle", states: ["a"] },
    { kind: "inState", atLeast: "1h" },
    { kind: "segment", segment: "chosen" },
  ];
  const everything = { ...sound, segments: [...sound.segments, { id: "s", when: { kind: "all", conditions } }] };
  expect(parseSnapshot(everything)).toEqual({ ok: true, snapshot: everything });
});

test("the result shares nothing with the argument", () => {
  const result = parseSnapshot(sound);
  expect(result.ok && result.snapshot).toEqual(sound);
  expect(result.ok && result.snapshot.events).not.toBe(sound.events);
});

test.each([
  ["", "INVALID_SHAPE", []],
  ["", "INVALID_SHAPE", null],
  ["formatVersion", "FORMAT_VERSION_UNKNOWN", {}],
  ["formatVersion", "FORMAT_VERSION_UNKNOWN", { formatVersion: 2, segments: 5 }],
  ["", "SNAPSHOT_TOO_LARGE", { ...sound, extra: "é".repeat(524_289) }],
  ["extra", "NOT_JSON", { ...sound, extra: Number.NaN }],
  ['events["a\\u0000"]', "INVALID_NAME", { ...sound, events: { "a\0": { properties: {} } } }],
  ["lifecycle", "INVALID_VALUE", { ...sound, lifecycle: "\ud800" }],
])("for %j and %s alone a document is refused", (path, code, document) => {
  const result = parseSnapshot(document);
  expect(result.ok ? [] : result.problems.map((problem) => [problem.path, problem.code])).toEqual([[path, code]]);
});

describe.each(["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"])("the name %s", (name) => {
  const record = (value: object) => JSON.parse(JSON.stringify({ name: value }).replace("name", name)) as object;

  test("can name an event, a property, a trait and a value like any other", () => {
    const fields = record({ type: "string", enum: [name] });
    const when = { kind: "count", of: { event: name, where: { kind: "compare", property: name, operator: "eq", value: name } }, operator: "gte", value: 1 }; // oxfmt-ignore
    const snapshot = {
      ...sound,
      events: record({ properties: fields }),
      traits: fields,
      segments: [{ id: "own", when }],
    };
    const result = parseSnapshot(snapshot);
    expect(result).toMatchObject({ ok: true });
    expect(result.ok && canonicalJson(result.snapshot)).toBe(canonicalJson(snapshot));
  });

  test("is refused like any other where it is not declared", () => {
    expect(problemsOf(record({}))).toEqual([`${name} INVALID_SHAPE`]);
    const count = { kind: "count", of: { event: name }, operator: "gte", value: 1 };
    expect(withCondition(count)).toEqual(["segments[1].when.of.event UNKNOWN_EVENT"]);
    expect(withCondition({ kind: "traitExists", trait: name })).toEqual(["segments[1].when.trait UNKNOWN_TRAIT"]);
  });
});

test("harmless names of the prototype are treated like other names", () => {
  expect(withCondition({ kind: "segment", segment: "toString" })).toEqual(["segments[1].when.segment UNKNOWN_SEGMENT"]);
  expect(compare("valueOf", "eq", 1)).toEqual(["segments[1].when.of.where.property UNKNOWN_PROPERTY"]);
  expect(withCondition({ kind: "hasOwnProperty" })).toEqual(["segments[1].when.kind INVALID_SHAPE"]);
  expect(problemsOf({ events: { toString: { properties: {} } } })).toEqual([]);
});

test("depth is limited without exhausting the stack", () => {
  const nest = (depth: number, inmost: unknown): unknown =>
    Array.from({ length: depth - 1 }).reduce((condition) => ({ kind: "not", condition }), inmost);
  const segment = { kind: "segment", segment: "chosen" };
  expect(withCondition(nest(32, segment))).toEqual([]);
  expect(withCondition(nest(33, segment))).toEqual([`segments[1].when${".condition".repeat(32)} TOO_DEEP`]);
  expect(withCondition(nest(50_000, segment))).toEqual([expect.stringMatching(/ TOO_DEEP$/)]);
  const property = { kind: "exists", property: "total" };
  expect(where(nest(31, property))).toEqual([]);
  expect(where(nest(32, property))).toEqual([expect.stringMatching(/ TOO_DEEP$/)]);
});

test("the numbers of events, segments and states are limited", () => {
  const many = <T>(length: number, make: (index: number) => T) => Array.from({ length }, (_, index) => make(index));
  const events = (length: number) => Object.fromEntries(many(length, (index) => [`e${index}`, { properties: {} }]));
  const segments = (length: number) => many(length, (index) => ({ id: `s${index}` }));
  const lifecycle = (length: number) => ({
    initial: "s0",
    states: many(length, (index) => ({ name: `s${index}`, transitions: [] })),
  });
  expect(problemsOf({ events: events(1_000), segments: segments(500), lifecycle: lifecycle(100) })).toEqual([]);
  expect(problemsOf({ events: events(1_001), segments: segments(501), lifecycle: lifecycle(101) })).toEqual([
    "lifecycle.states TOO_MANY",
    "segments TOO_MANY",
    "events TOO_MANY",
  ]);
});

test.each(["", "a\nb", "\u{1f600}".repeat(257)])("the event name %j is refused", (name) => {
  expect(problemsOf({ events: { [name]: { properties: {} } } })).toEqual([expect.stringMatching(/ INVALID_NAME$/)]);
});

test("the length of names is counted in characters, and any other name is accepted", () => {
  expect(
    problemsOf({ events: { ["\u{1f600}".repeat(256)]: { properties: { "Größe (cm)": { type: "number" } } } } }),
  ).toEqual([]);
});

test.each([
  [{ extra: 1 }, "extra INVALID_SHAPE"],
  [{ traits: { a: { type: "money" } } }, "traits.a.type INVALID_SHAPE"],
  [{ traits: { a: { type: "string", enum: [] } } }, "traits.a.enum INVALID_SHAPE"],
  [{ traits: { a: { type: "array", items: { type: "number", enum: ["1"] } } } }, "traits.a.items.enum TYPE_MISMATCH"],
  [{ traits: { a: { type: "array", items: { type: "array" } } } }, "traits.a.items.type INVALID_SHAPE"],
  [{ segments: [{ id: "Big" }] }, "segments[0].id INVALID_NAME"],
  [{ segments: [{ id: "a" }, { id: "a" }] }, "segments[1].id DUPLICATE_SEGMENT"],
  [{ lifecycle: { initial: "b", states: [{ name: "a", transitions: [] }] } }, "lifecycle.initial UNKNOWN_STATE"],
  [{ lifecycle: { initial: "a", states: [] } }, "lifecycle.initial UNKNOWN_STATE"],
])("a snapshot with %j is refused: %s", (parts, ...problems) => {
  expect(problemsOf(parts)).toEqual(problems);
});

test("every problem of a lifecycle is found", () => {
  const when = { kind: "segment", segment: "chosen" };
  const states = [
    { name: "a", transitions: [{ to: "nowhere", when }] },
    { name: "a", transitions: [] },
    { name: "created", terminal: true, transitions: [{ to: "a", when: { kind: "inactiveFor", duration: "0d" } }] },
    { name: "No", transitions: [{ to: "a" }] },
  ];
  expect(problemsOf({ lifecycle: { initial: "a", states } })).toEqual([
    "lifecycle.states[0].transitions[0].to UNKNOWN_STATE",
    "lifecycle.states[1].name DUPLICATE_STATE",
    "lifecycle.states[2].name RESERVED_NAME",
    "lifecycle.states[2].transitions TERMINAL_STATE_WITH_TRANSITIONS",
    "lifecycle.states[2].transitions[0].when.duration INVALID_DURATION",
    "lifecycle.states[3].name INVALID_NAME",
    "lifecycle.states[3].transitions[0].when INVALID_SHAPE",
  ]);
});

const WHEN = "segments[1].when";

test.each<[problems: string[], ...expected: string[]]>([
  [withCondition("always"), `${WHEN} INVALID_SHAPE`],
  [withCondition({ kind: "all", conditions: [] }), `${WHEN}.conditions INVALID_SHAPE`],
  [
    withCondition({ kind: "any", conditions: ["x", 1].map((segment) => ({ kind: "segment", segment })) }),
    `${WHEN}.conditions[0].segment UNKNOWN_SEGMENT`,
    `${WHEN}.conditions[1].segment INVALID_SHAPE`,
  ],
  [withCondition(count({ of: { event: "order" } })), `${WHEN}.of.event UNKNOWN_EVENT`],
  [withCondition(count({ value: 1_000_000_001, within: "1d" })), `${WHEN}.value INVALID_SHAPE`],
  [withCondition(count({ within: "3651d" })), `${WHEN}.within INVALID_DURATION`],
  [withCondition(count({ operator: "in" })), `${WHEN}.operator INVALID_SHAPE`],
  [compare("x", "eq", 1), `${WHEN}.of.where.property UNKNOWN_PROPERTY`],
  [compare("total", "contains", 1), `${WHEN}.of.where.operator TYPE_MISMATCH`],
  [compare("total", "gte", "5"), `${WHEN}.of.where.value TYPE_MISMATCH`],
  [compare("source", "lt", "web"), `${WHEN}.of.where.operator TYPE_MISMATCH`],
  [compare("source", "in", "web"), `${WHEN}.of.where.value TYPE_MISMATCH`],
  [compare("source", "eq", ["web"]), `${WHEN}.of.where.value TYPE_MISMATCH`],
  [compare("source", "notIn", ["web", "fax"]), `${WHEN}.of.where.value[1] INVALID_VALUE`],
  [compare("tags", "contains", "y"), `${WHEN}.of.where.value INVALID_VALUE`],
  [compare("total", "eq", {}), `${WHEN}.of.where.value INVALID_SHAPE`],
  [where({ kind: "inactiveFor", duration: "1d" }), `${WHEN}.of.where.kind INVALID_SHAPE`],
  [trait("x", "eq", 1), `${WHEN}.trait UNKNOWN_TRAIT`],
  [trait("renewsOn", "gt", "2026-02-29"), `${WHEN}.value INVALID_VALUE`],
  [withCondition({ kind: "traitDateWithin", trait: "seats", within: "1d" }), `${WHEN}.trait TYPE_MISMATCH`],
  [withCondition({ kind: "lifecycle", states: ["a", "b"] }), `${WHEN}.states[1] UNKNOWN_STATE`],
])("a condition is refused for %j", (problems, ...expected) => {
  expect(problems).toEqual(expected);
});

test("conditions on the lifecycle are refused without one", () => {
  const conditions = [
    { kind: "inState", atLeast: "1d" },
    { kind: "lifecycle", states: ["a"] },
    count({ since: "state" }),
  ];
  expect(problemsOf({ lifecycle: null, segments: [{ id: "s", when: { kind: "all", conditions } }] })).toEqual([
    "segments[0].when.conditions[0] NO_LIFECYCLE",
    "segments[0].when.conditions[1] NO_LIFECYCLE",
    "segments[0].when.conditions[2].since NO_LIFECYCLE",
  ]);
});

test("segments that read each other in a circle are refused, unless the circle passes through the lifecycle", () => {
  const has = (segment: string) => ({ kind: "segment", segment });
  const circle = [
    { id: "a", when: { kind: "all", conditions: [has("chosen"), has("b")] } },
    { id: "b", when: { kind: "not", condition: has("c") } },
    { id: "c", when: has("b") },
    { id: "own", when: has("own") },
    { id: "chosen" },
  ];
  expect(problemsOf({ segments: circle })).toEqual([
    "segments[2].when.segment SEGMENT_CYCLE",
    "segments[3].when.segment SEGMENT_CYCLE",
  ]);
  const lifecycle = {
    initial: "a",
    states: [
      { name: "a", transitions: [{ to: "b", when: has("s") }] },
      { name: "b", transitions: [] },
    ],
  };
  expect(problemsOf({ lifecycle, segments: [{ id: "s", when: { kind: "lifecycle", states: ["a"] } }] })).toEqual([]);
});

test("equal snapshots have equal bytes, in any order of keys", () => {
  const reversed = Object.fromEntries(Object.entries(sound).reverse()) as unknown as Snapshot;
  expect(canonicalJson(reversed)).toBe(canonicalJson(sound));
  expect(hashSnapshot(reversed)).toBe(hashSnapshot(sound));
  expect(canonicalJson({ b: [1, "ü", null], a: { d: true, c: -0 }, e: undefined })).toBe(
    '{"a":{"c":0,"d":true},"b":[1,"ü",null]}',
  );
  expect(() => canonicalJson({ a: Number.POSITIVE_INFINITY })).toThrow(new TypeError("JSON has no number Infinity"));
});

test("a model without a display keeps the hash it had before displays were introduced", () => {
  expect(hashSnapshot(EMPTY_SNAPSHOT)).toBe("e57c961b3ef41657195fde08a3f29e64672a0a6814630937371aea6e6fc6e70c");
  expect(hashSnapshot({ ...EMPTY_SNAPSHOT, display: { name: "plan" } })).not.toBe(hashSnapshot(EMPTY_SNAPSHOT));
});

test("durations are whole numbers of fixed units", () => {
  expect(["15m", "12h", "7d", "4w"].map(parseDuration)).toEqual([900_000, 43_200_000, 604_800_000, 2_419_200_000]);
  for (const text of ["0d", "07d", "1.5d", "-1d", "7", "d", "7 d", "7D", "7d ", "99999999w", ""]) {
    expect(isDuration(text)).toBe(false);
    expect(() => parseDuration(text)).toThrow(RangeError);
  }
});

test("dates must exist in the calendar, and need a zone if they have a time", () => {
  const good = ["2026-01-31", "2024-02-29", "0001-01-01", "2026-01-31T23:59:59.999Z", "2026-01-31T09:30+01:00"];
  const bad = ["2026-02-29", "2026-13-01", "2026-01-31T09:30:00", "2026-01-31T24:00Z", "31.1.2026", "2026-1-31", ""];
  expect(good.filter((text) => !isIsoDate(text))).toEqual([]);
  expect(bad.filter(isIsoDate)).toEqual([]);
});

test("many unknown members are refused like a single one", () => {
  const unknown = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`unknown_${n}`, 0]));
  expect(problemsOf(unknown)).toContainEqual("unknown_0 INVALID_SHAPE");
  const condition = withCondition({ kind: "activeWithin", duration: "1d", ...unknown });
  expect(condition).toContainEqual("segments[1].when.unknown_0 INVALID_SHAPE");
});
