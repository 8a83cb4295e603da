import {
  all,
  array,
  type Condition,
  daysSince,
  defineModel,
  event,
  ModelError,
  number,
  oneOf,
  display,
  emit,
  health,
  journey,
  lifecycle,
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
const order = event("order placed", { seats: number(), source: oneOf("web", "api") });
const bare = event("bare");
const customer = traits({ plan: oneOf("free", "pro"), seats: number() });
const stages = lifecycle({ initial: "a", states: { a: {} } });
const group = segment("group");

const inOneLine = ({ code, message, fix }: { code: string; message: string; fix?: string | undefined }) =>
  `${code}: ${message}; ${fix}`;

/** The problems of a model with this condition, from its builders and its validation. */
function problemsOf(when: () => any) {
  const model = defineModel({
    events: { order, bare },
    traits: customer,
    lifecycle: stages,
    segments: [group, segment("s", { when })],
  });
  const { problems, snapshot } = lower({ default: model });
  const parsed = parseSnapshot(snapshot);
  const recorded = problems.map(({ code, message, fix }) => ({ code, message, fix }));
  return [...recorded, ...(parsed.ok ? [] : parsed.problems)];
}

test.each<[problem: string, ask: (m: any) => any]>([
  [
    'UNKNOWN_PROPERTY: the event "order placed" has no property "colour"; use one of "seats", "source"',
    (m) => m.order.where((p: any) => p.colour.is("red")).happened(),
  ],
  [
    'UNKNOWN_MEMBER: the property "seats" (number) of the event "order placed" has no method "atleast"; did you mean "atLeast"?; write "atLeast"',
    (m) => m.order.where((p: any) => p.seats.atleast(5)).happened(),
  ],
  [
    'UNKNOWN_MEMBER: the trait "plan" (string) has no method "iz"; did you mean "is"?; write "is"',
    (m) => m.customer.plan.iz("pro"),
  ],
  [
    'UNKNOWN_MEMBER: the count of "order placed" has no method "atlest"; did you mean "atLeast"?; write "atLeast"',
    (m) => m.order.count().within("7d").atlest(3),
  ],
  [
    'UNKNOWN_MEMBER: a condition on the count of "order placed" has no method "whithin"; did you mean "within"?; write "within"',
    (m) => m.order.count().atLeast(3).whithin("7d"),
  ],
  [
    'UNKNOWN_PROPERTY: the event "order placed" has no property "sourze"; did you mean "source"?; write "source"',
    (m) => m.order.latest("sourze").within("7d").is("web"),
  ],
  [
    'UNKNOWN_PROPERTY: the event "bare" has no property "x"; undefined',
    (m) => m.bare.where((p: any) => p.x.is(1)).happened(),
  ],
  [
    'UNKNOWN_MEMBER: a number of days has no method "lessTan"; did you mean "lessThan"?; write "lessThan"',
    (m) => m.daysSince(order).lessTan(3),
  ],
  [
    'INVALID_SHAPE: must be "state", or an object that names a journey; undefined',
    (m) => m.order.happened().since(stages),
  ],
  // Members that only name the part are not suggested.
  [
    'UNKNOWN_MEMBER: the segment "group" has no method "became"; use one of "has", "entered", "exited"',
    (m) => m.group.became(),
  ],
])("%s: is reported once and leaves the rest of the model valid", (problem, ask) => {
  expect(problemsOf(() => ask({ customer, order, bare, group, daysSince })).map(inOneLine)).toEqual([problem]);
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

test("a builder called without its argument says what it needs", () => {
  expect(() => health(undefined as never)).toThrow(ModelError);
  expect(() => health(undefined as never)).toThrow("health(…) needs an object with components and bands");
  expect(() => rule("r", null as never)).toThrow("rule(…) needs an object with on and then");
  expect(() => display(undefined as never)).toThrow(
    "display(…) needs an object with at least one of name, owner, renewal and show",
  );
});

test.each<[code: string, message: string, shown: () => any]>([
  ["UNKNOWN_TRAIT", 'there is no trait "plann"; did you mean "plan"?', () => ({ name: (customer as any).plann })],
  ["NOT_A_TRAIT", '"owner" of the display is not a trait', () => ({ name: customer.plan, owner: "plan" })],
  ["NOT_A_TRAIT", '"show" of the display is not a trait', () => ({ show: [customer.seats, undefined] })],
])("%s: %s: a display with something other than a trait is reported once, and omitted", (code, message, shown) => {
  const model = defineModel({ traits: customer, display: display(shown()) });
  const { problems, snapshot } = lower({ default: model });
  expect(problems).toMatchObject([{ code, message }]);
  expect(parseSnapshot(snapshot)).toMatchObject({ ok: true });
});

const NOT_ADDED = '"anyState" adds no transition: it leads from no state to another one';

test.each<[message: string, to: string[], except?: any]>([
  ['"except" of "anyState" need not list the state "gone", which is terminal', ["b"], ["gone"]],
  ['"except" of "anyState" need not list the state "b", the only one that "anyState" leads to', ["b"], ["b"]],
  ['"except" of "anyState" need not list the state "a" twice', ["b", "gone"], ["a", "a", "a"]],
  [NOT_ADDED, []],
  [NOT_ADDED, ["gone"], ["a", "b"]],
  ['"except" of "anyState" must be a list of states', ["gone"], "a"],
  ['the lifecycle has no state "bb"; did you mean "b"?', ["gone"], ["bb"]],
])("a part of anyState without effect is reported: %s", (message, to, except) => {
  const ways = Object.fromEntries(to.map((name) => [name, order.happened()]));
  const states = { a: { to: { b: order.never() } }, b: {}, gone: { terminal: true } };
  const model = (lifecycle as any)({ initial: "a", states, anyState: { to: ways, except } });
  const { problems } = lower({ default: defineModel({ lifecycle: model }) });
  const severity = /need not|adds no/.test(message) ? "warning" : undefined;
  expect(problems.map((problem) => [problem.severity, problem.message])).toEqual([[severity, message]]);
});

test("an anyState that is null is reported, and adds nothing", () => {
  const states: any = { a: { to: { b: order.never() } }, b: {} };
  const { problems } = lower({
    default: defineModel({ lifecycle: lifecycle({ initial: "a", states, anyState: null as any }) }),
  });
  expect(problems.map(({ code, message }) => `${code}: ${message}`)).toEqual([
    'INVALID_SHAPE: "anyState" is null, not an object',
  ]);
});

test("a nonexistent target of anyState is reported even if no state remains to leave from", () => {
  const anyState: any = { to: { gonne: order.happened() }, except: ["a"] };
  const states: any = { a: { to: { gone: order.never() } }, gone: { terminal: true } };
  const { problems } = lower({ default: defineModel({ lifecycle: lifecycle({ initial: "a", states, anyState }) }) });
  expect(problems.map(({ code, message }) => `${code}: ${message}`)).toEqual([
    'UNKNOWN_STATE: the lifecycle has no state "gonne"; did you mean "gone"?',
    `POINTLESS_ANY_STATE: ${NOT_ADDED}`,
  ]);
});

test.each([null, undefined])("states that are %s are refused by validation without an exception", (states) => {
  const model = defineModel({ lifecycle: (lifecycle as any)({ initial: "a", states }) });
  const { problems, snapshot } = lower({ default: model });
  expect(problems).toEqual([]);
  expect(parseSnapshot(snapshot)).toMatchObject({ ok: false });
});

test.each([undefined, array(string())])("a list without an item type, or of lists, is reported", (item) => {
  const sizes = traits({ sizes: array(item as never) });
  expect(lower({ default: defineModel({ traits: sizes }) }).problems).toMatchObject([{ code: "NOT_A_FIELD" }]);
});
