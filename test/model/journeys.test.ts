import { expect, test } from "vitest";

import { complete, journey, ordered, problemsOf } from "./sound.js";

type Rows = [parts: object, ...problems: string[]][];

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
  [steps({ when: { ...ordered, value: 10_001 } }), `${STEP}.when.value TOO_MANY`],
  [withJourney({ repeat: true, start: { ...ordered, value: 10_001 } }), "journeys[0].start.value TOO_MANY"],
  [withJourney({ start: { ...ordered, value: 10_001 } })],
];

test.each(JOURNEYS)("a journey with %j is told: %s", (parts, ...problems) => {
  expect(problemsOf(parts, complete)).toEqual(problems);
});
