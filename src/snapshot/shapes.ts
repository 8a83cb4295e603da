import Type from "typebox";

import { LIMITS } from "./limits.js";
import type { Shape } from "./shape.js";
import { byName, closed, shape, tolerating } from "./shape.js";

const node = Type.Unknown();
const optionalNode = Type.Optional(node);
const nodes = Type.Array(node);
const someNodes = Type.Array(node, { minItems: 1 });
const record = Type.Record(Type.String(), node);
const text = Type.String();
const optionalText = Type.Optional(text);
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
const items = closed({ type: Type.Enum(["string", "number", "boolean", "date"]), enum: choices });
const names = (maxItems: number) => Type.Array(text, { minItems: 1, maxItems, uniqueItems: true });

export const SNAPSHOT = shape({
  formatVersion: Type.Integer(),
  strictSchema: Type.Boolean(),
  events: record,
  traits: record,
  lifecycle: node,
  journeys: nodes,
  segments: nodes,
  health: node,
  rules: nodes,
  signals: nodes,
});

export const EVENT = shape({ properties: record });
export const LIFECYCLE = shape({ initial: text, states: nodes });
export const STATE = shape({ name: text, terminal: yes, transitions: nodes });
export const TRANSITION = shape({ to: text, when: node });
export const SEGMENT = shape({ id: text, when: optionalNode });
export const SELECTOR = shape({ event: text, where: optionalNode });
export const SINCE_JOURNEY = shape({ journey: text });

export const JOURNEY = shape({
  id: text,
  start: node,
  steps: someNodes,
  anyOrder: yes,
  expiresAfter: optionalText,
  repeat: yes,
});
export const STEP = shape({ id: text, when: node, since: Type.Optional(Type.Literal("previousStep")) });

const scoreValue = Type.Number({ minimum: 0, maximum: 100 });

export const HEALTH = shape({ components: someNodes, bands: someNodes });
export const COMPONENT = tolerating(
  shape({ id: text, weight: Type.Number({ minimum: 0, maximum: LIMITS.weight }), score: node }),
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

export const RULE = shape({
  id: text,
  on: node,
  when: optionalNode,
  cooldown: optionalText,
  once: yes,
  then: node,
});

/** By the member `kind`. */
export const TRIGGERS: Readonly<Record<string, Shape>> = byName({
  event: { kind: text, of: node },
  traitsChanged: { kind: text },
  segmentEntered: { kind: text, segment: text },
  segmentExited: { kind: text, segment: text },
  signalRaised: { kind: text, signal: text },
  signalCleared: { kind: text, signal: text },
});

/** By the member `kind`. */
export const ACTIONS: Readonly<Record<string, Shape>> = byName({
  addToSegment: { kind: text, segment: text },
  removeFromSegment: { kind: text, segment: text },
  emit: { kind: text, type: text },
  raiseSignal: { kind: text, signal: text },
  clearSignal: { kind: text, signal: text },
});

export const SIGNAL = tolerating(
  shape({
    id: text,
    severity: Type.Enum(["info", "warning", "critical"]),
    message: Type.Optional(Type.String({ minLength: 1, maxLength: LIMITS.messageLength })),
    when: optionalNode,
    for: optionalText,
  }),
);

/** By the member `type`. */
export const FIELDS: Readonly<Record<string, Shape>> = byName({
  string: { type: text, enum: choices, optional: yes },
  number: { type: text, optional: yes },
  boolean: { type: text, optional: yes },
  date: { type: text, optional: yes },
  array: { type: text, items, optional: yes },
});

const combined = { kind: text, conditions: someNodes };
const negated = { kind: text, condition: node };
const comparison = { kind: text, operator: compareOperator, value: Type.Union([...scalarTypes, scalars]) };
const counted = Type.Integer({ minimum: 0, maximum: LIMITS.count });
const days = Type.Integer({ minimum: 0, maximum: LIMITS.days });
const since = optionalNode;
const occurrences = { kind: text, of: node, within: optionalText, since };
const ofProperty = { ...occurrences, property: text };

/** By the member `kind`. */
export const CONDITIONS: Readonly<Record<string, Shape>> = byName({
  all: combined,
  any: combined,
  not: negated,
  count: { ...occurrences, operator: orderOperator, value: counted },
  aggregate: { ...ofProperty, function: aggregate, operator: orderOperator, value: number },
  distinct: { ...ofProperty, operator: orderOperator, value: counted },
  latest: { ...ofProperty, ...comparison },
  latestExists: ofProperty,
  daysSince: { kind: text, which: firstOrLast, of: node, operator: orderOperator, value: days },
  sequence: { kind: text, first: node, then: node, within: text, since },
  trait: { ...comparison, trait: text },
  traitExists: { kind: text, trait: text },
  traitDateWithin: { kind: text, trait: text, within: text },
  traitDatePassed: { kind: text, trait: text, by: optionalText },
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
  health: { kind: text, component: optionalText, operator: orderOperator, value: scoreValue },
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

/** By the member `kind`. What a health component may be measured by. */
export const MEASURES: Readonly<Record<string, Shape>> = byName({
  count: occurrences,
  aggregate: { ...ofProperty, function: aggregate },
  distinct: ofProperty,
  latest: ofProperty,
  daysSince: { kind: text, which: firstOrLast, of: node },
  trait: { kind: text, trait: text },
});
