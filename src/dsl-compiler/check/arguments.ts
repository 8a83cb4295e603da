import ts from "typescript";
import { list, quote } from "../../model/snapshot/problem.js";
import type { Language } from "./language.js";
import { counterpartsOf, keyMeant, COMPARISONS } from "./other-names.js";
import { inWords, truncate, valueInWords } from "./words.js";

const DURATION = /^\d+[mhdw]$/;

/** The most characters of the author's text that a fix shows. */
export const TEXT_SHOWN = 60;

/** The author's text, if it is short; otherwise `…`. */
export function shortText(node: ts.Node, longest = TEXT_SHOWN): string {
  const text = node.getText();
  return text.length > longest || text.includes("\n") ? "…" : text;
}

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
  if (name.getText() === "scale" && call.arguments.length === 3) {
    const [of, from, to] = call.arguments.map((one) => shortText(one));
    return `write scale(${of}, { from: ${from}, to: ${to} })`;
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
    const { names, kind, isGeneric } = parameter;
    if (names.length === 0) return kind === undefined ? "name the property" : isGeneric ? GENERIC : declareOne(kind);
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
  // Without any name that fits, a known event has `never` here.
  const isKnown = (type.flags & ts.TypeFlags.Never) !== 0 && !isOfAnyEvent(call, language);
  const isGeneric = names.length === 0 && !isKnown;
  return { name: parameter.name, type, names, isGeneric, kind: field && valueInWords(field.getText()) };
}

/** Whether a method is called on an `EventModel` without type parameter, whose properties can have any name. */
function isOfAnyEvent({ expression }: ts.CallExpression, { checker }: Language): boolean {
  if (!ts.isPropertyAccessExpression(expression)) return false;
  const type = checker.getTypeAtLocation(expression.expression);
  const isReference = ((type as ts.ObjectType).objectFlags & ts.ObjectFlags.Reference) !== 0;
  const [fields] = isReference ? checker.getTypeArguments(type as ts.TypeReference) : [];
  return fields !== undefined && checker.getIndexInfoOfType(fields, ts.IndexKind.String) !== undefined;
}

/** In a function of any event, TypeScript cannot tell which of its properties are numbers, whatever its type parameter says of them. */
const GENERIC =
  'let the function take the number instead, (amount: Quantity) => …, and call it with order.sum("amount"), where the event is known';

function declareOne(kind: string): string {
  return `declare a property that is ${kind}: the event has none`;
}

/** Better words for an argument of the wrong type, which begins with a node; undefined if the type says enough. */
export function argumentMistake(start: ts.Node, language: Language): { message?: string; fix: string } | undefined {
  const argument = markedValue(start);
  return (
    propertyMistake(argument, language) ?? returnMistake(argument, language) ?? comparisonMistake(argument, language)
  );
}

/** The value that an error is about: that of a member whose name is marked, otherwise the whole of what begins there. */
function markedValue(start: ts.Node): ts.Node {
  if (ts.isPropertyAssignment(start.parent) && start.parent.name === start) return start.parent.initializer;
  let value = start;
  while (value.parent.getStart() === start.getStart() && !ts.isSourceFile(value.parent)) value = value.parent;
  return value;
}

/** The method that asks whether something holds where its call says what happens, or the other way round; undefined if none fits there. */
export function counterpartFix(start: ts.Node, language: Language): string | undefined {
  const call = markedValue(start);
  if (!ts.isCallExpression(call) || !ts.isPropertyAccessExpression(call.expression)) return undefined;
  const { expression: subject, name } = call.expression;
  const { checker } = language;
  const expected = checker.getContextualType(call);
  const meant = counterpartsOf(name.text).find((other) => {
    const symbol = checker.getPropertyOfType(language.typeOf(subject), other.replace(/\(.*/, ""));
    const signatures = symbol ? checker.getTypeOfSymbol(symbol).getCallSignatures() : [];
    const given = other.includes("(") ? 1 : call.arguments.length;
    return signatures.some(
      (one) => expected && checker.isTypeAssignableTo(one.getReturnType(), expected) && one.parameters.length === given,
    );
  });
  if (meant === undefined) return undefined;
  const given = call.arguments.map((one) => one.getText()).join(", ");
  return `write ${shortText(subject)}.${meant.includes("(") ? meant : `${meant}(${given})`}`;
}

/** The present time of JavaScript by itself, and any instant of JavaScript. */
const NOW = /^(?:Date\.now\(\)|new Date\(\)(?:\.\w+\(\))?)$/;
const INSTANT = /\bDate\b/;

/** What JavaScript computes anew each time that the model is compiled. */
export const isVolatile = (value: ts.Node) =>
  /\bDate\b|\bMath\.random\b|\bprocess\b|\bperformance\b/.test(value.getText());

/** The fix for a comparison with another value of the customer's, or with the present time; undefined for a comparison with anything else. */
export function comparisonFix(
  subject: ts.Expression,
  method: string,
  value: ts.Expression,
  language: Language,
): string | undefined {
  const methods = language.methodsOf(language.typeOf(subject));
  const asked = shortText(subject);
  if (INSTANT.test(value.getText()) && methods.includes("before")) {
    const isNow = NOW.test(value.getText());
    const hasPassed = methods.includes("passed");
    if (isNow && hasPassed && /before|after/i.test(method))
      return `write ${/before/i.test(method) ? `${asked}.passed()` : `not(${asked}.passed()), which also holds without a date`}`;
    const present = hasPassed ? ', or .within("30d") or .passed() for the present' : "";
    return `write .${method}("2026-01-31"), with a fixed date${present}`;
  }
  const other = ownIn(value, language);
  if (!other) return undefined;
  const words = inWords(language.checker.typeToString(language.typeOf(other)));
  if (!methods.includes("minus")) return `write .${method}(…) with a value that is known now: ${words} is not`;
  return other === value
    ? `write ${asked}.minus(${shortText(other)}).${method}(0), or .per(…) for a ratio`
    : `write ${asked}.per(${shortText(other)}).${method}(…), or .minus(…) for a difference`;
}

/** The value of the language that an expression is or computes with. */
function ownIn(node: ts.Expression, language: Language): ts.Expression | undefined {
  if (language.isOwn(language.typeOf(node))) return node;
  if (ts.isParenthesizedExpression(node)) return ownIn(node.expression, language);
  return ts.isBinaryExpression(node) ? (ownIn(node.left, language) ?? ownIn(node.right, language)) : undefined;
}

const COMPARING = new Set(Object.values(COMPARISONS).flat());

/** The mistake of comparing with what is not known when the model is compiled. */
function comparisonMistake(argument: ts.Node, language: Language): { fix: string } | undefined {
  const call = argument.parent;
  if (!ts.isCallExpression(call) || !ts.isPropertyAccessExpression(call.expression)) return undefined;
  const { expression: subject, name } = call.expression;
  if (!COMPARING.has(name.text) || !language.isOwn(language.typeOf(subject))) return undefined;
  const fix = comparisonFix(subject, name.text, argument as ts.Expression, language);
  return fix === undefined ? undefined : { fix };
}

/** The mistake of an argument that names no property that the method can read. */
function propertyMistake(argument: ts.Node, language: Language): { message: string; fix: string } | undefined {
  const call = argument.parent;
  if (!ts.isCallExpression(call)) return undefined;
  const parameter = parameterOf(call, call.arguments.indexOf(argument as ts.Expression), language);
  if (parameter?.kind === undefined) return undefined;
  const { names, kind, isGeneric } = parameter;
  if (isGeneric)
    return { message: "which properties the event has is not known in a function of any event", fix: GENERIC };
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

/** The fix for an unknown member of an object: the one that is meant, or those that there are; undefined if there are none. */
export function keyFix(name: ts.Node, language: Language): string | undefined {
  const object = name.parent.parent;
  if (!ts.isObjectLiteralExpression(object)) return undefined;
  const type = language.checker.getContextualType(object);
  const types = type?.isUnion() ? type.types : type ? [type] : [];
  const members = types.flatMap((one) => one.getProperties().map((member) => member.name));
  const known = new Set(members.filter((member) => !member.startsWith("__@")));
  const key = name.getText();
  const value = ts.isPropertyAssignment(name.parent) ? name.parent.initializer : name;
  if (known.has("to") && language.isCondition(language.typeOf(value))) return `write to: { ${key}: … }`;
  for (const member of object.properties) if (member.name) known.delete(member.name.getText());
  const meant = keyMeant(key);
  if (meant !== undefined && known.has(meant)) return `write ${quote(meant)}`;
  return known.size > 0 ? `use one of ${list(known)}` : undefined;
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
