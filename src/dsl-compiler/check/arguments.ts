import ts from "typescript";
import { list } from "../../model/snapshot/problem.js";
import type { Language } from "./language.js";
import { inWords } from "./words.js";

const DURATION = /^\d+[mhdw]$/;

/**
 * The fix for a call with too few or too many arguments; undefined if only their number is known to be wrong.
 * @param place the marked node: the first superfluous argument, or the name of the called function, which alone ends at `end`
 */
export function argumentsFix(place: ts.Node, end: number, language: Language): string | undefined {
  for (let node = place; !ts.isSourceFile(node) && !ts.isNewExpression(node.parent); node = node.parent) {
    const { parent } = node;
    if (!ts.isCallExpression(parent)) continue;
    if (parent.expression !== node)
      return superfluous(parent, parent.arguments.indexOf(node as ts.Expression), language);
    if (place.end === end) return missing(parent, language);
  }
  return undefined;
}

function superfluous(call: ts.CallExpression, index: number, language: Language): string | undefined {
  const argument = call.arguments[index];
  if (!argument) return undefined;
  const length = ts.isStringLiteralLike(argument) && DURATION.test(argument.text) ? argument.getText() : undefined;
  const name = ts.isPropertyAccessExpression(call.expression) ? call.expression.name : call.expression;
  if (name.getText() === "inState") {
    const asked = `inState().atLeast(${length ?? '"60d"'})`;
    return length === undefined
      ? `write ${asked}; to ask which state it is, write .is("…") of the lifecycle`
      : `write ${asked}`;
  }
  const hasWithin = language.methodsOf(language.typeOf(call)).includes("within");
  if (length === undefined || !hasWithin) return "remove the superfluous argument";
  const kept = call.arguments.slice(0, index).map((one) => one.getText());
  return `write .${name.getText()}(${kept.join(", ")}).within(${length})`;
}

function missing(call: ts.CallExpression, language: Language): string | undefined {
  const parameter = language.checker.getResolvedSignature(call)?.getParameters()[call.arguments.length];
  if (!parameter) return undefined;
  const type = language.checker.getTypeOfSymbolAtLocation(parameter, call);
  if (parameter.name === "property") {
    const names = (type.isUnion() ? type.types : [type]).filter((one) => one.isStringLiteral());
    if (names.length === 0) return "name the property";
    return `name the property${names.length > 1 ? ", one of" : ":"} ${list(names.map(({ value }) => value))}`;
  }
  const words = inWords(language.checker.typeToString(type));
  return words.includes("…") ? undefined : `give ${words}`;
}

/** Rewrites an object of properties as the function that `where` takes; undefined for another object. */
export function filterOf(name: ts.Node, language: Language): string | undefined {
  const object = name.parent.parent;
  if (!ts.isObjectLiteralExpression(object) || !ts.isCallExpression(object.parent)) return undefined;
  const { expression } = object.parent;
  if (!ts.isPropertyAccessExpression(expression) || expression.name.text !== "where") return undefined;
  if (!language.isOwn(language.typeOf(expression.expression))) return undefined;
  const asked = object.properties.map((property) => {
    if (!ts.isPropertyAssignment(property) || !ts.isIdentifier(property.name)) return "…";
    const { initializer } = property;
    return `p.${property.name.text}.${ts.isNumericLiteral(initializer) ? "equals" : "is"}(${initializer.getText()})`;
  });
  return `give a function: (p) => ${asked.length === 1 ? asked[0]! : `all(${asked.join(", ")})`}`;
}
