/** Names of other languages for the methods and functions of this one, and for features that it does not have. */
import { isDuration } from "../../model/snapshot/duration.js";
import { byNames } from "./words.js";

/** Other names of methods. The meant method is the first one that the value has. */
const METHODS: readonly [names: string, methods: string][] = [
  ["moreThan greaterThan isGreaterThan biggerThan largerThan gt above over exceeds", "moreThan after"],
  ["atLeast greaterThanOrEqual greaterThanOrEquals greaterOrEqual gte ge min minimum notLessThan", "atLeast onOrAfter"],
  ["lessThan isLessThan smallerThan fewerThan lt below under", "lessThan before"],
  ["atMost lessThanOrEqual lessThanOrEquals lessOrEqual lte le max maximum notMoreThan upTo", "atMost onOrBefore"],
  ["equals equal equalTo isEqualTo eq is", "is equals"],
  ["notEquals notEqual notEqualTo doesNotEqual isNotEqualTo neq ne isNot not", "isNot notEquals"],
  ["isIn isOneOf oneOf anyOf isAnyOf", "in"],
  ["isNotIn notOneOf noneOf", "notIn"],
  ["includes include has hasItem", "contains"],
  ["isSet isPresent isDefined isKnown present defined", "exists"],
  ["isMissing isAbsent isNull isUndefined isUnknown isEmpty absent notExists", "missing"],
  ["isBefore earlierThan", "before"],
  ["isAfter laterThan", "after"],
  ["inLast inTheLast inPast withinLast withinTheLast last past during", "within"],
  ["olderThan", "passed"],
  ["filter", "where"],
  ["average mean", "avg"],
  ["minimum least lowest smallest", "min"],
  ["maximum greatest highest largest", "max"],
  ["total sumOf", "sum"],
  ["unique uniq countDistinct countUnique distinctCount uniqueCount nunique", "distinct"],
  ["times occurrences length size frequency", "count"],
  ["occurred everHappened hasHappened ever exists", "happened"],
  ["neverHappened notHappened didNotHappen hasNotHappened", "never"],
  ["newest mostRecent", "latest"],
  ["contains includes isMember isIn is", "has"],
];

/** The method that another name stands for. @param has whether the value has a method of this name */
export function methodMeant(name: string, has: (method: string) => boolean): string | undefined {
  for (const [names, methods] of METHODS) {
    if (!names.split(" ").includes(name)) continue;
    const method = methods.split(" ").find((one) => one !== name && has(one));
    if (method !== undefined) return method;
  }
  return undefined;
}

/** The advice for questions about months, weeks or days of a calendar. */
/** The operators of JavaScript that compare. */
export type Operator = ">" | ">=" | "<" | "<=" | "===" | "==" | "!==" | "!=";

/** The methods that an operator stands for; a value has at most one of them. */
export const COMPARISONS: Readonly<Record<Operator, readonly string[]>> = {
  ">": ["moreThan", "after"],
  ">=": ["atLeast", "onOrAfter"],
  "<": ["lessThan", "before"],
  "<=": ["atMost", "onOrBefore"],
  "===": ["is", "equals"],
  "==": ["is", "equals"],
  "!==": ["isNot", "notEquals"],
  "!=": ["isNot", "notEquals"],
};

const CALENDAR =
  'write .within("30d"): windows have fixed lengths, because rules of time zones change, and results must not';

/** The advice for asking whether a signal is raised. */
export const ASK_WITHOUT_SIGNAL =
  "write the condition of the signal itself, best as a segment that both ask with .has(); what rules raise, they can also add to a segment";

const OCCURRENCES = "EventModel Occurrences OpenCondition Condition PropertyCondition";

/** Advice for what the language expresses in another way, or not at all; `types`: only for values of these. */
const WAYS: readonly [names: string, way: string, types?: string][] = [
  ["within", "write .lessThan(30): it is a number of days", "Days"],
  ["isRaised isActive active has is exists happened", ASK_WITHOUT_SIGNAL, "SignalModel ManualSignal"],
  [
    "was wasIn had previous",
    'write a rule on .exited("…") that adds to a segment, and ask that with .has(): only the present is known',
    "LifecycleModel HealthModel BandQuestions",
  ],
  [
    "inactiveFor",
    'write .never().within("30d"), which also holds if it never happened, or daysSince(event).atLeast(30)',
    "EventModel Occurrences",
  ],
  ["activeWithin", 'write .happened().within("30d")', "EventModel Occurrences"],
  [
    "lessThan atMost below under lt lte isLessThan",
    'write not(….atLeast("30d")): the time in the state can only be compared with .atLeast(…)',
    "StateTime",
  ],
  ["moreThan greaterThan above over gt gte isGreaterThan", 'write .atLeast("30d")', "StateTime"],
  ["between inRange isBetween", "write all(….atLeast(…), ….atMost(…)); of dates, all(….onOrAfter(…), ….before(…))"],
  [
    "median percentile quantile p50 p75 p90 p95 p99 stddev variance mode",
    'write .avg("…"), .min("…") or .max("…"): not every value of a history is kept, so there are no percentiles',
  ],
  ["last lastTime lastAt", 'write daysSince(event) for how long ago it was, or .latest("…") for a property of it'],
  ["first firstTime firstAt", "write daysSinceFirst(event) for how long ago it was; a property of it is not kept"],
  ["nth second third", "write .count().atLeast(n): it holds from the nth occurrence on"],
  [
    "before after followedBy precededBy then afterwards",
    'write sequence(first, then).within("7d"): one event after another',
  ],
  ["within since", 'write .count() or .happened() first, such as .count().within("30d").atLeast(3)', OCCURRENCES],
  [
    "atLeast atMost moreThan lessThan equals notEquals greaterThan gt gte lt lte",
    "write .count() first, such as .count().atLeast(3)",
    OCCURRENCES,
  ],
  ["and", "write all(…, …)"],
  ["or", "write any(…, …)"],
  ["not negate", "write not(…)"],
  ["startsWith endsWith matches match like", "write .is(…), .in(…) or .contains(…): there are no patterns"],
  [
    "previous",
    'write .within("30d") before .previous(), on a count, a sum or an average; of traits only the present value is known',
  ],
  [
    "increased decreased changed changedTo changedFrom was",
    "write an event with the earlier and the present value: of traits only the present one is known",
  ],
  ["trend growth slope", 'write counts of two windows, such as .count().within("7d") and .count().within("30d")'],
  [
    "per minus",
    'write it of a count, of a sum, or of a latest value or a trait that is a number; .distinct("…") counts different values',
  ],
  [
    "plus add",
    "write a count or a sum of one event that stands for both: its amounts may be negative; .minus(…) subtracts positive ones",
  ],
  ["groupBy perUser byUser by", 'write .distinct("…"), which counts the values: only customers have a state'],
  [
    "thisMonth lastMonth thisWeek lastWeek thisYear thisQuarter today yesterday monthToDate yearToDate sinceStartOfMonth",
    CALENDAR,
  ],
];

/** Advice for a name that the language has no equivalent of. @param type the type of the value on which it was used */
export function wayAround(name: string, type = ""): string | undefined {
  const has = (words: string, word: string) => words.split(" ").includes(word);
  return WAYS.find(([names, , types]) => has(names, name) && (types === undefined || has(types, type)))?.[1];
}

/** Other names of the members of definitions. */
const KEYS = byNames([
  ["where if condition filter", "when"],
  ["trigger event", "on"],
  ["do action actions", "then"],
]);

/** The member of a definition that another name stands for. */
export function keyMeant(name: string): string | undefined {
  return KEYS.get(name);
}

/** Methods for what happens and for what holds, with those that ask the other way: their names, or whole calls. */
const COUNTERPARTS: readonly [name: string, other: string][] = [
  ["entered", "has"],
  ["entered", "is"],
  ["has", "entered"],
  ["is", "entered"],
  ["stepCompleted", "completed"],
  ["completed", 'is("complete")'],
  ["expired", 'is("expired")'],
];

/** The methods that may be meant where something happens instead of holds, or holds instead of happens. */
export function counterpartsOf(name: string): string[] {
  return COUNTERPARTS.flatMap(([one, other]) => (one === name ? [other] : []));
}

/** Other names of the language's functions. */
const FUNCTIONS = byNames([
  ["and allOf every", "all"],
  ["or anyOf some", "any"],
  ["negate", "not"],
  ["inactive", "inactiveFor"],
  ["active activeFor", "activeWithin"],
  ["bool", "boolean"],
  ["text", "string"],
  ["list", "array"],
  ["choice", "oneOf"],
  ["timestamp datetime", "date"],
  ["followedBy", "sequence"],
  ["daysSinceLast", "daysSince"],
]);

/** The function of the language that another name stands for. */
export function functionMeant(name: string): string | undefined {
  return FUNCTIONS.get(name);
}

const LENGTH = /^\s*(\d+)\s*(m|minutes?|mins?|h|hours?|hrs?|d|days?|w|weeks?)\s*$/i;
/** A capital M is a month in many notations, a small one a minute in this one. */
const MONTHS = /^\s*\d*\s*(?:M|[mM]os?|[mM]onths?|[yY]|[yY]ears?|[qQ]|[qQ]uarters?)\s*$/;

/** The fix for a text that is not a duration, if it is clear what was meant. */
export function durationFix(text: string): string | undefined {
  if (MONTHS.test(text)) {
    return 'write "30d" or "365d": lengths are fixed, and a month is not; see "Time and order" in docs/model.md';
  }
  const [, count, unit] = LENGTH.exec(text) ?? [];
  if (count === undefined || unit === undefined) return undefined;
  const meant = `${Number(count)}${unit[0]!.toLowerCase()}`;
  return isDuration(meant) ? `write "${meant}"` : 'write a length from "1m" to "3650d"';
}
