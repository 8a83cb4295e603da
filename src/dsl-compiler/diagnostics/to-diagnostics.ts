/** Turns the results of running the author's modules into diagnostics. */
import { type Problem, quote } from "../../model/snapshot/problem.js";
import { type Diagnostic, diagnostic, type Location } from "./diagnostic.js";
import { durationFix } from "../check/other-names.js";
import type { Locate } from "../load/bundle.js";
import type { Lowered } from "../load/lower.js";
import type { RunOutcome, Thrown } from "../load/runner.js";
import { COMPUTED_ONCE } from "../load/volatile.js";
import { shapeFix, valueFix } from "./shape-fixes.js";

/** The code for a part that was created but is in no list. */
export const UNLISTED = "UNLISTED_DEFINITION";

/** The messages of exceptions that reading a module before its evaluation causes. */
const NOT_YET = /before initialization|of undefined|is not a function|is not a constructor|is not iterable/;

/** The diagnostic of an exception. Exceptions of the language have their own code. @param circular the files that are part of an import cycle */
export function thrownDiagnostic(thrown: Thrown, locate: Locate, circular: ReadonlySet<string>): Diagnostic {
  const { name, message, stack, code, fix } = thrown;
  const location = locate(stack);
  if (code !== undefined) return diagnostic("error", code, message, location, fix);
  // A message may contain a whole stack below its first line.
  const text = message.trim().split("\n", 1)[0]!.slice(0, 500);
  const isEarly = location !== undefined && circular.has(location.file) && NOT_YET.test(message);
  const remedy = isEarly
    ? "pass what comes from the other file as a function, () => …: this file and others import each other in a circle"
    : undefined;
  const reason = name === "" ? text : `${name}: ${text}`;
  return diagnostic("error", "MODEL_FAILED", `the model could not be loaded: ${reason}`, location, remedy);
}

/** The diagnostic of a process that ended or timed out without sending a result. */
export function endDiagnostic(
  outcome: Extract<RunOutcome, { kind: "timedOut" | "ended" }>,
  limitMs: number,
): Diagnostic {
  if (outcome.kind === "timedOut") {
    return diagnostic("error", "MODEL_TIMED_OUT", `the model was not loaded within ${limitMs / 1000} seconds`);
  }
  const message = `the process that loaded the model ended ${outcome.how} before the model was complete`;
  return diagnostic("error", "MODEL_ENDED", message);
}

/** The diagnostics of mistakes that a snapshot cannot express. */
export function loweredDiagnostics({ problems }: Lowered, locate: Locate, config: string): Diagnostic[] {
  return problems.flatMap(({ severity, code, message, stack, fix }) => {
    const isModule = code === "NO_DEFAULT_EXPORT" || code === "NOT_A_MODEL";
    const location = locate(stack) ?? (isModule ? { file: config, line: 1, column: 1 } : undefined);
    // Asked by a package.
    if (code === COMPUTED_ONCE && location === undefined) return [];
    return diagnostic(severity ?? "error", code, message, location, fix);
  });
}

/** The kinds of which a model has only one part, where the kind alone is no noun. */
const ONLY: Readonly<Record<string, string>> = { health: "health score", traits: "set of traits" };

/** Parts that are not in the model, at the calls that made them. */
export function unlistedDiagnostics({ unlisted }: Lowered, locate: Locate): Diagnostic[] {
  return unlisted.map(({ kind, id, stack }) => {
    const part = id === "" ? `this ${ONLY[kind] ?? kind}` : `the ${kind} ${quote(id)}`;
    const fix = id === "" ? `write it as ${quote(kind)} of defineModel, or remove it` : undefined;
    return diagnostic("warning", UNLISTED, `${part} is not part of the model`, locate(stack), fix);
  });
}

/** The diagnostic of a problem of the snapshot, at the call that made the innermost part on its path. */
export function problemDiagnostic(
  severity: Diagnostic["severity"],
  { path, code, message }: Pick<Problem, "path" | "message"> & { code: string },
  place: (path: string) => Location | undefined,
  snapshot: unknown,
): Diagnostic {
  const fix =
    conditionFix(code, message, (kind, id) => placeOfPart(snapshot, kind, id, place)) ?? fixOf(path, code, message);
  const text = path !== "" && NEEDS_PATH.test(code) ? `${path}: ${message}` : message;
  return diagnostic(severity, code, text, place(path), fix);
}

/** The fix for a rule that changes what has a condition: the mistake may be there or at the part, so it names the part's place. */
function conditionFix(
  code: string,
  message: string,
  placeOf: (kind: string, id: string) => Location | undefined,
): string | undefined {
  if (!code.endsWith("_HAS_CONDITION")) return undefined;
  const [, kind, name] = /^the (segment|signal) ("(?:[^"\\]|\\.)*") /.exec(message) ?? [];
  if (kind === undefined || name === undefined) return undefined;
  const location = placeOf(kind, JSON.parse(name) as string);
  const where = location === undefined ? "" : ` (${location.file}:${location.line})`;
  return `remove "when" from the ${kind} ${name}${where}, or this action from the rule`;
}

/** The place of a segment or a signal of a snapshot that is not validated. */
function placeOfPart(snapshot: unknown, kind: string, id: string, place: (path: string) => Location | undefined) {
  const parts = (snapshot as Record<string, unknown> | null)?.[`${kind}s`];
  const index = Array.isArray(parts) ? parts.findIndex((part: { id?: unknown } | null) => part?.id === id) : -1;
  return index < 0 ? undefined : place(`${kind}s[${index}]`);
}

function fixOf(path: string, code: string, message: string): string | undefined {
  if (code === "INVALID_SHAPE") return shapeFix(path, message);
  if (code === "INVALID_VALUE") return valueFix(message);
  if (code !== "INVALID_DURATION") return undefined;
  // It may be in the notation of another language, such as "3 days".
  const [, text] = /^"(.*?)" is no duration/.exec(message) ?? [];
  return text === undefined ? undefined : durationFix(text);
}

/** The codes whose messages need the path of the part; the other messages name it. */
const NEEDS_PATH = /^(INVALID_SHAPE|TYPE_MISMATCH|TOO_|COUNT_TOO_LARGE|NOT_JSON)/;

/** Returns a function that finds the call which made the innermost part on a path. */
export function locationFinder(lowered: Lowered, locate: Locate): (path: string) => Location | undefined {
  const stacks = new Map(lowered.stacks);
  return (path) => {
    for (let rest = path; ; rest = parent(rest)) {
      const location = locate(stacks.get(rest));
      if (location || rest === "") return location;
    }
  };
}

/** The last step of a path: `.member`, `[3]` or `["a member"]`. */
const LAST_STEP = /(?:(?:^|\.)[A-Za-z_$][A-Za-z0-9_$]*|\[\d+\]|\["(?:[^"\\]|\\.)*"\])$/;

/** The path of the part that contains the one at this path. */
function parent(path: string): string {
  const shorter = path.replace(LAST_STEP, "");
  return shorter === path ? "" : shorter;
}
