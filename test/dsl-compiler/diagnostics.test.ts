import { expect, test } from "vitest";

import { diagnose, inOneLine } from "./project.js";

test.each<[what: string, files: string | Record<string, string>, expected: string]>([
  [
    "a missing module",
    {
      "svc.config.ts": `import "./nowhere.js";\nimport { b } from "./a.js";\nexport default b;\n`,
      "a.ts": "export {};\n",
    },
    'svc.config.ts:1:8-22 MODULE_NOT_FOUND: could not resolve "./nowhere.js"; correct the path, or install the package in the project\'s folder',
  ],
  [
    "a missing export",
    { "svc.config.ts": `import { b } from "./a.js";\nexport default b;\n`, "a.ts": `export const a = 1;\n` },
    'svc.config.ts:1:10-11 NO_SUCH_EXPORT: no matching export in "a.ts" for import "b"; correct the name, or export it from that file',
  ],
  [
    "a state that is declared twice",
    `import { defineModel, lifecycle } from "svc-success";
export default defineModel({ lifecycle: lifecycle({ initial: "a", states: {
  a: {},
  a: {},
} }) });`,
    'svc.config.ts:4:3-4 DUPLICATE_KEY: duplicate key "a" in object literal; remove one of the two, or give it another name',
  ],
  [
    "no default export",
    "export const model = 1;",
    "svc.config.ts:1:1-1 NO_DEFAULT_EXPORT: svc.config.ts has no default export; write export default defineModel({ … })",
  ],
  [
    "a default export of another kind",
    "export default { events: [] };",
    "svc.config.ts:1:1-1 NOT_A_MODEL: the default export of svc.config.ts is not a model; write export default defineModel({ … })",
  ],
  [
    "a filter in a module of events",
    {
      "svc.config.ts": `import { defineModel } from "svc-success";
import * as events from "./events.js";
export default defineModel({ events });`,
      "events.ts": `import { event, number } from "svc-success";
export const order = event("order", { amount: number() }).recordOnly();
export const bigOrder = order.where((p) => p.amount.atLeast(100));`,
    },
    "svc.config.ts:3:16-16 NOT_AN_EVENT: events.bigOrder is not an event; move it out of the module of events, which lists all that it exports",
  ],
  [
    "an event that no condition reads, if it is not marked",
    `import { defineModel, event, string } from "svc-success";
const viewed = event("page viewed", { page: string() }).recordOnly();
const unused = event("unused");
export default defineModel({ strictSchema: true, events: { viewed, unused } });`,
    'svc.config.ts:3:16-16 UNUSED_EVENT: no condition reads the event "unused"; use it in a condition, mark it with .recordOnly() if only people read it, or remove it',
  ],
])("%s is reported with its place and a fix", async (_, files, expected) => {
  expect((await diagnose(files)).map(inOneLine)).toEqual([expected]);
});

test("an endless loop is aborted", async () => {
  expect(await diagnose("for (;;) {}", { timeLimitMs: 1_000 })).toEqual([
    {
      code: "MODEL_TIMED_OUT",
      severity: "error",
      message: "the model was not loaded within 1 seconds",
      fix: "look for an endless loop, or for work that does not belong in a model",
    },
  ]);
});

test.each([
  ["process.exit(0)", "with exit code 0"],
  ["process.abort()", "by SIGABRT"],
  ["await new Promise(() => {})", "with exit code 13"],
])("%s is reported as the end of the process", async (source, how) => {
  expect(await diagnose(`${source};\nexport default 1;`)).toEqual([
    {
      code: "MODEL_ENDED",
      severity: "error",
      message: `the process that loaded the model ended ${how} before the model was complete`,
      fix: "look for process.exit, for an await that never ends, or for more memory than a model may use",
    },
  ]);
});

test.each([
  ["throw Object.create(null);", "the model could not be loaded: object that has no text"],
  [
    `import { defineModel, segment } from "svc-success";
export default defineModel({ segments: [segment("a", { when: () => { throw Object.create(null); } })] });`,
    "a function in the model failed: object that has no text",
  ],
  [
    "throw new (class extends Error { get message() { throw new Error(); } })();",
    "the model could not be loaded: object that has no text",
  ],
  [
    `import { defineModel, segment } from "svc-success";
export default defineModel({ segments: [segment("a", { when: () => { throw Object.assign(new Error("no"), { stack: 5 }); } })] });`,
    "a function in the model failed: Error: no",
  ],
])("what is thrown and cannot be made a text is reported: %s", async (source, message) => {
  const found = await diagnose(source);
  expect(found.map(({ code, message }) => [code, message])).toEqual([["MODEL_FAILED", message]]);
});

test("all mistakes of a model are reported at once, each at its position", async () => {
  const found = await diagnose(`
import { all, defineModel, event, lifecycle, number, oneOf, segment, traits } from "svc-success";
const order = event("order", { total: number() });
const again = event("order");
const unlisted = event("unlisted");
const customer = traits({ plan: oneOf("free", "pro") });
const other = traits({ plan: oneOf("free", "max"), seats: number() });
export default defineModel({
  events: [order, again, 5 as never],
  traits: customer,
  lifecycle: lifecycle({
    initial: "one",
    states: {
      one: { to: { two: unlisted.happened(), created: other.seats.atLeast(3) } },
      two: { terminal: true, to: { one: order.happened() } as never },
      created: { to: { two: other.plan.is("max") } },
    },
  }),
  segments: [
    segment("Large", { when: order.where((p) => p.total.atLeast(3)).happened().within("1.5d") }),
    segment("a", { when: () => b.has() }),
    segment("a", { when: all() }),
    order as never,
  ],
  signal: [],
} as never);
const b = segment("b");
`);
  expect(found.map(({ code, message, line, column }) => `${line}:${column} ${code}: ${message}`)).toEqual([
    '4:15 DUPLICATE_EVENT: there is another event "order"',
    '8:16 UNKNOWN_MODEL_PART: a model has no part "signal", only "strictSchema", "onViolation", "events", "traits", "lifecycle", "journeys", "segments", "health", "rules", "signals", "display", "tracking"',
    "8:16 NOT_AN_EVENT: events[2] is not an event",
    "8:16 NOT_A_SEGMENT: segments[3] is not a segment",
    '11:14 TERMINAL_STATE_WITH_TRANSITIONS: the terminal state "two" must not have transitions',
    '11:14 RESERVED_NAME: no state may be called "created": each customer\'s first emission is customer.created',
    '14:34 UNKNOWN_EVENT: there is no event "unlisted"',
    '14:67 UNKNOWN_TRAIT: there is no trait "seats"',
    '16:40 INVALID_VALUE: "max" is not one of the declared values "free", "pro"',
    '20:5 INVALID_NAME: "Large" is not a valid name: it needs 1 to 256 lower-case letters, digits and underscores, beginning with a letter',
    '20:80 INVALID_DURATION: "1.5d" is no duration: write a whole number and m, h, d or w, such as "12h" or "30d", up to "3650d"',
    '21:34 UNKNOWN_SEGMENT: there is no segment "b"',
    '22:5 DUPLICATE_SEGMENT: there is another segment "a"',
    "22:26 INVALID_SHAPE: segments[2].when.conditions: must not be empty",
  ]);
  expect(found.every(({ severity, file }) => severity === "error" && file === "svc.config.ts")).toBe(true);
});

test("a problem is reported at the member that has it, and a number that JSON does not have as a number", async () => {
  const found = await diagnose(
    `
import { defineModel, emit, event, health, number, rule, scale, segment, traits, traitsChanged } from "svc-success";
const order = event("order");
const customer = traits({ seats: number() });
const usage = scale(order.count().within("30d"), { from: 0, to: 10 });
export default defineModel({
  events: [order],
  traits: customer,
  segments: [
    segment("a", { when: order.where(() => undefined as never).happened() }),
    segment("b", { when: undefined as never }),
    segment("c", { when: order.count().atLeast(NaN) }),
    segment("d", { when: order.count().per(customer.seats).atLeast(Infinity) }),
    segment("e", { when: customer.seats.atLeast(1 / 0) }),
  ],
  health: health({
    components: { first: { weight: 1, score: usage }, other: { weight: -1, score: usage, absent: 101 } },
    bands: { all: 0 },
  }),
  rules: [
    rule("grow", {
      on: traitsChanged,
      then: emit("upsell.ready", { message: "{name} has {seat}" }),
    }),
  ],
});`,
    { types: true },
  );
  expect(found.map((one) => inOneLine(one).replace("svc.config.ts:", ""))).toEqual([
    "10:64-74 INVALID_SHAPE: segments[0].when.of.where: must be an object; give a condition on the event's properties: (p) => p.seats.atLeast(5)",
    '11:26-44 INVALID_SHAPE: segments[1].when: must be an object; give a condition, such as event.happened(), event.count().within("7d").atLeast(3) or segment.has()',
    "12:40-52 INVALID_SHAPE: segments[2].when.value: must be a whole number; give a whole number",
    "13:60-77 INVALID_SHAPE: segments[3].when.value: must be a finite number; give a finite number",
    expect.stringMatching(
      /^14:41-55 INVALID_SHAPE: segments\[4\].when.value: must be a text, a finite number, true or/,
    ),
    "17:72-74 INVALID_SHAPE: health.components[1].weight: must be >= 0; give a number that is at least 0",
    '17:98-101 INVALID_SHAPE: health.components[1].absent: must be "skip" or a number from 0 to 100; give "skip" or a number from 0 to 100',
    expect.stringMatching(
      /^23:13-67 UNKNOWN_TRAIT: there is no trait "seat" that "\{seat\}" could stand for; did you mean "seats"\?; declare/,
    ),
  ]);
});

test("parts that certainly have no effect cause warnings", async () => {
  const found = await diagnose(`
import { activeWithin, all, defineModel, event, inactiveFor, lifecycle, segment } from "svc-success";
const order = event("order");
const unused = event("unused");
const stages = lifecycle({ initial: "a", states: { a: { to: { b: () => stages.is("b") } }, b: {}, c: { to: { a: order.happened() } } } });
export default defineModel({ events: [order, unused], lifecycle: stages, segments: [
  segment("never", { when: order.count().lessThan(0) }),
  segment("always", { when: order.count().atLeast(0) }),
  segment("ratio", { when: order.count().within("3d").per(order.count()).lessThan(0) }),
  segment("both", { when: all(activeWithin("3d"), inactiveFor("3d")) }),
  segment("fine", { when: all(activeWithin("4d"), inactiveFor("3d")) }),
] });`);
  expect(found.map(({ severity, code, message, line }) => `${line} ${severity} ${code}: ${message}`)).toEqual([
    '5 warning UNREACHABLE_STATE: the state "c" is never entered: no transitions lead to it from "a"',
    '5 warning IMPOSSIBLE_CONDITION: the transition from "a" to "b" asks for another state than the one it leaves',
    "7 warning IMPOSSIBLE_CONDITION: a count is never less than 0",
    "8 warning POINTLESS_CONDITION: a count is always at least 0, so this condition always holds",
    "9 warning IMPOSSIBLE_CONDITION: a ratio of counts is never less than 0",
    "10 warning IMPOSSIBLE_CONDITION: any event within 3d; no event for 3d: these can never hold at once",
  ]);
});

test("a part that is neither listed nor exported causes a warning", async () => {
  const files = {
    "svc.config.ts": `
import { defineModel } from "svc-success";
import { order } from "./rules.js";
export default defineModel({ events: [order] });`,
    "rules.ts": `
import { emit, event, rule, segment } from "svc-success";
export const order = event("order").recordOnly();
const upsell = rule("upsell", { on: order, then: emit("upsell.ready") });
export const shared = [segment("other_models", { when: order.happened() })];
const named = rule("named", { on: order, then: emit("a.b") });
export { named };
const inside = rule("inside", { on: order, then: emit("a.b") });
export default () => [inside];
// A function may make parts of several models.
const make = () => rule("made", { on: order, then: emit("made") });
make();`,
  };
  expect((await diagnose(files, { types: true })).map(inOneLine)).toEqual([
    'rules.ts:4:21-29 UNLISTED_DEFINITION: the rule "upsell" is not part of the model; export it from a module that svc.config.ts lists, or add it to a list of defineModel, or remove it',
  ]);
  // Without types it is unknown whether a part is exported.
  expect(await diagnose(files)).toEqual([]);
});

test("parts that svc.config.ts exports but does not list cause warnings, and so do a second health, lifecycle and set of traits", async () => {
  const source = `
import { defineModel, event, health, lifecycle, number, scale, segment, traits } from "svc-success";
const order = event("order");
const make = (id: string) => segment(id, { when: order.happened() });
export const big = segment("big", { when: order.happened() });
const components = { use: { weight: 1, score: scale(order.count(), { from: 0, to: 9 }) } };
export const score = health({ components, bands: { all: 0 } });
const other = health({ components, bands: { all: 0 } });
const stages = lifecycle({ initial: "a", states: { a: {} } });
const spare = lifecycle({ initial: "b", states: { b: {} } });
export const made = make("made");
export { spare };
const customer = traits({ seats: number() });
const unused = traits({ mrr: number() });
export default defineModel({ events: [order], health: score, lifecycle: stages, traits: customer });`;
  const found = await diagnose(source, { types: true });
  expect(found.map(({ code, message, line, fix }) => [code, line, message, fix])).toEqual([
    ["UNLISTED_DEFINITION", 5, 'the segment "big" is not part of the model', expect.stringMatching(/^export it/)],
    [
      "UNLISTED_DEFINITION",
      8,
      "this health score is not part of the model",
      expect.stringMatching(/^write it as "health"/),
    ],
    ["UNLISTED_DEFINITION", 10, "this lifecycle is not part of the model", expect.stringMatching(/^write it as "life/)],
    [
      "UNLISTED_DEFINITION",
      14,
      "this set of traits is not part of the model",
      expect.stringMatching(/^write it as "traits"/),
    ],
  ]);
  // Another model may list what other files export.
  const config = `export { default } from "./model.js";\n`;
  const shared = await diagnose({ "svc.config.ts": config, "model.ts": source }, { types: true });
  expect(shared.map(({ line }) => line)).toEqual([8, 14]);
});
