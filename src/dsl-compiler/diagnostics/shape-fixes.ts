/** Fixes for parts of a model that have the wrong shape or value. */

/** The expected parts, for authors who gave something else. */
const CONDITION = 'give a condition, such as event.happened(), event.count().within("7d").atLeast(3) or segment.has()';
const SCORE = "give a score: scale(…), steps(…) or trait.map(…)";
const NUMBER = "give a number of the customer's: event.count(), daysSince(event) or a trait that is a number";
const OPERAND = 'give a number of the customer\'s: event.count(), event.sum("…") or a trait that is a number';

/** For authors who gave a lifecycle, or the id of a journey. */
const SINCE = 'write .since("state") for the lifecycle, or .since(…) with what journey(…) returns';

const EVENT = "give an event, or event.where(…)";

/** What to give for a member, by its name in the snapshot; `measure` is the input of a score. */
export const EXPECTED_VALUES = {
  on:
    "give an event, event.where(…), traitsChanged, .entered(…) or .exited(…) of the lifecycle, a segment or the health, " +
    ".started(), .stepCompleted(…), .completed() or .expired() of a journey, or .raised() or .cleared() of a signal",
  then: "give addTo(…) or removeFrom(…) of a segment, emit(…), or raise(…) or clear(…) of a signal",
  when: CONDITION,
  start: CONDITION,
  condition: CONDITION,
  conditions: CONDITION,
  where: "give a condition on the event's properties: (p) => p.seats.atLeast(5)",
  score: SCORE,
  measure: NUMBER,
  per: OPERAND,
  minus: OPERAND,
  of: EVENT,
  first: EVENT,
  since: SINCE,
  steps: "list what step(…) returns",
  properties: "give what string(), number(), boolean(), date(), oneOf(…) or array(…) returns",
  items: "give what string(), number(), boolean(), date() or oneOf(…) returns",
} as const;

/** Fixes for members that exclude each other, by the path at which that is reported. */
const EXCLUSIVE: readonly [path: RegExp, fix: string][] = [
  [
    /^signals\[\d+\]\.for$/,
    'remove "for" or "when", which exclude each other: only what rules raise is cleared after a time',
  ],
  [/^journeys\[\d+\]\.steps\[\d+\]\.since$/, 'remove "since" from the step, or "anyOrder" from the journey'],
  [/^rules\[\d+\]\.cooldown$/, 'remove "cooldown" or "once", which exclude each other'],
];

/** Fixes by the message about the shape, of which `$1` is a part. */
const EXPECTED: readonly [message: RegExp, fix: string][] = [
  [/^must be (one of .*|a text, a finite number.*|a finite number|a whole number|"skip" or .*)$/, "give $1"],
  [
    /^days since an event grow for ever.*$/,
    "compute of counts, sums and traits; compare days since an event by themselves",
  ],
  [/^the .* of the previous window cannot be computed .*$/, "use count, sum or avg with .previous()"],
  [/^the previous window needs the length of a window .*$/, 'write .within("30d") before .previous()'],
  [/^must be "state", or an object that names a journey$/, SINCE],
  [/^must be >= (.*)$/, "give a number that is at least $1"],
  [/^must be <= (.*)$/, "give a number that is at most $1"],
  [/^must be string$/, "give a text"],
  [/^must be boolean$/, "give true or false"],
  [/^must be array$/, "give a list"],
  [/^must have (at least one of .*)$/, "give $1"],
  [/^must not be empty$/, "give at least one"],
];

/** The path of a declared property or trait. */
const FIELD = /^(?:traits|events\b.*\.properties)(?:\.[A-Za-z_$][A-Za-z0-9_$]*|\["(?:[^"\\]|\\.)*"\])$/;

/** The fix for a wrong shape; undefined if there is none beyond the general one. */
export function shapeFix(path: string, message: string): string | undefined {
  const exclusive = EXCLUSIVE.find(([end]) => end.test(path));
  if (exclusive && !/^(?:must|is) /.test(message)) return exclusive[1];
  const member = /([A-Za-z_$][A-Za-z0-9_$]*)(?:\[\d+\]|\["(?:[^"\\]|\\.)*"\])*$/.exec(path)?.[1] ?? "";
  if (message === "is missing") return `add "${member}"`;
  if (message === "is not known here") return `remove "${member}", or correct its name`;
  const isOfSequence = member === "then" && !/^rules\[\d+\]\.then$/.test(path);
  const isField = FIELD.test(path);
  const part = path.endsWith(".score.of") ? "measure" : isOfSequence ? "first" : isField ? "properties" : member;
  if (/^must be (?:an )?object$/.test(message) && Object.hasOwn(EXPECTED_VALUES, part)) {
    return EXPECTED_VALUES[part as keyof typeof EXPECTED_VALUES];
  }
  const expected = EXPECTED.find(([pattern]) => pattern.test(message));
  return expected && message.replace(...expected);
}

/** Fixes for values that break a rule other than their declaration, by the message. */
const VALUES: readonly [message: RegExp, fix: string][] = [
  [/^the last band, .*, is not from 0/, "let one band begin at 0"],
  [/^bands are listed from the highest/, "let each band begin at a number of its own"],
  [/^limits ascend/, "write the limits in ascending order"],
  [/^must differ from "from"/, 'give two different numbers as "from" and "to"'],
  [/^is too far from "from"/, 'give numbers that are nearer to each other as "from" and "to"'],
  [/ is neither an ISO 8601 date /, 'write a date such as "2026-01-31", or a time such as "2026-01-31T12:00:00Z"'],
  [/^a brace stands alone/, 'write a placeholder such as "{name}", or "{{" for a brace'],
  [/^the display names no owner/, 'give the display an "owner", or leave "{owner}" out'],
];

/** The fix for a value that is not allowed; undefined if it depends on the declaration. */
export function valueFix(message: string): string | undefined {
  return VALUES.find(([pattern]) => pattern.test(message))?.[1];
}
