/** What can stand where a part of a model is expected, for authors who gave something else. */
const CONDITION = 'give a condition, such as event.happened(), event.count().within("7d").atLeast(3) or segment.has()';
const SCORE = "give a score: scale(…), steps(…) or trait.map(…)";
const NUMBER = "give a number of the customer's: event.count(), daysSince(event) or a trait that is a number";

/** By the name of the member in the snapshot; `measure` is what a score is made of. */
export const EXPECTED_VALUES = {
  on: "give an event, event.where(…), traitsChanged, segment.entered() or .exited(), or signal.raised() or .cleared()",
  then: "give addTo(…) or removeFrom(…) of a segment, emit(…), or raise(…) or clear(…) of a signal",
  when: CONDITION,
  start: CONDITION,
  condition: CONDITION,
  conditions: CONDITION,
  where: "give a condition on the event's properties: (p) => p.seats.atLeast(5)",
  score: SCORE,
  measure: NUMBER,
  of: "give an event, or event.where(…)",
  steps: "list what step(…) returns",
  properties: "give what string(), number(), boolean(), date() or oneOf(…) returns",
} as const;
