/** Reads the syntax at a place: the call there, the names that it concerns, and the argument that a path in the model leads to. */
import ts from "typescript";
import { type Location, type Range, rangeOf } from "../diagnostics/diagnostic.js";

/** One step of a path: `.member`, `["a member"]` or `[3]`. */
const STEP = /([A-Za-z_$][A-Za-z0-9_$]*)|\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]/g;

/**
 * The value at the end of a path, if it is written out in the call: for `segments[1]` the second item of the list `segments`. The call itself
 * may be the value of a member; then the value may also stand beside it, in the same object.
 */
function memberOfCall(call: ts.CallExpression, path: string): ts.Expression | undefined {
  const steps = [...path.matchAll(STEP)].map(([, name, quoted, index]) => name ?? quoted ?? Number(index));
  for (let from = 0; from < steps.length; from += 1) {
    for (const argument of call.arguments) {
      // A number here is the position of the part itself, not of a member of the argument.
      if (typeof steps[from] === "number" && ts.isObjectLiteralExpression(argument)) continue;
      const found = valueOf(argument, steps.slice(from));
      if (found) return found;
    }
  }
  const { parent } = call;
  const [last] = steps.slice(-1);
  const holder = ts.isArrowFunction(parent) ? parent.parent : parent;
  if (last === undefined || !ts.isPropertyAssignment(holder)) return undefined;
  return valueOf(holder.parent, [last]);
}

/** The value at the end of a path that begins in an object or a list. */
function valueOf(node: ts.Node, steps: readonly (string | number)[]): ts.Expression | undefined {
  const [step, ...rest] = steps;
  const member = step === undefined ? undefined : memberOf(node, step);
  if (member === undefined || rest.length === 0) return member;
  return valueOf(member, rest);
}

function memberOf(node: ts.Node, step: string | number): ts.Expression | undefined {
  if (ts.isArrayLiteralExpression(node)) return typeof step === "number" ? itemAt(node.elements, step) : undefined;
  if (!ts.isObjectLiteralExpression(node)) return undefined;
  // Parts that authors write as members of an object, such as the components of the health, are a list in the snapshot.
  if (typeof step === "number") return initializerOf(itemAt(node.properties, step));
  return initializerOf(
    node.properties.find(({ name }) => name && !ts.isComputedPropertyName(name) && name.text === step),
  );
}

function initializerOf(property: ts.ObjectLiteralElementLike | undefined): ts.Expression | undefined {
  if (property && ts.isPropertyAssignment(property)) return property.initializer;
  return property && ts.isShorthandPropertyAssignment(property) ? property.name : undefined;
}

/** An item of a list; undefined if a spread before it makes its position unknown. */
function itemAt<Item extends ts.Node>(items: readonly Item[], index: number): Item | undefined {
  const isSpread = (item: ts.Node) => ts.isSpreadElement(item) || ts.isSpreadAssignment(item);
  return items.slice(0, index + 1).some(isSpread) ? undefined : items[index];
}

/** A problem of the model whose place is wanted: the call that made the part, and the names in the message, in their order. */
export interface PlaceRequest {
  location: Location;
  subjects: string[];
  /** The path of the wrong part in the model, if known. */
  path?: string | undefined;
}

/** A place with its end, and the line of the top-level statement that contains it. */
export interface SourcePlace {
  range: Range;
  statement: number;
  /** Whether the module exports the value of the statement; undefined if the place is inside of a function. */
  isExported: boolean | undefined;
}

/** The place of a problem: the name or value that it concerns, if the call contains it, otherwise the call. */
export function sourcePlaceOf(
  file: ts.SourceFile,
  { location, subjects, path }: PlaceRequest,
  directory: string,
): SourcePlace | undefined {
  const lines = file.getLineStarts();
  if (location.line > lines.length) return undefined;
  const position = lines[location.line - 1]! + location.column - 1;
  const call = callAt(file, position);
  if (!call) return undefined;
  const statement = { statement: statementLine(file, position), isExported: isExported(file, call) };
  const member = path === undefined ? undefined : memberOfCall(call, path);
  const marked = member ?? subjects.map((subject) => findNamed(call, subject)).find((named) => named !== undefined);
  if (marked) return { range: rangeOf(file, marked.getStart(file), marked.end, directory), ...statement };
  const name = nameOfCallee(call.expression);
  const start = name.getStart(file);
  const range = rangeOf(file, start, call.end, directory);
  return { range: range.endLine === range.line ? range : rangeOf(file, start, name.end, directory), ...statement };
}

/** The line, from 1, at which the top-level statement that contains a position begins. */
export function statementLine(file: ts.SourceFile, position: number): number {
  return file.getLineAndCharacterOfPosition(statementAt(file, position)?.getStart(file) ?? position).line + 1;
}

function isExported(file: ts.SourceFile, call: ts.CallExpression): boolean | undefined {
  let statement: ts.Node = call;
  for (; !ts.isSourceFile(statement.parent); statement = statement.parent) {
    if (ts.isFunctionLike(statement)) return undefined;
  }
  if (!ts.isVariableStatement(statement)) return /^export\b/.test(statement.getText(file));
  const names = statement.declarationList.declarations.map(({ name }) => name.getText(file));
  const exports = file.statements.filter((other) => ts.isExportDeclaration(other) || ts.isExportAssignment(other));
  const texts = exports.map((other) => other.getText(file));
  return (
    /^export\b/.test(statement.getText(file)) ||
    names.some((name) => texts.some((text) => text.split(/[^\w$]+/).includes(name)))
  );
}

function statementAt(file: ts.SourceFile, position: number): ts.Statement | undefined {
  return file.statements.find(({ pos, end }) => pos <= position && position < end);
}

/** The names that a place concerns: the text there, and the members that contain it, up to the nearest call. */
export function namesAt(file: ts.SourceFile, start: number, end: number): string[] {
  const names = [unquoted(file.text.slice(start, end))];
  let node = nodeAt(file, start);
  for (; !ts.isSourceFile(node) && !ts.isCallExpression(node); node = node.parent) {
    if (ts.isPropertyAssignment(node)) names.push(unquoted(node.name.getText(file)));
  }
  return names;
}

/** The place of a member's value, if its name is at the position. */
export function valueAt(file: ts.SourceFile, position: number, directory: string): Range | undefined {
  const name = nodeAt(file, position);
  // A position in a comment, such as a reference to a file, has no node of its own.
  if (ts.isSourceFile(name) || !ts.isPropertyAssignment(name.parent) || name.parent.name !== name) return undefined;
  const { initializer } = name.parent;
  return rangeOf(file, initializer.getStart(file), initializer.end, directory);
}

/** The innermost node at a position. */
export function nodeAt(file: ts.SourceFile, position: number): ts.Node {
  const within = (node: ts.Node): ts.Node =>
    ts.forEachChild(node, (child) =>
      child.getStart(file) <= position && position < child.end ? within(child) : undefined,
    ) ?? node;
  return within(file);
}

/** The call whose function name is at the position, which is the place that stack traces give. */
function callAt(file: ts.SourceFile, position: number): ts.CallExpression | undefined {
  for (let node = nodeAt(file, position); !ts.isSourceFile(node); node = node.parent) {
    if (!ts.isCallExpression(node)) continue;
    const { expression } = node;
    const name = nameOfCallee(expression);
    // The source map may give the dot before the name, or the end of the call before the dot.
    const isChained = ts.isPropertyAccessExpression(expression) && ts.isCallExpression(expression.expression);
    const start = isChained ? expression.expression.end : name.getStart(file);
    if (start - 1 <= position && position < name.end) return node;
  }
  return undefined;
}

function nameOfCallee(callee: ts.Expression): ts.Node {
  return ts.isPropertyAccessExpression(callee) ? callee.name : callee;
}

/** Finds the subject in the arguments of a call, as a text, number or member name: the outermost one, which declares it, and the first of these. */
function findNamed(call: ts.CallExpression, subject: string): ts.Node | undefined {
  const isNamed = (node: ts.Node): boolean => {
    const isName = ts.isIdentifier(node) && ts.isPropertyAssignment(node.parent) && node.parent.name === node;
    return (isName || ts.isStringLiteralLike(node) || ts.isNumericLiteral(node)) && node.text === subject;
  };
  for (let level: ts.Node[] = [...call.arguments]; level.length > 0; level = level.flatMap(childrenOf)) {
    const found = level.find(isNamed);
    if (found) return found;
  }
  return undefined;
}

function childrenOf(node: ts.Node): ts.Node[] {
  const children: ts.Node[] = [];
  ts.forEachChild(node, (child) => void children.push(child));
  return children;
}

function unquoted(text: string): string {
  return text.replace(/^(["'`])(.*)\1$/s, "$2");
}
