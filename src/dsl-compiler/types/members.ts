/** Finds the part of a call's arguments that a path in the model leads to. */
import ts from "typescript";

/** One step of a path: `.member`, `["a member"]` or `[3]`. */
const STEP = /([A-Za-z_$][A-Za-z0-9_$]*)|\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]/g;

/**
 * The value that the end of a path leads to, as far as it is written out in the call: of `segments[1]` the second in the list that is
 * `segments` there. What a call stands for may also be a value beside the member, in the same object.
 */
export function memberOfCall(call: ts.CallExpression, path: string): ts.Expression | undefined {
  const steps = [...path.matchAll(STEP)].map(([, name, quoted, index]) => name ?? quoted ?? Number(index));
  for (let from = 0; from < steps.length; from += 1) {
    for (const argument of call.arguments) {
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

/** The value at the end of steps that begin in an object or a list. */
function valueOf(node: ts.Node, steps: readonly (string | number)[]): ts.Expression | undefined {
  const [step, ...rest] = steps;
  const member = step === undefined ? undefined : memberOf(node, step);
  if (member === undefined || rest.length === 0) return member;
  return valueOf(member, rest);
}

function memberOf(node: ts.Node, step: string | number): ts.Expression | undefined {
  if (typeof step === "number") return ts.isArrayLiteralExpression(node) ? written(node.elements, step) : undefined;
  if (!ts.isObjectLiteralExpression(node)) return undefined;
  for (const property of node.properties) {
    if (!property.name || ts.isComputedPropertyName(property.name) || property.name.text !== step) continue;
    if (ts.isPropertyAssignment(property)) return property.initializer;
    return ts.isShorthandPropertyAssignment(property) ? property.name : undefined;
  }
  return undefined;
}

/** An item of a list; what a list is spread from has items that are not written here. */
function written(items: readonly ts.Expression[], index: number): ts.Expression | undefined {
  return items.slice(0, index + 1).some(ts.isSpreadElement) ? undefined : items[index];
}
