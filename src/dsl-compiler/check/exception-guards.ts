/**
 * Rewrites sources so that they run to their end. An exception at the top level of a module ends the whole load, and hides all later
 * mistakes. So each value that a module computes is wrapped in a guard (src/dsl-compiler/load/runner.ts), which notes an exception and
 * returns a placeholder that can be used like any value.
 */
import ts from "typescript";

/** A rewritten file. Insertions contain no line breaks, and removed text is replaced by blanks, so line numbers stay the same. */
export interface GuardedFile {
  /** Absolute. */
  file: string;
  text: string;
  /** The insertions: `length` characters before the place in the original, lines and columns from 1. */
  insertions: { line: number; column: number; length: number }[];
}

/** The author's files with guards. */
export function guard(files: readonly ts.SourceFile[], checker: ts.TypeChecker): GuardedFile[] {
  return files.map((file) => {
    const edits = new Edits(file);
    for (const statement of file.statements) {
      if (ts.isImportDeclaration(statement)) replaceMissing(statement, checker, edits);
      else guardStatement(statement, checker, edits);
    }
    return edits.apply();
  });
}

/** Replaces imported names that the module does not export, with which the sources could not be bundled. */
function replaceMissing(statement: ts.ImportDeclaration, checker: ts.TypeChecker, edits: Edits): void {
  const names = statement.importClause?.namedBindings;
  if (!names || !ts.isNamedImports(names)) return;
  for (const specifier of names.elements) {
    const symbol = checker.getSymbolAtLocation(specifier.name);
    const isMissing = symbol && !checker.getAliasedSymbol(symbol).declarations?.length;
    if (!isMissing || !checker.getSymbolAtLocation(statement.moduleSpecifier)) continue;
    edits.blank(specifier);
    edits.insert(0, `const ${specifier.name.text} = __svcHole;`);
  }
}

function guardStatement(statement: ts.Statement, checker: ts.TypeChecker, edits: Edits): void {
  if (ts.isVariableStatement(statement)) {
    for (const { initializer } of statement.declarationList.declarations) {
      if (initializer) guardValue(initializer, checker, edits);
    }
  } else if (ts.isExportAssignment(statement) || ts.isExpressionStatement(statement)) {
    guardValue(statement.expression, checker, edits);
  }
}

/** Guards an expression that may throw, and the values inside of it. */
function guardValue(expression: ts.Expression, checker: ts.TypeChecker, edits: Edits): void {
  if (mayThrow(expression, checker) && !awaits(expression)) edits.wrap(expression);
  visitValues(expression, (value) => guardValue(value, checker, edits));
}

function mayThrow(expression: ts.Expression, checker: ts.TypeChecker): boolean {
  if (ts.isIdentifier(expression)) return checker.getSymbolAtLocation(expression) === undefined;
  return (
    ts.isCallExpression(expression) ||
    ts.isPropertyAccessExpression(expression) ||
    ts.isElementAccessExpression(expression) ||
    ts.isNewExpression(expression)
  );
}

/** Visits the values inside an expression: arguments, members, items, and the result of an arrow function without a block. */
function visitValues(node: ts.Node, visit: (value: ts.Expression) => void): void {
  ts.forEachChild(node, (child) => {
    const isCallee = ts.isCallExpression(node) && child === node.expression;
    if (isValue(child, node) && !isCallee) visit(child);
    else if (!ts.isBlock(child) && !ts.isTypeNode(child) && !ts.isClassLike(child)) visitValues(child, visit);
  });
}

function isValue(child: ts.Node, parent: ts.Node): child is ts.Expression {
  if (ts.isCallExpression(parent))
    return parent.arguments.includes(child as ts.Expression) && !ts.isSpreadElement(child);
  if (ts.isPropertyAssignment(parent)) return child === parent.initializer;
  if (ts.isArrayLiteralExpression(parent)) return !ts.isSpreadElement(child);
  return ts.isArrowFunction(parent) && child === parent.body && !ts.isBlock(child);
}

/** Whether an expression contains `await` or `yield`, which cannot stand in a guard, because a guard is a function. */
function awaits(node: ts.Node): boolean {
  if (ts.isAwaitExpression(node) || ts.isYieldExpression(node)) return true;
  if (ts.isFunctionLike(node)) return false;
  return ts.forEachChild(node, (child) => awaits(child) || undefined) ?? false;
}

/** Changes of one file, applied together. */
class Edits {
  readonly #insertions: { position: number; text: string }[] = [];
  #text: string;

  constructor(private readonly file: ts.SourceFile) {
    this.#text = file.text;
  }

  insert(position: number, text: string): void {
    this.#insertions.push({ position, text });
  }

  /** Wraps a value in a guard. */
  wrap(node: ts.Node): void {
    this.insert(node.getStart(this.file), "__svcGuard(() => (");
    this.insert(node.getEnd(), "))");
  }

  /** Overwrites a node, and a comma after it, with blanks. */
  blank(node: ts.Node): void {
    const start = node.getStart(this.file);
    const end = node.end + (/^\s*,/.exec(this.#text.slice(node.end))?.[0].length ?? 0);
    const blanks = this.#text.slice(start, end).replace(/[^\n\r]/g, " ");
    this.#text = this.#text.slice(0, start) + blanks + this.#text.slice(end);
  }

  apply(): GuardedFile {
    const ordered = this.#insertions.toSorted((a, b) => a.position - b.position);
    let text = "";
    let position = 0;
    const insertions = ordered.map((insertion) => {
      text += this.#text.slice(position, insertion.position) + insertion.text;
      position = insertion.position;
      const { line, character } = this.file.getLineAndCharacterOfPosition(position);
      return { line: line + 1, column: character + 1, length: insertion.text.length };
    });
    return { file: this.file.fileName, text: text + this.#text.slice(position), insertions };
  }
}
