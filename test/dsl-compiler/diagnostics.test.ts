import { expect, test } from "vitest";

import { compiled, diagnose, inOneLine } from "./project.js";

test("a missing module and a missing export are reported with their positions", async () => {
  const found = await diagnose({
    "svc.config.ts": `import "./nowhere.js";\nimport { b } from "./a.js";\nexport default b;\n`,
    "a.ts": `export const a = 1;\n`,
  });
  expect(found.map(inOneLine)).toEqual([
    `svc.config.ts:1:8-22 MODULE_NOT_FOUND: could not resolve "./nowhere.js"; correct the path, or install the package in the project's folder`,
  ]);
  const exports = await diagnose({
    "svc.config.ts": `import { b } from "./a.js";\nexport default b;\n`,
    "a.ts": `export const a = 1;\n`,
  });
  expect(exports).toMatchObject([{ severity: "error", endLine: 1 }]);
  expect(exports.map(inOneLine)).toEqual([
    'svc.config.ts:1:10-11 NO_SUCH_EXPORT: no matching export in "a.ts" for import "b"; correct the name, or export it from that file',
  ]);
});

test("a state that is declared twice is reported", async () => {
  const found = await diagnose(`
import { defineModel, lifecycle } from "svc-success";
export default defineModel({ lifecycle: lifecycle({ initial: "a", states: {
  a: {},
  a: {},
} }) });`);
  expect(found.map(inOneLine)).toEqual([
    'svc.config.ts:5:3-4 DUPLICATE_KEY: duplicate key "a" in object literal; remove one of the two, or give it another name',
  ]);
});

test.each([
  ["export const model = 1;", "NO_DEFAULT_EXPORT", "svc.config.ts has no default export"],
  ["export default { events: [] };", "NOT_A_MODEL", "the default export of svc.config.ts is not a model"],
])("%s is no model", async (source, code, message) => {
  expect(await diagnose(source)).toEqual([
    {
      code,
      severity: "error",
      message,
      file: "svc.config.ts",
      line: 1,
      column: 1,
      fix: "write export default defineModel({ … })",
    },
  ]);
});

test("an exception in the author's code is reported with its position and without a stack", async () => {
  const found = await diagnose({
    "svc.config.ts": `import "./model.js";\n`,
    "model.ts": `\nfunction check() {\n  throw new TypeError("no plan");\n}\ncheck();\n`,
  });
  expect(found.map(inOneLine)).toEqual([
    "model.ts:3:9-9 MODEL_FAILED: the model could not be loaded: TypeError: no plan; correct the cause at this place",
  ]);
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

test("an unknown placeholder in a message is reported where the message is emitted", async () => {
  const found = await diagnose(`
import { defineModel, emit, number, rule, traits, traitsChanged } from "svc-success";
const customer = traits({ seats: number() });
export default defineModel({
  traits: customer,
  rules: [
    rule("grow", {
      on: traitsChanged,
      then: emit("upsell.ready", { message: "{name} has {seat}" }),
    }),
  ],
});
`);
  expect(found.map(({ code, message, line, column }) => `${line}:${column} ${code}: ${message}`)).toEqual([
    '9:13 UNKNOWN_TRAIT: there is no trait "seat" that "{seat}" could stand for; did you mean "seats"?',
  ]);
});

test("segments that read each other in a circle are refused", async () => {
  const found = await diagnose(
    `
import { defineModel, not, segment } from "svc-success";
import type { SegmentModel } from "svc-success";
const a: SegmentModel = segment("a", { when: () => b.has() });
const b: SegmentModel = segment("b", { when: () => not(a.has()) });
export default defineModel({ segments: [a, b] });`,
    { types: true },
  );
  expect(found.map(inOneLine)).toEqual([
    'svc.config.ts:5:58-63 SEGMENT_CYCLE: segments must not read each other in a circle: "a" reads "b" reads "a"; write one of the segments without reading the other',
  ]);
});

test("an undefined filter or condition is refused, not ignored", async () => {
  const found = await diagnose(`
import { defineModel, event, segment } from "svc-success";
const order = event("order");
export default defineModel({ events: [order], segments: [
  segment("a", { when: order.where(() => undefined as never).happened() }),
  segment("b", { when: undefined as never }),
] });`);
  expect(found.map(inOneLine)).toEqual([
    "svc.config.ts:5:62-62 INVALID_SHAPE: segments[0].when.of.where: must be an object; give a condition on the event's properties: (p) => p.seats.atLeast(5)",
    'svc.config.ts:6:3-3 INVALID_SHAPE: segments[1].when: must be an object; give a condition, such as event.happened(), event.count().within("7d").atLeast(3) or segment.has()',
  ]);
});

test("problems of a component are reported at its member, wherever its score is defined", async () => {
  const found = await diagnose(
    `
import { defineModel, event, health, scale } from "svc-success";
const login = event("login");
const usage = scale(login.count().within("30d"), { from: 0, to: 10 });
export default defineModel({ events: [login], health: health({
  components: { first: { weight: 1, score: usage }, other: { weight: -1, score: usage, absent: 101 } },
  bands: { all: 0 },
}) });`,
    { types: true },
  );
  expect(found.map(inOneLine)).toEqual([
    "svc.config.ts:6:70-72 INVALID_SHAPE: health.components[1].weight: must be >= 0; give a number that is at least 0",
    'svc.config.ts:6:96-99 INVALID_SHAPE: health.components[1].absent: must be "skip" or a number from 0 to 100; give "skip" or a number from 0 to 100',
  ]);
});

test("a number that JSON does not have is reported as a number", async () => {
  const found = await diagnose(`
import { defineModel, event, number, segment, traits } from "svc-success";
const login = event("login");
const customer = traits({ seats: number() });
export default defineModel({ events: [login], traits: customer, segments: [
  segment("a", { when: login.count().atLeast(NaN) }),
  segment("b", { when: login.count().per(customer.seats).atLeast(Infinity) }),
  segment("c", { when: customer.seats.atLeast(1 / 0) }),
] });`);
  expect(found.map(({ message }) => message)).toEqual([
    "segments[0].when.value: must be a whole number",
    "segments[1].when.value: must be a finite number",
    "segments[2].when.value: must be a text, a finite number, true or false, or a list of different ones of these",
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
  const rules = (keyword: string) => `
import { emit, event, rule, segment } from "svc-success";
export const order = event("order").recordOnly();
${keyword} upsell = rule("upsell", { on: order, then: emit("upsell.ready") });
export const shared = [
  segment("other_models", { when: order.happened() }),
];`;
  const config = `
import { defineModel } from "svc-success";
import { order } from "./rules.js";
import * as all from "./rules.js";
const rules = Object.fromEntries(Object.entries(all).filter(([name]) => name === "upsell")) as {};
export default defineModel({ events: [order], rules });`;
  const found = (keyword: string, types = true) =>
    diagnose({ "svc.config.ts": config, "rules.ts": rules(keyword) }, { types });
  expect((await found("const")).map(inOneLine)).toEqual([
    'rules.ts:4:21-29 UNLISTED_DEFINITION: the rule "upsell" is not part of the model; export it from a module that svc.config.ts lists, or add it to a list of defineModel, or remove it',
  ]);
  expect(await found("export const")).toEqual([]);
  expect(await found("export default () => [shared, upsell];\nconst")).toEqual([]);
  expect(await found("export { upsell };\nconst")).toEqual([]);
  // A function may make parts of several models.
  expect(
    await found("const make = () => rule('made', { on: order, then: emit('made') });\nmake();\nexport const"),
  ).toEqual([]);
  // Without types it is unknown whether a part is exported.
  expect(await found("const", false)).toEqual([]);
});

test("parts that svc.config.ts exports but does not list cause warnings, and so do a second health and lifecycle", async () => {
  const source = `
import { defineModel, event, health, lifecycle, scale, segment } from "svc-success";
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
export default defineModel({ events: [order], health: score, lifecycle: stages });`;
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
  ]);
  // Another model may list what other files export.
  const config = `export { default } from "./model.js";\n`;
  const shared = await diagnose({ "svc.config.ts": config, "model.ts": source }, { types: true });
  expect(shared.map(({ line }) => line)).toEqual([8]);
});

test("an export of the events module that is not an event is reported once, with a fix", async () => {
  const found = await diagnose({
    "svc.config.ts": `import { defineModel } from "svc-success";
import * as events from "./events.js";
export default defineModel({ events });`,
    "events.ts": `import { event, number } from "svc-success";
export const order = event("order", { amount: number() }).recordOnly();
export const bigOrder = order.where((p) => p.amount.atLeast(100));`,
  });
  expect(found.map(inOneLine)).toEqual([
    "svc.config.ts:3:16-16 NOT_AN_EVENT: events.bigOrder is not an event; move it out of the module of events, which lists all that it exports",
  ]);
});

test("an unread event causes a warning if no condition reads activity", async () => {
  const found = await diagnose(`
import { defineModel, event } from "svc-success";
const unused = event("unused");
export default defineModel({ events: [unused] });`);
  expect(found.map(({ code, message, line }) => [code, message, line])).toEqual([
    ["UNUSED_EVENT", 'no condition reads the event "unused"', 3],
  ]);
});

test("an event marked recordOnly causes no warning", async () => {
  expect(
    await diagnose(`
import { defineModel, event, string } from "svc-success";
const viewed = event("page viewed", { page: string() }).recordOnly();
export default defineModel({ strictSchema: true, events: { viewed } });`),
  ).toEqual([]);
});

test("recordOnly does not change the snapshot of an event that is read", async () => {
  const source = (mark: string) => `
import { defineModel, event, segment } from "svc-success";
const viewed = event("viewed")${mark};
export default defineModel({ events: [viewed], segments: [segment("viewers", { when: viewed.happened() })] });`;
  const hashes = [compiled(source("")), compiled(source(".recordOnly()"))].map(async (result) => {
    const { ok, ...rest } = await result;
    return ok && "hash" in rest ? rest.hash : undefined;
  });
  const [plain, marked] = await Promise.all(hashes);
  expect(plain).toBeDefined();
  expect(marked).toBe(plain);
});
