import { expect, test } from "vitest";

import { complete, journey, ordered, problemsOf } from "./sound.js";

type Rows = [name: string, parts: object, problems: string[]][];

const withJourney = (parts: object) => ({ journeys: [{ ...journey, ...parts }] });
const steps = (...parts: object[]) =>
  withJourney({ steps: parts.map((part, index) => ({ id: `s${index}`, when: ordered, ...part })) });
const STEP = "journeys[0].steps[0]";

const JOURNEYS: Rows = [
  ["no list", { journeys: {} }, ["journeys INVALID_SHAPE"]],
  ["an id with capitals", withJourney({ id: "On" }), ["journeys[0].id INVALID_NAME"]],
  ["an id with a dot", withJourney({ id: "on.boarding" }), ["journeys[0].id INVALID_NAME"]],
  ["an id that objects have of themselves", withJourney({ id: "constructor" }), ["journeys[0].id RESERVED_NAME"]],
  ["a journey twice", { journeys: [journey, journey] }, ["journeys[1].id DUPLICATE_JOURNEY"]],
  ["no start", withJourney({ start: null }), ["journeys[0].start INVALID_SHAPE"]],
  [
    "a start that refers to nothing",
    withJourney({ start: { kind: "segment", segment: "x" } }),
    ["journeys[0].start.segment UNKNOWN_SEGMENT"],
  ],
  ["no steps", withJourney({ steps: [] }), ["journeys[0].steps INVALID_SHAPE"]],
  ["a step without a condition", steps({ when: null }), [`${STEP}.when INVALID_SHAPE`]],
  ["a step id with a hyphen", steps({ id: "a-b" }), [`${STEP}.id INVALID_NAME`]],
  ["a step id that objects have of themselves", steps({ id: "constructor" }), [`${STEP}.id RESERVED_NAME`]],
  ["a step twice", steps({ id: "a" }, { id: "a" }), ["journeys[0].steps[1].id DUPLICATE_STEP"]],
  ["a step since another", steps({ since: "create" }), [`${STEP}.since INVALID_SHAPE`]],
  [
    "a step since the previous one in any order",
    withJourney({ anyOrder: true, steps: [{ id: "a", when: ordered, since: "previousStep" }] }),
    [`${STEP}.since INVALID_SHAPE`],
  ],
  ["an order that is false", withJourney({ anyOrder: false }), ["journeys[0].anyOrder INVALID_SHAPE"]],
  ["a life of no length", withJourney({ expiresAfter: "0d" }), ["journeys[0].expiresAfter INVALID_DURATION"]],
  [
    "a count that remembers too much since the start",
    steps({ when: { ...ordered, value: 10_001 } }),
    [`${STEP}.when.value TOO_MANY`],
  ],
  [
    "a count that remembers too much since the last run",
    withJourney({ repeat: true, start: { ...ordered, value: 10_001 } }),
    ["journeys[0].start.value TOO_MANY"],
  ],
  ["a first start that only counts", withJourney({ start: { ...ordered, value: 10_001 } }), []],
];

test.each(JOURNEYS)("a journey with %s is told at its path", (_, parts, problems) => {
  expect(problemsOf(parts, complete)).toEqual(problems);
});
