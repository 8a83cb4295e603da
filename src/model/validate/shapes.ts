import Type, { type TProperties, type TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { Pointer } from "typebox/value";
import { LIMITS } from "../snapshot/limits.js";
import { at, list, type Problems } from "../snapshot/problem.js";

/**
 * The shape of one kind of node, one level deep: child nodes are `Unknown` in it and are checked when they are visited. So every message has
 * the exact path of one node, and a union never reports the errors of all its branches.
 */
export type Shape = ReturnType<typeof Compile>;

/** The message that a number cannot be read in the previous window. */
export function noPreviousWindow(what: string): string {
  return `${what} of the previous window cannot be computed from a customer's state; only counts, sums and averages can`;
}

/** An object with these members and no others. */
const closed = <Properties extends TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false });

/** One of several types. @param words their description for messages */
const oneOf = (types: TSchema[], words: string) => Type.Union(types, { description: `must be ${words}` });

const shape = (properties: TProperties): Shape => Compile(closed(properties));

/** Shapes by the value of the member that tells node kinds apart. */
function byName(shapes: Record<string, TProperties>): Readonly<Record<string, Shape>> {
  return Object.fromEntries(Object.entries(shapes).map(([name, properties]) => [name, shape(properties)]));
}

/** Failures of a number or a text that has the right type: the rest of the node can still be checked. */
const READABLE = new Set(["minimum", "maximum", "minLength", "maxLength"]);

const tolerant = new WeakSet<Shape>();

/** Marks a shape as tolerant: a number or a text out of bounds is reported but does not stop the other members from being checked. Nothing
 * else may check the same bounds, or one mistake is reported twice. */
function tolerating(expected: Shape): Shape {
  tolerant.add(expected);
  return expected;
}

/** Clearer words for messages of the validator. A number that JSON cannot represent is null in a snapshot. */
const FAILURES: Readonly<Record<string, string>> = {
  "must be number": "must be a finite number",
  "must be integer": "must be a whole number",
};

function isEmptyList(failure: ReturnType<Shape["Errors"]>[number]): boolean {
  return failure.keyword === "minItems" && failure.params.limit === 1;
}

/** Whether a value has a shape, or can be read in spite of failures that the shape tolerates. All failures are reported. */
export function fits(expected: Shape, value: unknown, path: string, problems: Problems): boolean {
  if (expected.Check(value)) return true;
  const failures = expected.Errors(value);
  // A union fails in each of its branches and as a whole: report it only once, at its own path.
  const unions = new Set(failures.flatMap(({ keyword, instancePath }) => (keyword === "anyOf" ? instancePath : [])));
  const empty = new Set(failures.flatMap((failure) => (isEmptyList(failure) ? [failure.instancePath] : [])));
  // For an object with many unknown members the validator reports only these before it stops.
  const namesUnknown = failures.some(({ keyword }) => keyword === "additionalProperties");
  for (const failure of failures) {
    const { instancePath, schemaPath, message } = failure;
    if ([...unions].some((union) => instancePath.startsWith(`${union}/`))) continue;
    const failurePath = instancePath.split("/").slice(1).reduce(atPointer, path);
    const add = (text: string, where = failurePath) => problems.add(where, "INVALID_SHAPE", text);
    switch (failure.keyword) {
      case "required":
        for (const name of failure.params.requiredProperties) add("is missing", at(failurePath, name));
        break;
      case "additionalProperties":
        for (const name of failure.params.additionalProperties) add("is not known here", at(failurePath, name));
        break;
      case "anyOf":
      case "not":
        // A list may stand there, if it is not empty.
        if (empty.has(instancePath)) break;
        add((Pointer.Get(expected.Type(), schemaPath.slice(1)) as { description: string }).description);
        break;
      case "enum":
        add(`must be one of ${list(failure.params.allowedValues.map(String))}`);
        break;
      case "boolean":
        if (!namesUnknown) add("is not known here");
        break;
      default:
        if (isEmptyList(failure)) add("must not be empty");
        else if (!unions.has(instancePath)) add(FAILURES[message] ?? message);
    }
  }
  return tolerant.has(expected) && failures.every(({ keyword }) => READABLE.has(keyword));
}

/** Whether a value has the shape that one of its members (`type` or `kind`) selects. Failures are reported. */
export function choose(
  shapes: Readonly<Record<string, Shape>>,
  member: string,
  value: unknown,
  path: string,
  problems: Problems,
): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    problems.add(path, "INVALID_SHAPE", "must be an object");
    return false;
  }
  const name = (value as Record<string, unknown>)[member];
  if (typeof name !== "string" || !Object.hasOwn(shapes, name)) {
    problems.add(at(path, member), "INVALID_SHAPE", `must be one of ${list(Object.keys(shapes))}`);
    return false;
  }
  return fits(shapes[name]!, value, path, problems);
}

function atPointer(path: string, part: string): string {
  return at(path, /^\d+$/.test(part) ? Number(part) : part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

const node = Type.Unknown();
const maybeNode = Type.Optional(node);
const nodes = Type.Array(node);
const nonEmptyNodes = Type.Array(node, { minItems: 1 });
const record = Type.Record(Type.String(), node);
const text = Type.String();
const maybeText = Type.Optional(text);
const number = Type.Number();
const yes = Type.Optional(Type.Literal(true));

const scalarTypes = [Type.String(), Type.Number(), Type.Boolean()];
const scalars = Type.Array(Type.Union(scalarTypes), { minItems: 1, maxItems: LIMITS.values, uniqueItems: true });
const choices = Type.Optional(
  Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: LIMITS.values, uniqueItems: true }),
);
const compareOperator = Type.Enum(["eq", "ne", "in", "notIn", "lt", "lte", "gt", "gte", "contains"]);
const orderOperator = Type.Enum(["eq", "ne", "lt", "lte", "gt", "gte"]);
const aggregate = Type.Enum(["sum", "avg", "min", "max"]);
const firstOrLast = Type.Enum(["first", "last"]);
const previous = yes;
/** For numbers that cannot be subtracted, and therefore not be read in the previous window. */
const notPrevious = Type.Optional(Type.Never({ description: noPreviousWindow("the number of different values") }));
const items = closed({ type: Type.Enum(["string", "number", "boolean", "date"]), enum: choices });
const names = (maxItems: number) => Type.Array(text, { minItems: 1, maxItems, uniqueItems: true });

export const SNAPSHOT = shape({
  formatVersion: Type.Integer(),
  strictSchema: Type.Boolean(),
  onViolation: Type.Optional(Type.Literal("quarantine")),
  events: record,
  traits: record,
  lifecycle: node,
  journeys: nodes,
  segments: nodes,
  health: node,
  rules: nodes,
  signals: nodes,
  display: maybeNode,
  tracking: maybeNode,
});

export const EVENT = shape({ properties: record });
export const LIFECYCLE = shape({ initial: text, states: nodes });
export const STATE = shape({ name: text, terminal: yes, transitions: nodes });
export const TRANSITION = shape({ to: text, when: node });
export const SEGMENT = shape({ id: text, when: maybeNode });
export const SELECTOR = shape({ event: text, where: maybeNode });
export const SINCE_JOURNEY = shape({ journey: text });

export const JOURNEY = shape({
  id: text,
  start: node,
  steps: nonEmptyNodes,
  anyOrder: yes,
  expiresAfter: maybeText,
  repeat: yes,
});
export const STEP = shape({ id: text, when: node, since: Type.Optional(Type.Literal("previousStep")) });

const scoreValue = Type.Number({ minimum: 0, maximum: 100 });

export const HEALTH = shape({ components: nonEmptyNodes, bands: nonEmptyNodes });
export const COMPONENT = tolerating(
  shape({
    id: text,
    weight: Type.Number({ minimum: 0, maximum: LIMITS.weight }),
    score: node,
    absent: Type.Optional(oneOf([Type.Literal("skip"), scoreValue], '"skip" or a number from 0 to 100')),
  }),
);
export const BAND = shape({ id: text, from: scoreValue });

/** By the member `kind`. */
export const SCORES: Readonly<Record<string, Shape>> = byName({
  scale: { kind: text, of: node, from: number, to: number },
  steps: {
    kind: text,
    of: node,
    steps: Type.Array(node, { minItems: 1, maxItems: LIMITS.scoreSteps }),
    otherwise: scoreValue,
  },
  map: {
    kind: text,
    trait: text,
    values: Type.Record(Type.String(), scoreValue, { minProperties: 1, maxProperties: LIMITS.values }),
  },
});
Object.values(SCORES).forEach(tolerating);

/** A message for people. */
const maybeMessage = Type.Optional(Type.String({ minLength: 1, maxLength: LIMITS.messageLength }));

export const RULE = shape({ id: text, on: node, when: maybeNode, cooldown: maybeText, once: yes, then: node });

/** By the member `kind`. */
export const TRIGGERS: Readonly<Record<string, Shape>> = byName({
  event: { kind: text, of: node },
  traitsChanged: { kind: text },
  stateEntered: { kind: text, state: text },
  stateExited: { kind: text, state: text },
  journeyStarted: { kind: text, journey: text },
  journeyStepCompleted: { kind: text, journey: text, step: text },
  journeyCompleted: { kind: text, journey: text },
  journeyExpired: { kind: text, journey: text },
  segmentEntered: { kind: text, segment: text },
  segmentExited: { kind: text, segment: text },
  bandEntered: { kind: text, band: text },
  bandExited: { kind: text, band: text },
  signalRaised: { kind: text, signal: text },
  signalCleared: { kind: text, signal: text },
});

/** By the member `kind`. */
export const ACTIONS: Readonly<Record<string, Shape>> = byName({
  addToSegment: { kind: text, segment: text },
  removeFromSegment: { kind: text, segment: text },
  emit: { kind: text, type: text, message: maybeMessage },
  raiseSignal: { kind: text, signal: text },
  clearSignal: { kind: text, signal: text },
});

export const SIGNAL = tolerating(
  shape({
    id: text,
    severity: Type.Enum(["info", "warning", "critical"]),
    message: maybeMessage,
    when: maybeNode,
    for: maybeText,
  }),
);

export const DISPLAY = shape({
  name: maybeText,
  owner: maybeText,
  renewal: maybeText,
  show: Type.Optional(Type.Array(text, { minItems: 1 })),
});

export const TRACKING = shape({
  customer: Type.Array(Type.Enum(["userId", "groupId"]), { minItems: 1, maxItems: 2, uniqueItems: true }),
  events: Type.Record(Type.String(), text),
});

/** By the member `type`. */
export const FIELDS: Readonly<Record<string, Shape>> = byName({
  string: { type: text, enum: choices, optional: yes },
  number: { type: text, optional: yes },
  boolean: { type: text, optional: yes },
  date: { type: text, optional: yes },
  array: { type: text, items, optional: yes },
});

const combined = { kind: text, conditions: nonEmptyNodes };
const negated = { kind: text, condition: node };
const compared = oneOf(
  [...scalarTypes, scalars],
  "a text, a finite number, true or false, or a list of different ones of these",
);
const comparison = { kind: text, operator: compareOperator, value: compared };
const counted = Type.Integer({ minimum: 0, maximum: LIMITS.count });
const days = Type.Integer({ minimum: 0, maximum: LIMITS.days });
const since = maybeNode;
const occurrences = { kind: text, of: node, within: maybeText, since };
const ofProperty = { ...occurrences, property: text };
const ratio = { kind: text, of: node, per: node };
const difference = { kind: text, of: node, minus: node };

/** By the member `kind`. */
export const CONDITIONS: Readonly<Record<string, Shape>> = byName({
  all: combined,
  any: combined,
  not: negated,
  count: { ...occurrences, previous, operator: orderOperator, value: counted },
  aggregate: { ...ofProperty, function: aggregate, previous, operator: orderOperator, value: number },
  distinct: { ...ofProperty, previous: notPrevious, operator: orderOperator, value: counted },
  latest: { ...ofProperty, ...comparison },
  latestExists: ofProperty,
  daysSince: { kind: text, which: firstOrLast, of: node, operator: orderOperator, value: days },
  ratio: { ...ratio, operator: orderOperator, value: number },
  difference: { ...difference, operator: orderOperator, value: number },
  sequence: { kind: text, first: node, then: node, within: text, since },
  trait: { ...comparison, trait: text },
  traitExists: { kind: text, trait: text },
  traitDateWithin: { kind: text, trait: text, within: text },
  traitDatePassed: { kind: text, trait: text, by: maybeText },
  inactiveFor: { kind: text, duration: text },
  activeWithin: { kind: text, duration: text },
  lifecycle: { kind: text, states: names(LIMITS.states) },
  inState: { kind: text, atLeast: text },
  segment: { kind: text, segment: text },
  journey: {
    kind: text,
    journey: text,
    statuses: Type.Array(Type.Enum(["not_started", "active", "complete", "expired"]), {
      minItems: 1,
      uniqueItems: true,
    }),
  },
  journeyStep: { kind: text, journey: text, step: text, is: Type.Enum(["current", "completed"]) },
  health: { kind: text, component: maybeText, operator: orderOperator, value: scoreValue },
  healthBand: { kind: text, bands: names(LIMITS.bands) },
});

/** By the member `kind`. */
export const PROPERTY_CONDITIONS: Readonly<Record<string, Shape>> = byName({
  all: combined,
  any: combined,
  not: negated,
  compare: { ...comparison, property: text },
  exists: { kind: text, property: text },
});

/** By the member `kind`. The measures of health components, and the operands of ratios and differences. */
export const MEASURES: Readonly<Record<string, Shape>> = byName({
  count: { ...occurrences, previous },
  aggregate: { ...ofProperty, function: aggregate, previous },
  distinct: { ...ofProperty, previous: notPrevious },
  latest: ofProperty,
  daysSince: { kind: text, which: firstOrLast, of: node },
  trait: { kind: text, trait: text },
  ratio,
  difference,
});
