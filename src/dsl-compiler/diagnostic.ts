/** Something to tell the author. Errors block; warnings do not, unless they are asked to. */
export interface Diagnostic {
  /** Stable, in capitals. */
  code: string;
  severity: "error" | "warning";
  message: string;
  /** Relative to the project, with forward slashes. */
  file?: string;
  /** From 1. */
  line?: number;
  /** From 1. */
  column?: number;
  /** What to do about it. */
  fix?: string;
}

/** A place in the author's sources. */
export type Location = Required<Pick<Diagnostic, "file" | "line" | "column">>;

/** What to do about a problem, where it can be said without knowing the model. */
const FIXES: Readonly<Record<string, string>> = {
  DUPLICATE_EVENT: "give one of the events another name, or declare it once and import it",
  DUPLICATE_KEY: "remove one of the two, or give it another name",
  DUPLICATE_SEGMENT: "give one of the segments another id",
  FORBIDDEN_KEY: "choose another name",
  INVALID_DURATION: 'write a duration such as "15m", "12h", "7d" or "4w"',
  INVALID_NAME: "choose another name",
  MODEL_TIMED_OUT: "look for an endless loop, or for work that does not belong in a model",
  MODULE_NOT_FOUND: "correct the path, or install the package in the project's folder",
  NO_LIFECYCLE: 'add the lifecycle to "lifecycle" of defineModel in svc.config.ts',
  NO_SUCH_EXPORT: "correct the name, or export it from that file",
  NOT_AN_EVENT: "list only what event(…) returns",
  NOT_A_SEGMENT: "list only what segment(…) returns",
  RESERVED_NAME: "choose another name",
  SEGMENT_CYCLE: "write one of the segments without reading the other",
  SNAPSHOT_TOO_LARGE: "split the model, or move long lists of values into a trait",
  TERMINAL_STATE_WITH_TRANSITIONS: 'remove "terminal: true", or the transitions',
  TOO_DEEP: "give parts of the condition to segments and use those",
  UNKNOWN_EVENT: 'add the event to "events" of defineModel in svc.config.ts',
  UNKNOWN_MODEL_PART: "remove it, or correct its name",
  UNKNOWN_PROPERTY: "declare the property in the event, or correct its name",
  UNKNOWN_SEGMENT: 'add the segment to "segments" of defineModel in svc.config.ts',
  UNKNOWN_STATE: "declare the state in the lifecycle, or correct its name",
  UNKNOWN_TRAIT: 'declare the trait in the traits that are "traits" of defineModel in svc.config.ts',
  UNREACHABLE_STATE: "add a transition to it, or remove it",
  UNUSED_EVENT: "use it in a condition, or remove it if nothing will",
  IMPOSSIBLE_CONDITION: "correct the condition, or remove what depends on it",
  POINTLESS_CONDITION: "correct the condition, or remove it",
};

/** Makes a diagnostic, with its place where that is known and its fix where there is one. */
export function diagnostic(
  severity: Diagnostic["severity"],
  code: string,
  message: string,
  location?: Location,
  fix = FIXES[code],
): Diagnostic {
  return { code, severity, message, ...location, ...(fix === undefined ? {} : { fix }) };
}
