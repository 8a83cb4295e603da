import ts from "typescript";
import { list } from "../../model/snapshot/problem.js";
import type { Language } from "./language.js";
import { inWords, truncate, valueInWords } from "./words.js";

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
  const parameter = parameterOf(call, call.arguments.length, language);
  if (!parameter) return undefined;
  if (parameter.name === "property") {
    const { names, kind } = parameter;
    if (names.length === 0) return kind === undefined ? "name the property" : declareOne(kind);
    return `name the property${names.length > 1 ? ", one of" : ":"} ${list(names)}`;
  }
  const words = inWords(language.checker.typeToString(parameter.type));
  return words.includes("…") ? undefined : `give ${words}`;
}

/** What a call takes at a position; of `Names<F, NumberField>`, the names that fit, and in words what the property has to be. */
function parameterOf(call: ts.CallExpression, index: number, language: Language) {
  const parameter = language.checker.getResolvedSignature(call)?.getParameters()[index];
  if (!parameter) return undefined;
  const type = language.checker.getTypeOfSymbolAtLocation(parameter, call);
  const names = (type.isUnion() ? type.types : [type]).flatMap((one) => (one.isStringLiteral() ? [one.value] : []));
  const declared = parameter.valueDeclaration;
  const written = declared && ts.isParameter(declared) ? declared.type : undefined;
  const [, field] = (written && ts.isTypeReferenceNode(written) ? written.typeArguments : undefined) ?? [];
  return { name: parameter.name, type, names, kind: field && valueInWords(field.getText()) };
}

function declareOne(kind: string): string {
  return `declare a property that is ${kind}: the event has none`;
}

/** Better words for an argument of the wrong type, which begins with a node; undefined if the type says enough. */
export function argumentMistake(start: ts.Node, language: Language): { message?: string; fix: string } | undefined {
  let argument = start;
  while (argument.parent.getStart() === start.getStart() && !ts.isSourceFile(argument.parent))
    argument = argument.parent;
  return propertyMistake(argument, language) ?? returnMistake(argument, language);
}

/** The mistake of an argument that names no property that the method can read. */
function propertyMistake(argument: ts.Node, language: Language): { message: string; fix: string } | undefined {
  const call = argument.parent;
  if (!ts.isCallExpression(call)) return undefined;
  const parameter = parameterOf(call, call.arguments.indexOf(argument as ts.Expression), language);
  if (parameter?.kind === undefined) return undefined;
  const { names, kind } = parameter;
  const given = inWords(language.checker.typeToString(language.typeOf(argument)));
  const fix = names.length === 0 ? declareOne(kind) : `give ${names.length > 1 ? "one of " : ""}${list(names)}`;
  return { message: `expected a property that is ${kind}, but this is ${given}`, fix };
}

/** The mistake of a function whose block computes a condition and does not return it. */
function returnMistake(argument: ts.Node, language: Language): { fix: string } | undefined {
  if (!ts.isArrowFunction(argument) || !ts.isBlock(argument.body)) return undefined;
  const [statement, another] = argument.body.statements;
  if (!statement || another || !ts.isExpressionStatement(statement)) return undefined;
  if (!language.isCondition(language.typeOf(statement.expression))) return undefined;
  const head = argument.getText().slice(0, argument.body.getStart() - argument.getStart());
  return {
    fix: `write ${head}${truncate(statement.expression.getText())}, without braces, or "return" after the brace`,
  };
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
