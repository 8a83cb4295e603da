import { LIMITS } from "../../model/snapshot/limits.js";
import type { ProblemCode } from "../../model/snapshot/problem.js";

/** General fixes for the problems of a model, by code. */
const MODEL_FIXES: Readonly<Record<ProblemCode, string>> = {
  COUNT_TOO_LARGE: `compare with at most ${LIMITS.distinctCount}; only a count of occurrences may compare with more`,
  DUPLICATE_BAND: "give one of the bands another name",
  DUPLICATE_COMPONENT: "give one of the components another name",
  DUPLICATE_JOURNEY: "give one of the journeys another id",
  DUPLICATE_RULE: "give one of the rules another id",
  DUPLICATE_SEGMENT: "give one of the segments another id",
  DUPLICATE_SIGNAL: "give one of the signals another id",
  DUPLICATE_STATE: "give one of the states another name",
  DUPLICATE_STEP: "give one of the steps another id",
  DUPLICATE_TRAIT: "show the trait once",
  FORMAT_VERSION_UNKNOWN: "use the svc that came with the service",
  INVALID_DURATION: 'write a duration such as "15m", "12h", "7d" or "4w"',
  INVALID_NAME: "choose another name",
  INVALID_SHAPE: "write this part as the language expects it",
  INVALID_VALUE: "write a value that the declaration allows, or change the declaration",
  NOT_JSON: "write texts, finite numbers, true, false, lists and plain objects only",
  NO_HEALTH: 'add the health score to "health" of defineModel in svc.config.ts',
  NO_LIFECYCLE: 'add the lifecycle to "lifecycle" of defineModel in svc.config.ts',
  RESERVED_NAME: "choose another name",
  SEGMENT_CYCLE: "write one of the segments without reading the other",
  SEGMENT_HAS_CONDITION: 'remove "when" from the segment, or this action from the rule',
  SIGNAL_HAS_CONDITION: 'remove "when" from the signal, or this action from the rule',
  SNAPSHOT_TOO_LARGE: "split the model, or move long lists of values into a trait",
  STEP_IMPOSSIBLE: "correct the condition of the step, or remove the step",
  TERMINAL_STATE_WITH_TRANSITIONS: 'remove "terminal: true", or the transitions',
  TOO_DEEP: "give parts of the condition to segments and use those; of a number, send part of it as a trait",
  TOO_MANY: "declare fewer",
  TYPE_MISMATCH: "ask what the declared type allows, or change the declaration",
  UNKNOWN_BAND: 'declare the band in "bands" of the health score, or correct its name',
  UNKNOWN_COMPONENT: 'declare the component in "components" of the health score, or correct its name',
  UNKNOWN_EVENT: 'add the event to "events" of defineModel in svc.config.ts',
  UNKNOWN_JOURNEY: 'add the journey to "journeys" of defineModel in svc.config.ts',
  UNKNOWN_PROPERTY: "declare the property in the event, or correct its name",
  UNKNOWN_SEGMENT: 'add the segment to "segments" of defineModel in svc.config.ts',
  UNKNOWN_SIGNAL: 'add the signal to "signals" of defineModel in svc.config.ts',
  UNKNOWN_STATE: "declare the state in the lifecycle, or correct its name",
  UNKNOWN_STEP: "declare the step in the journey, or correct its id",
  UNKNOWN_TRAIT: 'declare the trait in the traits that are "traits" of defineModel in svc.config.ts',
  WEIGHTS_SUM_TO_ZERO: "give at least one component a weight above 0",
};

/** General fixes for the findings of the compiler itself, by code. */
const SOURCE_FIXES: Readonly<Record<string, string>> = {
  CIRCLE_BY_TIME: "ask in one of the transitions for something that happens, or wait longer in them",
  DUPLICATE_EVENT: "give one of the events another name, or declare it once and import it",
  DUPLICATE_KEY: "remove one of the two, or give it another name",
  IMPOSSIBLE_CONDITION: "correct the condition, or remove what depends on it",
  EMPTY_SEGMENT: "give the segment a condition, or add to it in a rule",
  INVALID_DEFINITION: "give the object that is missing",
  INVALID_OPERATOR: 'ask by a method instead, such as .atLeast(3) or .is("pro")',
  MODEL_ENDED: "look for process.exit, for an await that never ends, or for more memory than a model may use",
  MODEL_FAILED: "correct the cause at this place",
  MODEL_TIMED_OUT: "look for an endless loop, or for work that does not belong in a model",
  MODULE_NOT_FOUND: "correct the path, or install the package in the project's folder",
  NOT_AN_EVENT: "list only what event(…) returns",
  NOT_A_DISPLAY: "give what display(…) returns",
  NOT_A_FIELD: "give what string(), number(), boolean(), date() or oneOf(…) returns",
  NOT_A_JOURNEY: "list only what journey(…) returns",
  NOT_A_LIFECYCLE: "give what lifecycle(…) returns",
  NOT_A_LIST: "write a list: [ … ]",
  NOT_A_MODEL: "write export default defineModel({ … })",
  NOT_A_RULE: "list only what rule(…) returns",
  NOT_A_SEGMENT: "list only what segment(…) returns",
  NOT_A_SIGNAL: "list only what signal(…) returns",
  NOT_A_TRAIT: "give a trait, such as customer.plan",
  NOT_TRACKING: "give what tracking(…) returns",
  NOT_TRAITS: "give what traits(…) returns",
  NOT_HEALTH: "give what health(…) returns",
  NOT_UTF8: "save the file as UTF-8",
  NO_DEFAULT_EXPORT: "write export default defineModel({ … })",
  NO_SUCH_EXPORT: "correct the name, or export it from that file",
  POINTLESS_ANY_STATE: "remove it, or correct the states that it names",
  POINTLESS_CONDITION: "correct the condition, or remove it",
  RULE_LOOP:
    "give one of the rules once: true or a cooldown that is longer than the loop, or let it wait for something else",
  SILENT_SIGNAL: "give the signal a condition, or raise it in a rule",
  LITERAL_PLACEHOLDER:
    "write the text without it: a signal's message is the same for every customer, only that of emit(…) has placeholders",
  FRACTIONAL_BANDS: "give the lowest score of each band from 0 to 100, such as 70 for 0.7",
  COMPUTED_ONCE: "write a fixed value; conditions compare with the present by .within(…), .passed() or daysSince(…)",
  SYNTAX_ERROR: "correct what stands there or just before it",
  SUSPICIOUS_SOURCE: "write what is meant in another way",
  TYPES_TIMED_OUT: "look for types of your own that refer to themselves without end",
  TYPE_ERROR: "correct it as the type says",
  UNKNOWN_MEMBER: "correct the name",
  UNKNOWN_MODEL_PART: "remove it, or correct its name",
  UNLISTED_DEFINITION:
    "export it from a module that svc.config.ts lists, or add it to a list of defineModel, or remove it",
  UNREACHABLE_STATE: "add a transition to it, or remove it",
  UNUSED_EVENT: "use it in a condition, mark it with .recordOnly() if only people read it, or remove it",
};

const FIXES: Readonly<Record<string, string>> = { ...SOURCE_FIXES, ...MODEL_FIXES };

/** The general fix for a problem with this code; undefined for a code that is not known here. */
export function fixFor(code: string): string | undefined {
  return Object.hasOwn(FIXES, code) ? FIXES[code] : undefined;
}
