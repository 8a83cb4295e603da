import ts from "typescript";
import { quote } from "../../model/snapshot/problem.js";
import type { Diagnostic } from "../diagnostics/diagnostic.js";
import { argumentMistake, argumentsFix, counterpartFix, filterOf, keyFix } from "./arguments.js";
import { Importable } from "./imports.js";
import type { Language } from "./language.js";
import { memberCorrection } from "./members.js";
import { typeErrorCode } from "./messages.js";
import type { Places } from "./program.js";
import { nodeAt } from "./syntax.js";

/** The codes of "cannot find name" and of "property does not exist". */
const UNKNOWN_NAME = new Set([2304, 2503, 2552, 2663, 2693, 18004]);
export const UNKNOWN_MEMBER = new Set([2339, 2550, 2551]);
/** The code of "argument of type 'S' is not assignable". */
const ARGUMENT = 2345;
/** The codes of "expected 1 argument, but got 2" and of an unknown member in an object literal. */
const COUNTED = new Set([2554, 2555]);
const UNKNOWN_KEY = new Set([2353, 2561]);
/** The codes of "type 'S' is not assignable", of a value and of an argument, and of members that a value lacks. */
const MISMATCH = new Set([2322, ARGUMENT, 2739, 2740, 2741]);

/** Whether a name is that of a state among its own transitions: `{ trial: { to: { trial: … } } }`. */
function isOwnState(name: ts.Node): boolean {
  const keyAbove = (node: ts.Node): ts.Node | undefined => {
    const key = node.parent.parent.parent;
    return ts.isPropertyAssignment(key) ? key.name : undefined;
  };
  const to = ts.isPropertyAssignment(name.parent) ? keyAbove(name) : undefined;
  return to?.getText() === "to" && keyAbove(to)?.getText() === name.getText();
}

/** Better fixes for type errors than their messages suggest. */
export class Corrections {
  readonly #importable: Importable;

  constructor(
    program: ts.Program,
    private readonly places: Places,
    private readonly language: Language,
  ) {
    this.#importable = new Importable(program, places);
  }

  /** A file's errors, with one for each unknown name however often it is used; `again` has the positions of its other uses. */
  once(errors: readonly ts.Diagnostic[], file: ts.SourceFile): { error: ts.Diagnostic; again: number[] }[] {
    const names = new Map<string, number[]>();
    return errors.flatMap((error) => {
      const { code, start = 0, length = 0 } = error;
      const name = file.text.slice(start, start + length);
      const places = UNKNOWN_NAME.has(code) ? names.get(name) : undefined;
      if (places) {
        places.push(start);
        return [];
      }
      const again: number[] = [];
      if (UNKNOWN_NAME.has(code)) names.set(name, again);
      return [{ error, again }];
    });
  }

  /** An error's diagnostic with a better fix, if there is one, and with edits if the fix is certain. */
  correct(error: ts.Diagnostic, again: readonly number[], file: ts.SourceFile, diagnostic: Diagnostic): Diagnostic {
    const { start = 0, length = 0 } = error;
    const code = typeErrorCode(error);
    const name = nodeAt(file, start);
    const fix = this.#fixFor(code, name, start + length, diagnostic.fix);
    if (UNKNOWN_KEY.has(code) && isOwnState(name)) {
      const message = `the state ${quote(name.getText())} is not entered from itself`;
      return { ...diagnostic, message, fix: "remove this transition" };
    }
    if (fix !== undefined) return { ...diagnostic, fix };
    // A name that is near to the written one helps more than all that fit.
    if (code === ARGUMENT && !diagnostic.fix?.startsWith("write "))
      return { ...diagnostic, ...argumentMistake(name, this.language) };
    if (!UNKNOWN_NAME.has(code) && !UNKNOWN_MEMBER.has(code)) return diagnostic;
    if (!ts.isIdentifier(name)) return diagnostic;
    if (UNKNOWN_MEMBER.has(code))
      return { ...diagnostic, ...memberCorrection(name, this.language, this.places.directory) };
    const uses = [name, ...again.map((position) => nodeAt(file, position))];
    return { ...diagnostic, ...this.#importable.correction(name, uses, this.#inScope(name)) };
  }

  #fixFor(code: number, name: ts.Node, end: number, fix = ""): string | undefined {
    if (COUNTED.has(code)) return argumentsFix(name, end, this.language);
    if (MISMATCH.has(code)) return counterpartFix(name, this.language);
    if (!UNKNOWN_KEY.has(code)) return undefined;
    return filterOf(name, this.language) ?? (fix.startsWith("write ") ? undefined : keyFix(name, this.language));
  }

  /** The names that the author declared or imported, and that are in scope at a place. */
  #inScope(name: ts.Node): string[] {
    const { checker } = this.language;
    const symbols = checker.getSymbolsInScope(name, ts.SymbolFlags.Value | ts.SymbolFlags.Alias);
    const isAuthored = ({ declarations = [] }: ts.Symbol) =>
      declarations.some((declaration) => !declaration.getSourceFile().isDeclarationFile);
    return symbols.filter(isAuthored).map((symbol) => symbol.name);
  }
}
