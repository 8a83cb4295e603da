/** Merges the findings of several stages into one list, in which each mistake is reported once. */
import type { Diagnostic, Range } from "../diagnostics/diagnostic.js";
import type { TypeMistake } from "../check/check.js";
import type { SourcePlace } from "../check/syntax.js";

/** A diagnostic of a stage other than the type checker, with the exact place that the syntax gives. */
export interface PlacedDiagnostic {
  diagnostic: Diagnostic;
  place?: SourcePlace | undefined;
}

/**
 * Merges the type checker's findings with the others. For a mistake that both found, it keeps the message of the model's validation, which speaks of
 * events and states, and the type checker's place, which is exact.
 */
export function merge(types: readonly TypeMistake[], others: readonly PlacedDiagnostic[]): Diagnostic[] {
  // Type errors of a file that is not UTF-8 mean nothing.
  const notUtf8 = others.map(({ diagnostic }) => diagnostic).filter(({ code }) => code === "NOT_UTF8");
  const unreadable = new Set(notUtf8.map(({ file }) => file));
  const readable = types.filter(({ diagnostic }) => !unreadable.has(diagnostic.file));
  const merged = new Map(readable.map((mistake) => [mistake, mistake.diagnostic]));
  const rest = others.flatMap((other) => {
    const same = readable.find((mistake) => isSame(mistake, other));
    if (!same) return [exact(other)];
    // Several parts of a model can suffer from one mistake.
    if (merged.get(same) === same.diagnostic) merged.set(same, combine(same.diagnostic, other));
    else if (isStray(other.diagnostic) && !overlap(merged.get(same)!, exact(other))) return [exact(other)];
    return [];
  });
  return [...merged.values(), ...rest];
}

/** Codes with vague messages: the type checker's are better. */
const VAGUE = new Set(["INVALID_SHAPE", "MODEL_FAILED", "INVALID_DEFINITION"]);

function combine(type: Diagnostic, { diagnostic: model, place }: PlacedDiagnostic): Diagnostic {
  // What a model lacks because of a type error is not the mistake.
  if (model.severity === "warning" && type.severity === "error") return type;
  if (isRule(model)) return { ...type, ...model, ...place?.range };
  if (isChoice(model) && overlap(type, model)) return { ...type, ...place?.range };
  if (VAGUE.has(model.code)) return type;
  // Only the type checker says which type was expected, and which one was found.
  if (model.code === "TYPE_MISMATCH") return { ...type, code: model.code };
  const { code, message } = model;
  // A proposed name, or the list of allowed ones, helps more than general advice.
  const isProposal = /^(write|give one of) /.test(type.fix ?? "");
  const fix = isProposal ? type.fix : (model.fix ?? type.fix);
  return { ...type, ...(isStray(model) ? place?.range : {}), code, message, ...(fix === undefined ? {} : { fix }) };
}

/** Whether a shape is refused for a reason that type errors explain badly: members that exclude each other. */
function isRule({ code, message }: Diagnostic): boolean {
  return code === "INVALID_SHAPE" && !/: (?:must|is) /.test(message);
}

function isChoice({ code, message }: Diagnostic): boolean {
  return code === "INVALID_SHAPE" && message.includes(": must be one of ");
}

/** Whether a list contains something that is not a part of its kind. The type checker may mark the whole list for it. */
function isStray({ code }: Diagnostic): boolean {
  return code.startsWith("NOT_A");
}

function exact({ diagnostic, place }: PlacedDiagnostic): Diagnostic {
  return { ...diagnostic, ...place?.range };
}

function isSame(mistake: TypeMistake, { diagnostic, place }: PlacedDiagnostic): boolean {
  const type = mistake.diagnostic;
  if (type.file === undefined || type.file !== diagnostic.file) return false;
  // After the first syntax error the rest of a file is a guess.
  if (type.code === "SYNTAX_ERROR" && diagnostic.code === "SYNTAX_ERROR") return true;
  const model = exact({ diagnostic, place });
  if (overlap(type, model) && (REPORTED_BY_TYPES.test(model.code) || !isAround(model, type))) return true;
  if (place && mistake.value && isAt(mistake.value, place.range)) return true;
  if (place && mistake.value && isStray(diagnostic) && overlap(mistake.value, place.range)) return true;
  // If a call matches no overload, the type checker marks only its name.
  if ((isRule(diagnostic) || isChoice(diagnostic)) && overlap(type, diagnostic)) return true;
  return (
    place?.statement === mistake.statement &&
    subjectsOf(diagnostic.message).some((name) => mistake.names.includes(name))
  );
}

function isAt(a: Range, b: Range): boolean {
  return a.line === b.line && a.column === b.column && a.endLine === b.endLine && a.endColumn === b.endColumn;
}

/** Codes for a call that the type checker may report at one of its parts. Others concern the whole call, such as bands of which none begins at 0. */
const REPORTED_BY_TYPES = /^(UNKNOWN_|NOT_|INVALID_(SHAPE|DURATION|DEFINITION)$|TYPE_MISMATCH$|MODEL_FAILED$)/;

/** Whether a place begins before another one and ends after it. */
function isAround(whole: Partial<Range>, part: Partial<Range>): boolean {
  const [outer, inner] = [spanOf(whole), spanOf(part)];
  return outer.begin < inner.begin && inner.end < outer.end;
}

function overlap(a: Partial<Range>, b: Partial<Range>): boolean {
  const [one, other] = [spanOf(a), spanOf(b)];
  return one.begin < other.end && other.begin < one.end;
}

/** More than the columns of any line. */
const LINE = 1e9;

/** A place as positions in its file that can be compared. A place without an end is one character. */
function spanOf({ line = 0, column = 0, endLine = line, endColumn = column + 1 }: Partial<Range>) {
  return { begin: line * LINE + column, end: endLine * LINE + endColumn };
}

/** The quoted names and values in a message, in their order, without the allowed alternatives (`, only "…"`). */
export function subjectsOf(message: string): string[] {
  return [...message.replace(/, only "[^]*$/, "").matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, name]) => name!);
}

const PATH = /^((?:\.?[A-Za-z_$][A-Za-z0-9_$]*|\[\d+\]|\["(?:[^"\\]|\\.)*"\])+)(?:: | is not )/;

/** The path of the part of the model at the beginning of a message, if it has one. */
export function pathOf(message: string): string | undefined {
  return PATH.exec(message)?.[1];
}

/** Removes repetitions: a wrong condition that is used in several places is reported once. */
export function unique(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const seen = new Set<string>();
  return diagnostics.filter((found) => {
    const key = JSON.stringify([found.code, found.message, found.file, found.line, found.column]);
    return !seen.has(key) && seen.add(key);
  });
}

/** Sorts by file and place; diagnostics without a place come first. */
export function diagnosticsInOrder(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return diagnostics.toSorted(
    (a, b) => compare(a.file ?? "", b.file ?? "") || (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0),
  );
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
