import { expect, test } from "vitest";

import type { Measure, Score, Signal, Snapshot } from "../../src/model/snapshot/types.js";
import { parseSnapshot } from "../../src/model/validate/validate.js";
import { addTo, clear, emit, raise, removeFrom, rule, snapshotOf } from "../engine/support/builders.js";
import { complete, health, journey, messagesOf, ordered, problemsOf } from "./sound.js";

type Rows = [parts: object, ...problems: string[]][];

const of = { event: "order placed" };
const many = <T>(length: number, make: (index: number) => T) => Array.from({ length }, (_, index) => make(index));
const withRule = (parts: object) => ({
  rules: [{ id: "r", on: { kind: "traitsChanged" }, then: { kind: "emit", type: "upsell.ready" }, ...parts }],
});

test("a snapshot with one of everything is valid", () => {
  const measures: Measure[] = [
    { kind: "count", of, within: "30d" },
    { kind: "aggregate", function: "max", of, property: "total", since: "state" },
    { kind: "distinct", of, property: "source", since: { journey: "onboarding" } },
    { kind: "latest", of, property: "total" },
    { kind: "daysSince", which: "first", of },
    { kind: "trait", trait: "seats" },
  ];
  const scores: Score[] = [
    ...measures.map((measure) => ({ kind: "scale", of: measure, from: 20, to: -5.5 }) as const),
    { kind: "steps", of: measures[4]!, steps: [[-1, 100], [2, 70.25], [7, 70]], otherwise: 0 }, // oxfmt-ignore
    { kind: "map", trait: "plan", values: { free: 0, pro: 100 } },
  ];
  const { rules } = snapshotOf({
    rules: {
      a: rule("order placed", addTo("chosen"), { when: ordered, cooldown: "30d" }),
      b: rule({ kind: "traitsChanged" }, removeFrom("chosen"), { once: true }),
      c: rule({ kind: "segmentEntered", segment: "buyers" }, raise("manual")),
      d: rule({ kind: "segmentExited", segment: "chosen" }, clear("manual")),
      e: rule({ kind: "signalRaised", signal: "ordered" }, emit("upsell.ready")),
      f: rule({ kind: "signalCleared", signal: "manual" }, emit("crm.account_1.touched")),
      g: rule({ kind: "stateEntered", state: "a" }, emit("upsell.ready")),
      h: rule({ kind: "stateExited", state: "a" }, emit("upsell.ready")),
      i: rule({ kind: "journeyStarted", journey: "funnel" }, emit("upsell.ready")),
      j: rule({ kind: "journeyStepCompleted", journey: "funnel", step: "invite" }, emit("upsell.ready")),
      k: rule({ kind: "journeyCompleted", journey: "funnel" }, emit("upsell.ready")),
      l: rule({ kind: "journeyExpired", journey: "funnel" }, emit("upsell.ready")),
      m: rule({ kind: "bandEntered", band: "good" }, emit("upsell.ready")),
      n: rule({ kind: "bandExited", band: "bad" }, emit("upsell.ready")),
    },
  });
  const signals: Signal[] = [
    { id: "manual", severity: "critical", message: "Call them.", for: "7d" },
    { id: "ordered", severity: "warning", when: ordered },
  ];
  const [first, second] = journey.steps;
  const snapshot: Snapshot = {
    ...complete,
    journeys: [
      journey,
      { ...journey, id: "funnel", steps: [first!, { ...second!, since: "previousStep" }], expiresAfter: "30d" },
      { ...journey, id: "checklist", anyOrder: true, repeat: true },
    ],
    health: {
      components: scores.map((score, index) => ({ id: `c${index}`, weight: index / 2, score })),
      bands: [{ id: "good", from: 99.5 }, { id: "fair", from: 40 }, { id: "bad", from: 0 }], // oxfmt-ignore
    },
    rules,
    signals,
    display: { name: "plan", owner: "plan", renewal: "renewsOn", show: ["seats", "renewsOn", "plan"] },
  };
  expect(parseSnapshot(snapshot)).toEqual({ ok: true, snapshot });
});

test("other states are checked although one cannot be read, and can refer to it", () => {
  const missing = { kind: "count", of: { event: "nothing" }, operator: "gte", value: 1 };
  const states = [{ name: "a" }, { name: "b", transitions: [{ to: "a", when: missing }] }];
  expect(problemsOf({ lifecycle: { initial: "b", states } })).toEqual([
    "lifecycle.states[0].transitions INVALID_SHAPE",
    "lifecycle.states[1].transitions[0].when.of.event UNKNOWN_EVENT",
  ]);
});

test("the numbers of journeys, steps, components, bands, rules and signals are limited", () => {
  const parts = (more: number) => ({
    journeys: [
      ...many(99 + more, (index) => ({ ...journey, id: `j${index}` })),
      { ...journey, steps: many(100 + more, (index) => ({ id: `s${index}`, when: ordered })) },
    ],
    segments: complete.segments,
    health: {
      components: many(100 + more, (index) => ({ ...health.components[0]!, id: `c${index}` })),
      bands: many(100 + more, (index) => ({ id: `b${index}`, from: (99 + more - index) / 2 })),
    },
    rules: many(500 + more, (index) => ({ ...withRule({}).rules[0], id: `r${index}` })),
    signals: many(500 + more, (index) => ({ id: `s${index}`, severity: "info" })),
  });
  expect(problemsOf(parts(0), complete)).toEqual([]);
  expect(problemsOf(parts(1), complete)).toEqual([
    "journeys TOO_MANY",
    "journeys[100].steps TOO_MANY",
    "health.components TOO_MANY",
    "health.bands TOO_MANY",
    "rules TOO_MANY",
    "signals TOO_MANY",
  ]);
});

test("references into a part that cannot be read are accepted, so that it is reported once", () => {
  const problems = problemsOf(
    {
      journeys: [{ ...journey, steps: [{ id: "create" }, { id: "invite", when: ordered }] }, { id: "other" }],
      health: { ...health, bands: [{ id: "good", from: "50" }, ...health.bands] },
      segments: [
        ...complete.segments,
        { id: "a", when: { kind: "journeyStep", journey: "onboarding", step: "any", is: "completed" } },
        { id: "b", when: { kind: "journey", journey: "any", statuses: ["active"] } },
        { id: "c", when: { kind: "healthBand", bands: ["any"] } },
      ],
      signals: [{ id: "broken" }],
      rules: withRule({ then: { kind: "raiseSignal", signal: "any" } }).rules,
    },
    complete,
  );
  expect(problems).toEqual([
    "journeys[1].start INVALID_SHAPE",
    "journeys[1].steps INVALID_SHAPE",
    "journeys[0].steps[0].when INVALID_SHAPE",
    "health.bands[0].from INVALID_SHAPE",
    "signals[0].severity INVALID_SHAPE",
  ]);
});

const withJourney = (parts: object) => ({ journeys: [{ ...journey, ...parts }] });
const steps = (...parts: object[]) =>
  withJourney({ steps: parts.map((part, index) => ({ id: `s${index}`, when: ordered, ...part })) });
const STEP = "journeys[0].steps[0]";

const JOURNEYS: Rows = [
  [{ journeys: {} }, "journeys INVALID_SHAPE"],
  [withJourney({ id: "On" }), "journeys[0].id INVALID_NAME"],
  [withJourney({ id: "on.boarding" }), "journeys[0].id INVALID_NAME"],
  [withJourney({ id: "constructor" }), "journeys[0].id RESERVED_NAME"],
  [{ journeys: [journey, journey] }, "journeys[1].id DUPLICATE_JOURNEY"],
  [withJourney({ start: null }), "journeys[0].start INVALID_SHAPE"],
  [withJourney({ start: { kind: "segment", segment: "x" } }), "journeys[0].start.segment UNKNOWN_SEGMENT"],
  [withJourney({ steps: [] }), "journeys[0].steps INVALID_SHAPE"],
  [steps({ when: null }), `${STEP}.when INVALID_SHAPE`],
  [steps({ id: "a-b" }), `${STEP}.id INVALID_NAME`],
  [steps({ id: "constructor" }), `${STEP}.id RESERVED_NAME`],
  [steps({ id: "a" }, { id: "a" }), "journeys[0].steps[1].id DUPLICATE_STEP"],
  [steps({ since: "create" }), `${STEP}.since INVALID_SHAPE`],
  [
    withJourney({ anyOrder: true, steps: [{ id: "a", when: ordered, since: "previousStep" }] }),
    `${STEP}.since INVALID_SHAPE`,
  ],
  [withJourney({ anyOrder: false }), "journeys[0].anyOrder INVALID_SHAPE"],
  [withJourney({ expiresAfter: "0d" }), "journeys[0].expiresAfter INVALID_DURATION"],
  [steps({ when: { ...ordered, value: 1_000_000 } })],
  [withJourney({ repeat: true, start: { ...ordered, value: 1_000_000 } })],
];

const withHealth = (parts: object) => ({ health: { ...health, ...parts } });
const components = (...parts: object[]) =>
  withHealth({ components: parts.map((part, index) => ({ ...health.components[0], id: `c${index}`, ...part })) });
const scored = (score: unknown) => components({ score });
const bands = (...parts: [id: string, from: unknown][]) =>
  withHealth({ bands: parts.map(([id, from]) => ({ id, from })) });
const scale = (measure: object, parts: object = {}) =>
  scored({ kind: "scale", of: measure, from: 0, to: 10, ...parts });
const scoreSteps = (steps: unknown, measure: object = { kind: "trait", trait: "seats" }) =>
  scored({ kind: "steps", of: measure, steps, otherwise: 0 });
const SCORE = "health.components[0].score";

const HEALTH: Rows = [
  [{ health: [] }, "health INVALID_SHAPE"],
  [withHealth({ components: [] }), "health.components INVALID_SHAPE"],
  [withHealth({ bands: [] }), "health.bands INVALID_SHAPE"],
  [components({ id: "a b" }), "health.components[0].id INVALID_NAME"],
  [components({ id: "a" }, { id: "a" }), "health.components[1].id DUPLICATE_COMPONENT"],
  [components({ weight: -1 }, {}), "health.components[0].weight INVALID_SHAPE"],
  [components({ absent: 101 }), "health.components[0].absent INVALID_SHAPE"],
  [components({ absent: "ignore" }), "health.components[0].absent INVALID_SHAPE"],
  [
    components({ weight: -1, score: { kind: "scale", of: { kind: "trait", trait: "seats" }, from: 3, to: 3 } }),
    "health.components[0].weight INVALID_SHAPE",
    `${SCORE}.to INVALID_VALUE`,
  ],
  [
    scored({ kind: "steps", of: { kind: "trait", trait: "nothing" }, steps: [[1, 100]], otherwise: 101 }),
    `${SCORE}.otherwise INVALID_SHAPE`,
    `${SCORE}.of.trait UNKNOWN_TRAIT`,
  ],
  [components({ weight: "1" }), "health.components[0].weight INVALID_SHAPE"],
  [components({ weight: 1e300 }), "health.components[0].weight INVALID_SHAPE"],
  [components({ weight: 0 }, { weight: 0 }), "health.components WEIGHTS_SUM_TO_ZERO"],
  [components({ weight: 0 }, { weight: 0.1 })],
  [scored({ kind: "curve" }), `${SCORE}.kind INVALID_SHAPE`],
  [scale({ kind: "trait", trait: "seats" }, { from: 10 }), `${SCORE}.to INVALID_VALUE`],
  [scale({ kind: "trait", trait: "seats" }, { from: -1e308, to: 1e308 }), `${SCORE}.to INVALID_VALUE`],
  [scale({ kind: "traitExists", trait: "seats" }), `${SCORE}.of.kind INVALID_SHAPE`],
  [scale({ kind: "trait", trait: "seat" }), `${SCORE}.of.trait UNKNOWN_TRAIT`],
  [scale({ kind: "trait", trait: "plan" }), `${SCORE}.of.trait TYPE_MISMATCH`],
  [scale(ordered), `${SCORE}.of.operator INVALID_SHAPE`, `${SCORE}.of.value INVALID_SHAPE`], // oxfmt-ignore
  [scale({ kind: "count", of: { event: "x" } }), `${SCORE}.of.of.event UNKNOWN_EVENT`],
  [scale({ kind: "count", of, within: "1d", since: "state" }), `${SCORE}.of INVALID_SHAPE`],
  [scale({ kind: "aggregate", function: "sum", of, property: "source" }), `${SCORE}.of.property TYPE_MISMATCH`],
  [scale({ kind: "latest", of, property: "source" }), `${SCORE}.of.property TYPE_MISMATCH`],
  [scale({ kind: "distinct", of, property: "x" }), `${SCORE}.of.property UNKNOWN_PROPERTY`],
  [scale({ kind: "distinct", of, property: "source" }, { to: 10_001 }), `${SCORE}.to COUNT_TOO_LARGE`],
  [scale({ kind: "distinct", of, property: "source" }, { from: 10_001 }), `${SCORE}.from COUNT_TOO_LARGE`],
  [scale({ kind: "count", of, within: "1d" }, { to: 1_000_000 })],
  [scoreSteps([[1, 0], [10_001, 1]], { kind: "distinct", of, property: "source" }), `${SCORE}.steps[1][0] COUNT_TOO_LARGE`], // oxfmt-ignore
  [scoreSteps([]), `${SCORE}.steps INVALID_SHAPE`],
  [scoreSteps([[1]]), `${SCORE}.steps[0] INVALID_SHAPE`],
  [scoreSteps([[1, 101]]), `${SCORE}.steps[0][1] INVALID_SHAPE`],
  [scoreSteps([[1, 50], [3, 60], [3, 70]]), `${SCORE}.steps[2][0] INVALID_VALUE`], // oxfmt-ignore
  [
    scored({ kind: "steps", of: { kind: "trait", trait: "seats" }, steps: [[1, 1]], otherwise: -1 }),
    `${SCORE}.otherwise INVALID_SHAPE`,
  ],
  [scored({ kind: "map", trait: "plans", values: { free: 1 } }), `${SCORE}.trait UNKNOWN_TRAIT`],
  [scored({ kind: "map", trait: "seats", values: { free: 1 } }), `${SCORE}.trait TYPE_MISMATCH`],
  [scored({ kind: "map", trait: "plan", values: { free: 1, gold: 2 } }), `${SCORE}.values.gold INVALID_VALUE`],
  [scored({ kind: "map", trait: "plan", values: { free: 200 } }), `${SCORE}.values.free INVALID_SHAPE`],
  [scored({ kind: "map", trait: "plan", values: {} }), `${SCORE}.values INVALID_SHAPE`],
  [bands(["Good", 0]), "health.bands[0].id INVALID_NAME"],
  [bands(["a", 50], ["a", 0]), "health.bands[1].id DUPLICATE_BAND"],
  [bands(["a", 101], ["b", 0]), "health.bands[0].from INVALID_SHAPE"],
  [bands(["a", 1], ["b", -1]), "health.bands[1].from INVALID_SHAPE"],
  [bands(["a", 0], ["b", 40]), "health.bands[1].from INVALID_VALUE"],
  [bands(["a", 40], ["b", 40], ["c", 0]), "health.bands[1].from INVALID_VALUE"],
  [bands(["a", 40], ["b", 10]), "health.bands[1].from INVALID_VALUE"],
];

const emits = (type: unknown) => withRule({ then: { kind: "emit", type } });

const says = (message: unknown) => withRule({ then: { kind: "emit", type: "upsell.ready", message } });

const RULES: Rows = [
  [says("{name} of {customerId}, {{plan}}: {plan}")],
  [says("{seat} {Name}"), "rules[0].then.message UNKNOWN_TRAIT", "rules[0].then.message UNKNOWN_TRAIT"],
  [says("{owner}"), "rules[0].then.message INVALID_VALUE"],
  [{ ...says("{owner}"), display: { owner: "plan" } }],
  [says("50 } done"), "rules[0].then.message INVALID_VALUE"],
  [says(""), "rules[0].then.message INVALID_SHAPE"],
  [says("x".repeat(1_001)), "rules[0].then.message INVALID_SHAPE"],
  [says(7), "rules[0].then.message INVALID_SHAPE"],
  [withRule({ id: "R" }), "rules[0].id INVALID_NAME"],
  [{ rules: [withRule({}).rules[0], withRule({}).rules[0]] }, "rules[1].id DUPLICATE_RULE"],
  [withRule({ on: null }), "rules[0].on INVALID_SHAPE"],
  [withRule({ on: { kind: "timer" } }), "rules[0].on.kind INVALID_SHAPE"],
  [withRule({ on: { kind: "event", of: { event: "x" } } }), "rules[0].on.of.event UNKNOWN_EVENT"],
  [
    withRule({ on: { kind: "event", of: { ...of, where: { kind: "exists", property: "x" } } } }),
    "rules[0].on.of.where.property UNKNOWN_PROPERTY",
  ],
  [withRule({ on: { kind: "traitsChanged", trait: "plan" } }), "rules[0].on.trait INVALID_SHAPE"],
  [withRule({ on: { kind: "segmentExited", segment: "x" } }), "rules[0].on.segment UNKNOWN_SEGMENT"],
  [withRule({ on: { kind: "signalCleared", signal: "x" } }), "rules[0].on.signal UNKNOWN_SIGNAL"],
  [withRule({ on: { kind: "stateEntered", state: "x" } }), "rules[0].on.state UNKNOWN_STATE"],
  [withRule({ on: { kind: "stateExited", segment: "buyers" } }), "rules[0].on.state INVALID_SHAPE", "rules[0].on.segment INVALID_SHAPE"], // oxfmt-ignore
  [{ ...withRule({ on: { kind: "stateExited", state: "a" } }), lifecycle: null }, "rules[0].on NO_LIFECYCLE"],
  [withRule({ on: { kind: "journeyExpired", journey: "x" } }), "rules[0].on.journey UNKNOWN_JOURNEY"],
  [
    withRule({ on: { kind: "journeyStepCompleted", journey: "onboarding", step: "x" } }),
    "rules[0].on.step UNKNOWN_STEP",
  ],
  [withRule({ on: { kind: "bandEntered", band: "x" } }), "rules[0].on.band UNKNOWN_BAND"],
  [{ ...withRule({ on: { kind: "bandExited", band: "good" } }), health: null }, "rules[0].on NO_HEALTH"],
  [withRule({ when: { kind: "segment", segment: "x" } }), "rules[0].when.segment UNKNOWN_SEGMENT"],
  [withRule({ cooldown: "1mo" }), "rules[0].cooldown INVALID_DURATION"],
  [withRule({ cooldown: "1d", once: true }), "rules[0].cooldown INVALID_SHAPE"],
  [withRule({ then: null }), "rules[0].then INVALID_SHAPE"],
  [withRule({ then: { kind: "call" } }), "rules[0].then.kind INVALID_SHAPE"],
  [withRule({ then: { kind: "addToSegment", segment: "x" } }), "rules[0].then.segment UNKNOWN_SEGMENT"],
  [withRule({ then: { kind: "addToSegment", segment: "buyers" } }), "rules[0].then.segment SEGMENT_HAS_CONDITION"],
  [withRule({ then: { kind: "raiseSignal", signal: "x" } }), "rules[0].then.signal UNKNOWN_SIGNAL"],
  [withRule({ then: { kind: "clearSignal", signal: "ordered" } }), "rules[0].then.signal SIGNAL_HAS_CONDITION"],
  ...["upsell", "Upsell.ready", "upsell.", ".ready", "up-sell.ready", "upsell..ready", `a.${"b".repeat(255)}`].map(
    (type): Rows[number] => [emits(type), "rules[0].then.type INVALID_NAME"],
  ),
  ...["customer.created", "journey.started", "segment.x", "health.changed", "signal.raised.twice"].map(
    (type): Rows[number] => [emits(type), "rules[0].then.type RESERVED_NAME"],
  ),
  [emits("customers.ready")],
];

const withSignal = (parts: object) => ({ signals: [{ id: "s", severity: "info", ...parts }] });

const SIGNALS: Rows = [
  [withSignal({ id: "a.b" }), "signals[0].id INVALID_NAME"],
  [{ signals: [withSignal({}).signals[0], withSignal({}).signals[0]] }, "signals[1].id DUPLICATE_SIGNAL"],
  [withSignal({ severity: null }), "signals[0].severity INVALID_SHAPE"],
  [withSignal({ severity: "fatal" }), "signals[0].severity INVALID_SHAPE"],
  [withSignal({ message: "" }), "signals[0].message INVALID_SHAPE"],
  [withSignal({ message: "x".repeat(1_001) }), "signals[0].message INVALID_SHAPE"],
  [withSignal({ when: { kind: "traitExists", trait: "x" } }), "signals[0].when.trait UNKNOWN_TRAIT"],
  [withSignal({ for: "soon" }), "signals[0].for INVALID_DURATION"],
  [withSignal({ for: "1d", when: ordered }), "signals[0].for INVALID_SHAPE"],
];

const BOOLEANS = Object.fromEntries(many(21, (index) => [`t${index}`, { type: "boolean" }]));
const shows = (length: number) => ({
  traits: BOOLEANS,
  health: null,
  journeys: [],
  display: { show: Object.keys(BOOLEANS).slice(0, length) },
});

const DISPLAY: Rows = [
  [{ display: null }, "display INVALID_SHAPE"],
  [{ display: ["plan"] }, "display INVALID_SHAPE"],
  [{ display: {} }, "display INVALID_SHAPE"],
  [{ display: { title: "plan" } }, "display.title INVALID_SHAPE"],
  [{ display: { name: null } }, "display.name INVALID_SHAPE"],
  [{ display: { name: "plans" } }, "display.name UNKNOWN_TRAIT"],
  [{ display: { name: "seats", owner: "renewsOn" } }, "display.name TYPE_MISMATCH", "display.owner TYPE_MISMATCH"],
  [{ display: { renewal: "plan" } }, "display.renewal TYPE_MISMATCH"],
  [{ display: { show: "plan" } }, "display.show INVALID_SHAPE"],
  [{ display: { show: [] } }, "display.show INVALID_SHAPE"],
  [{ display: { show: ["plan", 5] } }, "display.show[1] INVALID_SHAPE"],
  [{ display: { show: ["plan", "seat"] } }, "display.show[1] UNKNOWN_TRAIT"],
  [{ display: { show: ["plan", "seats", "plan"] } }, "display.show[2] DUPLICATE_TRAIT"],
  [shows(20)],
  [shows(21), "display.show TOO_MANY"],
];

test.each([...JOURNEYS, ...HEALTH, ...RULES, ...SIGNALS, ...DISPLAY])(
  "the problems of a model with %j are: %s",
  (parts, ...problems) => {
    expect(problemsOf(parts, complete)).toEqual(problems);
  },
);

test("errors explain what a rule must not change", () => {
  expect(
    messagesOf({
      rules: [
        ...withRule({ then: { kind: "addToSegment", segment: "buyers" } }).rules,
        ...withRule({ id: "s", on: { kind: "signalRaised", signal: "orderd" } }).rules,
      ],
    }),
  ).toEqual([
    'the segment "buyers" has a condition, which decides who is in it; rules can change only segments without one',
    'there is no signal "orderd"; did you mean "ordered"?',
  ]);
});

test("errors explain what is wrong with a message", () => {
  const texts = ["{seat}", "{nam}", "{owner}", "{", "{}"];
  expect(texts.flatMap((message) => messagesOf(says(message)))).toEqual([
    'there is no trait "seat" that "{seat}" could stand for; did you mean "seats"?',
    'there is no trait "nam" that "{nam}" could stand for; did you mean "name"?',
    'the display names no owner that "{owner}" could stand for',
    ...Array<string>(2).fill(
      'a brace stands alone or holds no name: write a placeholder, such as "{name}", or double the brace to have it in the text',
    ),
  ]);
});

test("errors explain what is wrong with a display", () => {
  const displays = [{}, { name: "plann" }, { renewal: "seats" }, { show: ["plan", "plan"] }];
  expect(displays.flatMap((display) => messagesOf({ display }))).toEqual([
    'must have at least one of "name", "owner", "renewal", "show"',
    'there is no trait "plann"; did you mean "plan"?',
    'the trait "seats" is of the type number, not date',
    'the trait "plan" is shown twice',
  ]);
});
