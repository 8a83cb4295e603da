/** One list of what several stages found, in which each mistake is told once. */
import type { Diagnostic, Range } from "../diagnostics/diagnostic.js";
import type { TypeMistake } from "../check/check.js";
import type { SourcePlace } from "../check/syntax.js";

/** A diagnostic of a stage other than the type checker, with what the syntax tells of its place. */
export interface PlacedDiagnostic {
  diagnostic: Diagnostic;
  place?: SourcePlace | undefined;
}

/**
 * Puts what the type checker found together with the rest. Where both found the same mistake, the model's words are kept, because they
 * speak of events and states, with the type checker's place, which is exact.
 */
export function merge(types: readonly TypeMistake[], others: readonly PlacedDiagnostic[]): Diagnostic[] {
  // Of a file that is no text, types tell nothing.
  const noText = others.map(({ diagnostic }) => diagnostic).filter(({ code }) => code === "NOT_UTF8");
  const unreadable = new Set(noText.map(({ file }) => file));
  const readable = types.filter(({ diagnostic }) => !unreadable.has(diagnostic.file));
  const told = new Map(readable.map((mistake) => [mistake, mistake.diagnostic]));
  const rest = others.flatMap((other) => {
    const same = readable.find((mistake) => isSame(mistake, other));
    if (!same) return [exact(other)];
    // Several parts of a model can suffer from one mistake.
    if (told.get(same) === same.diagnostic) told.set(same, combine(same.diagnostic, other));
    else if (isStray(other.diagnostic) && !overlap(told.get(same)!, exact(other))) return [exact(other)];
    return [];
  });
  return [...told.values(), ...rest];
}

/** The words that tell least: the type checker's are better. */
const VAGUE = new Set(["INVALID_SHAPE", "MODEL_FAILED", "INVALID_DEFINITION"]);

function combine(type: Diagnostic, { diagnostic: model, place }: PlacedDiagnostic): Diagnostic {
  if (isRule(model)) return { ...type, ...model, ...place?.range };
  if (isChoice(model) && overlap(type, model)) return { ...type, ...place?.range };
  if (VAGUE.has(model.code)) return type;
  // Which type was expected, and which one stands there, only the type checker tells.
  if (model.code === "TYPE_MISMATCH") return { ...type, code: model.code };
  const { code, message } = model;
  // A name that was probably meant, or all that are allowed, says more than what to do in general.
  const isProposal = /^(write|give one of) /.test(type.fix ?? "");
  const fix = isProposal ? type.fix : (model.fix ?? type.fix);
  return { ...type, ...(isStray(model) ? place?.range : {}), code, message, ...(fix === undefined ? {} : { fix }) };
}

/** Whether a shape is refused for a reason that types tell badly: members that exclude each other. */
function isRule({ code, message }: Diagnostic): boolean {
  return code === "INVALID_SHAPE" && !/: (?:must|is) /.test(message);
}

function isChoice({ code, message }: Diagnostic): boolean {
  return code === "INVALID_SHAPE" && message.includes(": must be one of ");
}

/** Whether something is listed that is no part of its kind. Types may mark the whole list for it. */
function isStray({ code }: Diagnostic): boolean {
  return code.startsWith("NOT_A");
}

function exact({ diagnostic, place }: PlacedDiagnostic): Diagnostic {
  return { ...diagnostic, ...place?.range };
}

function isSame(mistake: TypeMistake, { diagnostic, place }: PlacedDiagnostic): boolean {
  const type = mistake.diagnostic;
  if (type.file === undefined || type.file !== diagnostic.file) return false;
  // After the first error of syntax the rest of a file is a guess.
  if (type.code === "SYNTAX_ERROR" && diagnostic.code === "SYNTAX_ERROR") return true;
  const model = exact({ diagnostic, place });
  if (overlap(type, model) && (TOLD_BY_TYPES.test(model.code) || !isAround(model, type))) return true;
  if (place && mistake.value && isAt(mistake.value, place.range)) return true;
  if (place && mistake.value && isStray(diagnostic) && overlap(mistake.value, place.range)) return true;
  // Of a call that fits none of its forms, only the name is marked.
  if ((isRule(diagnostic) || isChoice(diagnostic)) && overlap(type, diagnostic)) return true;
  return (
    place?.statement === mistake.statement &&
    subjectsOf(diagnostic.message).some((name) => mistake.names.includes(name))
  );
}

function isAt(a: Range, b: Range): boolean {
  return a.line === b.line && a.column === b.column && a.endLine === b.endLine && a.endColumn === b.endColumn;
}

/** What of a whole call types may tell at one of its parts. The rest is wrong with the whole alone, such as bands of which none begins at 0. */
const TOLD_BY_TYPES = /^(UNKNOWN_|NOT_|INVALID_(SHAPE|DURATION|DEFINITION)$|TYPE_MISMATCH$|MODEL_FAILED$)/;

/** Whether a place begins before another one and ends after it. */
function isAround(whole: Partial<Range>, part: Partial<Range>): boolean {
  const { line = 0, column = 0, endLine = line, endColumn = column } = whole;
  const {
    line: partLine = 0,
    column: partColumn = 0,
    endLine: partEnd = partLine,
    endColumn: partEndColumn = 0,
  } = part;
  const begins = line < partLine || (line === partLine && column < partColumn);
  return begins && (endLine > partEnd || (endLine === partEnd && endColumn > partEndColumn));
}

function overlap(a: Partial<Range>, b: Partial<Range>): boolean {
  return !isBefore(a, b) && !isBefore(b, a);
}

/** Whether one place ends before the other begins. A place without an end is one character. */
function isBefore(a: Partial<Range>, b: Partial<Range>): boolean {
  const line = a.endLine ?? a.line ?? 0;
  const column = a.endColumn ?? (a.column ?? 0) + 1;
  return line < (b.line ?? 0) || (line === b.line && column <= (b.column ?? 0));
}

/** The names and values that a message speaks of, the first one first; not those that could stand there instead. */
export function subjectsOf(message: string): string[] {
  return [...message.replace(/, only "[^]*$/, "").matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, name]) => name!);
}

const PATH = /^((?:\.?[A-Za-z_$][A-Za-z0-9_$]*|\[\d+\]|\["(?:[^"\\]|\\.)*"\])+)(?:: | is not )/;

/** The path of the part of the model that a message speaks of, where it gives one. */
export function pathOf(message: string): string | undefined {
  return PATH.exec(message)?.[1];
}

/** A condition that is used in several places is wrong in all of them, and told once. */
export function unique(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const seen = new Set<string>();
  return diagnostics.filter((found) => {
    const key = JSON.stringify([found.code, found.message, found.file, found.line, found.column]);
    return !seen.has(key) && seen.add(key);
  });
}

/** In the order in which an author reads them: by file and place, first what has no place. */
export function diagnosticsInOrder(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return diagnostics.toSorted(
    (a, b) => compare(a.file ?? "", b.file ?? "") || (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0),
  );
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
