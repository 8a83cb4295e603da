import ts from "typescript";
import { quote } from "../../model/snapshot/problem.js";
import { onlyNear } from "../../model/snapshot/suggestion.js";
import { type Edit, rangeOf } from "../diagnostics/diagnostic.js";
import type { Language } from "./language.js";
import { methodMeant, wayAround } from "./other-names.js";
import { typeName } from "./words.js";

/** A fix, and the edits for it if nothing else can be meant. */
export interface Correction {
  fix: string;
  edits?: Edit[];
}

const SCOPES = ["within", "since"];

const ONE_SCOPE = "write one of the two: a condition may have one .within or one .since";

/** Whether a window or a start is given to what has one already. */
function isSecondScope({ name, expression }: ts.PropertyAccessExpression, members: readonly string[]): boolean {
  // A sequence, which still has the other one, takes both.
  if (!SCOPES.includes(name.text) || SCOPES.some((scope) => members.includes(scope))) return false;
  for (
    let node = expression;
    ts.isCallExpression(node) || ts.isPropertyAccessExpression(node);
    node = node.expression
  ) {
    if (ts.isPropertyAccessExpression(node) && SCOPES.includes(node.name.text)) return true;
  }
  return false;
}

/** The correction of an unknown member of a value of the language; undefined if the checker's own message is as good. */
export function memberCorrection(name: ts.Identifier, language: Language, directory: string): Correction | undefined {
  if (!ts.isPropertyAccessExpression(name.parent) || name.parent.name !== name) return undefined;
  const type = language.typeOf(name.parent.expression);
  const members = language.isOwn(type) ? language.methodsOf(type) : [];
  // Only the language's own names are certainly spelled correctly: the author's declaration may be the mistake.
  if (members.length === 0 && !language.isCondition(type)) return undefined;
  const { text } = name;
  const rename = (to: string): Edit[] => [
    { ...rangeOf(name.getSourceFile(), name.getStart(), name.end, directory), text: to },
  ];

  const method = methodMeant(text, (one) => members.includes(one));
  if (method !== undefined) {
    const call = name.parent.parent;
    const fits =
      ts.isCallExpression(call) &&
      language.accepts(
        type,
        method,
        call.arguments.map((one) => language.typeOf(one)),
      );
    return { fix: `write ${quote(method)}`, ...(fits ? { edits: rename(method) } : {}) };
  }
  if (isSecondScope(name.parent, members)) return { fix: ONE_SCOPE };
  const way = wayAround(text, typeName(language.checker.typeToString(type)));
  if (way !== undefined) return { fix: way };
  const near = onlyNear(text, members);
  return near === undefined ? undefined : { fix: `write ${quote(near)}`, edits: rename(near) };
}
