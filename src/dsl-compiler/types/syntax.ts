/** What the syntax tells of a place: which call stands there, and which names it is about. */
import ts from "typescript";

import type { Location, Range } from "../diagnostic.js";
import { rangeOf } from "./range.js";

/** Where a problem of the model is: the call that made the part, and the names that the message speaks of, the first one first. */
export interface PlaceRequest {
  location: Location;
  subjects: string[];
}

/** A place with its end, and the line of the statement at the top of the module that it belongs to. */
export interface Place {
  range: Range;
  statement: number;
}

/** The text that a problem is about: the name or the value that it speaks of where the call holds it, otherwise the call. */
export function placeOf(
  file: ts.SourceFile,
  { location, subjects }: PlaceRequest,
  directory: string,
): Place | undefined {
  const lines = file.getLineStarts();
  if (location.line > lines.length) return undefined;
  const position = lines[location.line - 1]! + location.column - 1;
  const statement = statementLine(file, position);
  const call = callAt(file, position);
  if (!call) return undefined;
  for (const subject of subjects) {
    const named = findNamed(call, subject);
    if (named) return { range: rangeOf(file, named.getStart(file), named.end, directory), statement };
  }
  const name = nameOfCallee(call.expression);
  const start = name.getStart(file);
  const range = rangeOf(file, start, call.end, directory);
  return { range: range.endLine === range.line ? range : rangeOf(file, start, name.end, directory), statement };
}

/** The line, from 1, at which the statement of a module that holds a position begins. */
export function statementLine(file: ts.SourceFile, position: number): number {
  const statement = file.statements.find(({ pos, end }) => pos <= position && position < end);
  return file.getLineAndCharacterOfPosition(statement?.getStart(file) ?? position).line + 1;
}

/** The names that a place is about: the text there, and the members that hold it, up to the nearest call. */
export function namesAt(file: ts.SourceFile, start: number, end: number): string[] {
  const names = [unquoted(file.text.slice(start, end))];
  let node = nodeAt(file, start);
  for (; !ts.isSourceFile(node) && !ts.isCallExpression(node); node = node.parent) {
    if (ts.isPropertyAssignment(node)) names.push(unquoted(node.name.getText(file)));
  }
  return names;
}

/** The innermost node that holds a position. */
function nodeAt(file: ts.SourceFile, position: number): ts.Node {
  const within = (node: ts.Node): ts.Node =>
    ts.forEachChild(node, (child) =>
      child.getStart(file) <= position && position < child.end ? within(child) : undefined,
    ) ?? node;
  return within(file);
}

/** The call whose function is named at a position: stack traces give the place of that name. */
function callAt(file: ts.SourceFile, position: number): ts.CallExpression | undefined {
  for (let node = nodeAt(file, position); !ts.isSourceFile(node); node = node.parent) {
    if (!ts.isCallExpression(node)) continue;
    const name = nameOfCallee(node.expression);
    // The source map may give the dot before the name.
    if (name.getStart(file) - 1 <= position && position < name.end) return node;
  }
  return undefined;
}

function nameOfCallee(callee: ts.Expression): ts.Node {
  return ts.isPropertyAccessExpression(callee) ? callee.name : callee;
}

/** The first text, number or member name in the arguments of a call that is the subject. */
function findNamed(call: ts.CallExpression, subject: string): ts.Node | undefined {
  const visit = (node: ts.Node): ts.Node | undefined => {
    const isName = ts.isIdentifier(node) && (ts.isPropertyAssignment(node.parent) ? node.parent.name === node : false);
    if ((isName || ts.isStringLiteralLike(node) || ts.isNumericLiteral(node)) && node.text === subject) return node;
    return ts.forEachChild(node, visit);
  };
  for (const argument of call.arguments) {
    const found = visit(argument);
    if (found) return found;
  }
  return undefined;
}

function unquoted(text: string): string {
  return text.replace(/^(["'`])(.*)\1$/s, "$2");
}
