import ts from "typescript";

import { type Diagnostic, diagnostic, type Range, rangeOf } from "../diagnostics/diagnostic.js";
import { Corrections, UNKNOWN_MEMBER } from "./corrections.js";
import { Language } from "./language.js";
import { typeDiagnostic } from "./messages.js";
import { findOperators, isCausedBy } from "./operators.js";
import { authoredFiles, type Places } from "./program.js";
import { namesAt, nodeAt, statementLine, valueAt } from "./syntax.js";

/** A mistake that the type checker found, with what is needed to recognize the same mistake found by the model's validation. */
export interface TypeMistake {
  diagnostic: Diagnostic;
  /** The line at which the statement of the module begins. */
  statement: number;
  names: string[];
  /** If the name of a member is marked: the place of its value. */
  value?: Range | undefined;
}

/** The codes of "no such export". They are ignored if a file has syntax errors, since it may then seem to export less than it does. */
const MISSING_EXPORT = new Set([2305, 2459, 2460, 2614, 2724]);

/** The codes of "used before its declaration" and of "used before being assigned". */
const USED_ABOVE = 2448;
const NOT_ASSIGNED = 2454;

/** All mistakes that the type checker finds in the author's files, by file and place. */
export function findMistakes(program: ts.Program, places: Places): TypeMistake[] {
  const files = authoredFiles(program, places);
  const language = new Language(program, places.sources);
  const corrections = new Corrections(program, places, language);
  const unreadable = new Set(files.filter((file) => program.getSyntacticDiagnostics(file).length > 0));
  return files.flatMap((file) => {
    // After the first syntax error, the rest of the file and its types are guesses.
    const [syntax] = program.getSyntacticDiagnostics(file);
    if (syntax) return [mistake(syntax, file, syntaxDiagnostic(syntax, file, places.directory))];
    const operators = findOperators(file, language, places.directory);
    const errors = program
      .getSemanticDiagnostics(file)
      .filter(
        ({ category, code }) =>
          category === ts.DiagnosticCategory.Error && !(unreadable.size > 0 && MISSING_EXPORT.has(code)),
      )
      .filter((error) => !operators.some(({ node }) => isCausedBy(node, error, file)))
      .filter((error, _, all) => !isOfGuess(error, all, file, language) && !isRepetition(error, all));
    return [
      ...operators.map(({ node, diagnostic }) => {
        const start = node.getStart(file);
        return mistake({ start, length: node.end - start }, file, diagnostic);
      }),
      ...corrections.once(errors, file).map(({ error, again }) => ({
        ...mistake(error, file, corrections.correct(error, again, file, typeDiagnostic(error, file, places.directory))),
        value: valueAt(file, error.start ?? 0, places.directory),
      })),
    ];
  });
}

/** Whether an error is about what a generic function returned for a wrong argument, or about a member of that: its type is a guess. */
function isOfGuess(
  { code, start = 0, length = 0 }: ts.Diagnostic,
  errors: readonly ts.Diagnostic[],
  file: ts.SourceFile,
  { checker }: Language,
): boolean {
  let node = nodeAt(file, start);
  if (UNKNOWN_MEMBER.has(code)) node = node.parent;
  while (node.end < start + length) node = node.parent;
  for (; ts.isCallExpression(node) || ts.isPropertyAccessExpression(node); node = node.expression) {
    if (!ts.isCallExpression(node) || !checker.getResolvedSignature(node)?.declaration?.typeParameters) continue;
    if (node.arguments.some((one) => errors.some((other) => other.start === one.getStart(file)))) return true;
  }
  return false;
}

/** Whether an error says once more that a variable is used above its declaration. */
function isRepetition({ code, start }: ts.Diagnostic, errors: readonly ts.Diagnostic[]): boolean {
  return code === NOT_ASSIGNED && errors.some((other) => other.code === USED_ABOVE && other.start === start);
}

function mistake(
  { start = 0, length = 0 }: Pick<ts.Diagnostic, "start" | "length">,
  file: ts.SourceFile,
  diagnostic: Diagnostic,
): TypeMistake {
  return { diagnostic, statement: statementLine(file, start), names: namesAt(file, start, start + length) };
}

function syntaxDiagnostic(
  { start, length, messageText }: ts.DiagnosticWithLocation,
  file: ts.SourceFile,
  directory: string,
): Diagnostic {
  const text = typeof messageText === "string" ? messageText : messageText.messageText;
  const message = text.replace(/\.$/, "").replaceAll("'", '"');
  const range = rangeOf(file, start, start + length, directory);
  return diagnostic("error", "SYNTAX_ERROR", message.charAt(0).toLowerCase() + message.slice(1), range);
}
