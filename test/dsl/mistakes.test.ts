import {
  all,
  array,
  type Condition,
  daysSince,
  defineModel,
  display,
  emit,
  event,
  health,
  journey,
  lifecycle,
  ModelError,
  not,
  number,
  oneOf,
  type PropertyCondition,
  rule,
  scale,
  segment,
  signal,
  step,
  string,
  traits,
} from "svc-success";
import { expect, test } from "vitest";

import { lower } from "../../src/dsl-compiler/load/lower.js";
import { parseSnapshot } from "../../src/model/validate/validate.js";

// The diagnostics for authors who run the compiler without the type checker; `any` hides the mistakes from ours.
/* oxlint-disable typescript/no-explicit-any */
const order = event("order placed", { seats: number(), source: oneOf("web", "api"), note: string().optional() });
const customer = traits({ plan: oneOf("free", "pro"), seats: number() });
const stages = lifecycle({ initial: "a", states: { a: {} } });
const group = segment("group");

/** The problems of a model with this condition, from its builders and its validation. */
function problemsOf(when: () => any) {
  const model = defineModel({
    events: { order },
    traits: customer,
    lifecycle: stages,
    segments: [group, segment("s", { when })],
  });
  const { problems, snapshot } = lower({ default: model });
  const parsed = parseSnapshot(snapshot);
  const recorded = problems.map(({ code, message, fix }) => ({ code, message, fix }));
  return [...recorded, ...(parsed.ok ? [] : parsed.problems)];
}

test.each<[code: string, message: string, fix: string, choose: (p: any) => any]>([
  [
    "UNKNOWN_PROPERTY",
    'the event "order placed" has no property "colour"',
    'use one of "seats", "source", "note"',
    (p) => p.colour.is("red"),
  ],
  [
    "UNKNOWN_PROPERTY",
    'the event "order placed" has no property "sorce"; did you mean "source"?',
    'write "source"',
    (p) => all(p.seats.atLeast(5), not(p.sorce.is("web") as PropertyCondition)),
  ],
  [
    "UNKNOWN_MEMBER",
    'the property "seats" (number) of the event "order placed" has no method "atleast"; did you mean "atLeast"?',
    'write "atLeast"',
    (p) => p.seats.atleast(5),
  ],
])("%s: %s; %s: a misspelt part of a filter is reported once", (code, message, fix, choose) => {
  expect(problemsOf(() => order.where(choose).happened())).toEqual([{ code, message, fix }]);
});

test.each<[code: string, message: string, ask: (parts: any) => any]>([
  [
    "UNKNOWN_MEMBER",
    'the trait "plan" (string) has no method "iz"; did you mean "is"?',
    (m) => m.customer.plan.iz("pro"),
  ],
  [
    "UNKNOWN_MEMBER",
    'the event "order placed" has no method "hapened"; did you mean "happened"?',
    (m) => m.order.hapened().within("7d"),
  ],
  [
    "UNKNOWN_MEMBER",
    'the count of "order placed" has no method "atlest"; did you mean "atLeast"?',
    (m) => m.order.count().within("7d").atlest(3),
  ],
  [
    "UNKNOWN_MEMBER",
    'a condition on the count of "order placed" has no method "whithin"; did you mean "within"?',
    (m) => m.order.count().atLeast(3).whithin("7d"),
  ],
  ["UNKNOWN_MEMBER", 'a number of days has no method "over"', () => (daysSince(order) as any).over(3)],
])("%s: %s: is reported once and leaves the rest of the model valid", (code, message, ask) => {
  expect(problemsOf(() => ask({ customer, order, stages, group }))).toMatchObject([{ code, message }]);
});

test("the stack of a mistake points to the author's line", () => {
  const misspelt = () => (customer as any).plann.is("pro") as Condition;
  const { problems } = lower({ default: defineModel({ segments: [segment("s", { when: misspelt })] }) });
  const frames = problems[0]?.stack?.split("\n") ?? [];
  expect(frames.find((frame) => !frame.includes("/src/") && frame.includes(".ts"))).toMatch(
    /misspelt.*mistakes\.test\.ts/,
  );
});

test("many mistakes are reported in one run", () => {
  const m = { customer, order, stages, group } as any;
  const model = defineModel({
    events: { order },
    traits: customer,
    lifecycle: lifecycle({ initial: "a", states: { a: { to: { b: () => m.stages.iss("a") } }, b: {} } }),
    segments: [
      segment("one", { when: m.order.where((p: any) => all(p.seets.atLeast(5), p.suorce.is("web"))).happened() }),
    ],
    journeys: [
      journey("j", {
        start: () => m.customer.plann.is("pro"),
        steps: [step("a", () => m.order.happend()), 5 as never],
      }),
    ],
    health: health({
      components: { use: { weight: 1, score: scale(m.customer.seets, { from: 0, to: 9 }) } },
      bands: { all: 0 },
    }),
    rules: [rule("r", { on: m.group.enterd(), then: emit("order.seen") })],
    signals: [
      signal("s", {
        severity: "info",
        when: () => {
          throw new TypeError("no such thing");
        },
      }),
    ],
  });
  const { problems, snapshot } = lower({ default: model });
  expect(problems.map(({ code, message }) => `${code} ${message}`)).toEqual([
    'UNKNOWN_PROPERTY the event "order placed" has no property "seets"; did you mean "seats"?',
    'UNKNOWN_PROPERTY the event "order placed" has no property "suorce"; did you mean "source"?',
    'UNKNOWN_TRAIT there is no trait "seets"; did you mean "seats"?',
    'UNKNOWN_MEMBER the segment "group" has no method "enterd"; did you mean "entered"?',
    'UNKNOWN_MEMBER the lifecycle has no method "iss"; did you mean "is"?',
    'UNKNOWN_TRAIT there is no trait "plann"; did you mean "plan"?',
    'UNKNOWN_MEMBER the event "order placed" has no method "happend"; did you mean "happened"?',
    "MODEL_FAILED a function in the model failed: TypeError: no such thing",
  ]);
  const parsed = parseSnapshot(snapshot);
  expect(parsed.ok ? [] : parsed.problems.map(({ path }) => path)).toEqual(["journeys[0].steps[1]"]);
});

test("a function that does not return a condition is refused at its path", () => {
  expect(problemsOf(() => order.count())).toMatchObject([{ path: "segments[1].when", code: "INVALID_SHAPE" }]);
});

test("a builder called without its argument says what it needs", () => {
  expect(() => health(undefined as never)).toThrow(ModelError);
  expect(() => health(undefined as never)).toThrow("health(…) needs an object with components and bands");
  expect(() => rule("r", null as never)).toThrow("rule(…) needs an object with on and then");
  expect(() => display(undefined as never)).toThrow(
    "display(…) needs an object with at least one of name, owner, renewal and show",
  );
});

test.each<[code: string, message: string, shown: () => any]>([
  [
    "UNKNOWN_TRAIT",
    'there is no trait "plann"; did you mean "plan"?',
    () => ({ name: (customer as any).plann, show: [customer.seats, customer.seats] }),
  ],
  ["NOT_A_TRAIT", '"owner" of the display is not a trait', () => ({ name: customer.plan, owner: "plan" })],
  ["NOT_A_TRAIT", '"show" of the display is not a trait', () => ({ show: [customer.seats, undefined] })],
])("%s: %s: a display with something other than a trait is reported once, and omitted", (code, message, shown) => {
  const model = defineModel({ traits: customer, display: display(shown()) });
  const { problems, snapshot } = lower({ default: model });
  expect(problems).toMatchObject([{ code, message }]);
  expect(parseSnapshot(snapshot)).toMatchObject({ ok: true });
});

test.each<[severity: string | undefined, message: string, anyState: any]>([
  [
    "warning",
    '"except" of "anyState" need not list the state "gone", which is terminal',
    { to: { b: false }, except: ["gone"] },
  ],
  [
    "warning",
    '"except" of "anyState" need not list the state "b", the only one that "anyState" leads to',
    { to: { b: false }, except: ["b"] },
  ],
  ["warning", '"anyState" adds no transition: it leads from no state to another one', { to: {} }],
  [
    "warning",
    '"anyState" adds no transition: it leads from no state to another one',
    { to: { gone: false }, except: ["a", "b"] },
  ],
  [
    "warning",
    '"except" of "anyState" need not list the state "a" twice',
    { to: { b: false, gone: false }, except: ["a", "a", "a"] },
  ],
  [undefined, '"except" of "anyState" must be a list of states', { to: { gone: false }, except: "a" }],
  [undefined, 'the lifecycle has no state "bb"; did you mean "b"?', { to: { gone: false }, except: ["bb"] }],
])("a part of anyState without effect is reported: %s %s", (severity, message, { to, ...rest }) => {
  const anyState = { ...rest, to: Object.fromEntries(Object.keys(to).map((name) => [name, order.happened()])) };
  const states = { a: { to: { b: order.never() } }, b: {}, gone: { terminal: true } };
  const { problems } = lower({
    default: defineModel({ lifecycle: (lifecycle as any)({ initial: "a", states, anyState }) }),
  });
  expect(problems.map((problem) => [problem.severity, problem.message])).toEqual([[severity, message]]);
});

test("a nonexistent target of anyState is reported even if no state remains to leave from", () => {
  const anyState: any = { to: { gonne: order.happened() }, except: ["a"] };
  const states: any = { a: { to: { gone: order.never() } }, gone: { terminal: true } };
  const { problems } = lower({ default: defineModel({ lifecycle: lifecycle({ initial: "a", states, anyState }) }) });
  expect(problems.map(({ code, message }) => `${code}: ${message}`)).toEqual([
    'UNKNOWN_STATE: the lifecycle has no state "gonne"; did you mean "gone"?',
    'POINTLESS_ANY_STATE: "anyState" adds no transition: it leads from no state to another one',
  ]);
});

test.each([null, undefined])("states that are %s are refused by validation without an exception", (states) => {
  const model = defineModel({ lifecycle: (lifecycle as any)({ initial: "a", states }) });
  const { problems, snapshot } = lower({ default: model });
  expect(problems).toEqual([]);
  expect(parseSnapshot(snapshot)).toMatchObject({ ok: false });
});

test("a list without an item type is reported", () => {
  const sizes = traits({ sizes: array(undefined as never) });
  expect(lower({ default: defineModel({ traits: sizes }) }).problems).toMatchObject([{ code: "NOT_A_FIELD" }]);
});

test("for a member similar to no other, the existing ones are listed", () => {
  const fixOf = (ask: () => unknown) => problemsOf(ask)[0];
  expect(fixOf(() => (stages as any).became("a"))).toMatchObject({
    fix: 'use one of "is", "in", "isNot", "entered", "exited"',
  });
  // Members that only name the part are not suggested.
  expect(fixOf(() => (group as any).became())).toMatchObject({ fix: 'use one of "has", "entered", "exited"' });
  expect(problemsOf(() => event("bare").where((p: any) => p.colour.is("red")))[0]).toMatchObject({ fix: undefined });
});
