/**
 * Finds JavaScript operators and statements where the language has methods. JavaScript computes them once, when the model is compiled:
 * `a && b` is `b`, and `!a` is false, for every customer. The type checker refuses only some of them, so they are found in the syntax.
 */
import ts from "typescript";
import { type Diagnostic, diagnostic, type Edit, rangeOf } from "../diagnostics/diagnostic.js";
import { comparisonFix, isVolatile, shortText, TEXT_SHOWN } from "./arguments.js";
import type { Language } from "./language.js";
import { COMPARISONS, type Operator } from "./other-names.js";
import { inWords } from "./words.js";

export interface OperatorFound {
  node: ts.Node;
  diagnostic: Diagnostic;
}

/** The equivalent operator when the sides are swapped. */
const MIRRORED: Readonly<Partial<Record<Operator, Operator>>> = { ">": "<", ">=": "<=", "<": ">", "<=": ">=" };

/** The methods, of a value or of a list with it, that make a text of it. */
const TEXT_METHODS = new Set(["toString", "toLocaleString", "join"]);

/** The members of values of the language that are their names. */
const NAMES = ["eventName", "id"];

const ARITHMETIC = new Set(["+", "-", "*", "/", "%", "**"]);

/** Finds the operators in a file that should be methods. */
export function findOperators(file: ts.SourceFile, language: Language, directory: string): OperatorFound[] {
  return new OperatorFinder(file, language, directory).find();
}

/** The edits of a certain correction. Between operands only the operator may stand, because a comment there would be lost. */
interface Certain {
  operator: string;
  between: readonly { from: number; to: number }[];
  edits: Edit[];
}

/** A comparison: the value of the language, what it is compared with, and the equivalent method, if there is one. */
interface Question {
  subject: ts.Expression;
  value: ts.Expression;
  method: string | undefined;
  isMirrored: boolean;
  isEquality: boolean;
}

class OperatorFinder {
  readonly #found: OperatorFound[] = [];

  constructor(
    private readonly file: ts.SourceFile,
    private readonly language: Language,
    private readonly directory: string,
  ) {}

  find(): OperatorFound[] {
    this.#visit(this.file);
    return this.#found;
  }

  #visit(node: ts.Node): void {
    if (ts.isBinaryExpression(node)) this.#binary(node);
    else if (ts.isPrefixUnaryExpression(node)) this.#negation(node);
    else if (ts.isConditionalExpression(node)) this.#choice("?", node.condition, node.questionToken);
    else if (ts.isIfStatement(node)) this.#choice("if", node.expression);
    else if (ts.isWhileStatement(node) || ts.isDoStatement(node)) this.#choice("while", node.expression);
    else if (ts.isTemplateSpan(node)) this.#insertion(node);
    else if (ts.isCallExpression(node)) this.#conversion(node);
    ts.forEachChild(node, (child) => this.#visit(child));
  }

  #binary(node: ts.BinaryExpression): void {
    const operator = node.operatorToken.getText(this.file);
    if (Object.hasOwn(COMPARISONS, operator)) this.#comparison(node, operator as Operator);
    else if (isLogical(node)) this.#logical(node, operator);
    else if (ARITHMETIC.has(operator)) this.#arithmetic(node, operator);
  }

  #comparison(node: ts.BinaryExpression, operator: Operator): void {
    const question = this.#questionOf(node);
    if (!question) return;
    const { subject, value, method, isMirrored } = question;
    const type = this.language.typeOf(subject);
    // Authors' own functions may check whether two events, or two traits, are the same.
    if (question.isEquality && (method === undefined || this.language.isOwn(this.language.typeOf(value)))) return;
    const message = `there is no "${operator}" on ${this.#inWords(subject)}`;
    if (method === undefined) {
      const methods = this.language.methodsOf(type).map((name) => `.${name}(…)`);
      const fix = methods.length > 0 ? `write one of ${methods.slice(0, 8).join(", ")}` : "write a condition";
      this.#report(node, message, fix);
      return;
    }
    const isAbsence = method === "exists" || method === "missing";
    const call = isAbsence ? `.${method}()` : `.${method}(${shortText(value)})`;
    const inWay = comparisonFix(subject, method, value, this.language);
    if (inWay !== undefined) {
      this.#report(node, message, inWay);
      return;
    }
    const isCertain =
      ts.isLeftHandSideExpression(subject) &&
      !isVolatile(value) &&
      (isAbsence || this.language.accepts(type, method, [this.language.typeOf(value)]));
    const between = [{ from: node.left.end, to: node.right.getStart(this.file) }];
    const certain = isCertain && { operator, between, edits: this.#comparisonEdits(node, question, isAbsence) };
    this.#report(node, message, `write ${isMirrored ? shortText(subject) : ""}${call}`, certain);
  }

  #comparisonEdits(node: ts.BinaryExpression, question: Question, isAbsence: boolean): Edit[] {
    const { subject, value, method = "", isMirrored } = question;
    if (isMirrored) {
      const given = isAbsence ? "" : value.getText(this.file);
      return [this.#edit(node.getStart(this.file), node.end, `${subject.getText(this.file)}.${method}(${given})`)];
    }
    if (isAbsence) return [this.#edit(node.left.end, node.end, `.${method}()`)];
    return [
      this.#edit(node.left.end, node.right.getStart(this.file), `.${method}(`),
      this.#edit(node.end, node.end, ")"),
    ];
  }

  #questionOf(node: ts.BinaryExpression): Question | undefined {
    const operator = node.operatorToken.getText(this.file);
    if (!Object.hasOwn(COMPARISONS, operator)) return undefined;
    const mirrored = MIRRORED[operator as Operator] ?? (operator as Operator);
    for (const isMirrored of [false, true]) {
      const [subject, value] = isMirrored ? [node.right, node.left] : [node.left, node.right];
      const type = this.language.typeOf(subject);
      if (!this.language.isOwn(type)) continue;
      const methods = COMPARISONS[isMirrored ? mirrored : (operator as Operator)];
      const candidates = isNothing(value) ? [operator.startsWith("!") ? "exists" : "missing"] : methods;
      const has = this.language.methodsOf(type);
      const method = candidates.find((name) => has.includes(name));
      return { subject, value, method, isMirrored, isEquality: operator.includes("=") && !/[<>]/.test(operator) };
    }
    return undefined;
  }

  #logical(node: ts.BinaryExpression, operator: string): void {
    // A chain of one operator is reported once, at its outermost node.
    if (ts.isBinaryExpression(node.parent) && node.parent.operatorToken.kind === node.operatorToken.kind) return;
    const parts = operandsOf(node, node.operatorToken.kind);
    // The last operand may be a condition: an ordinary value before it may choose it, as in `flag && condition`.
    if (!parts.slice(0, -1).some((part) => this.#isCondition(part) || this.#isOwn(part))) return;
    const name = operator === "&&" ? "all" : "any";
    const isCertain = parts.every((part) => this.#isCondition(part)) && this.language.isFree(name, node);
    const between = parts.slice(1).map((part, index) => ({ from: parts[index]!.end, to: part.getStart(this.file) }));
    const edits = [
      this.#edit(parts[0]!.getStart(this.file), parts[0]!.getStart(this.file), `${name}(`),
      ...between.map(({ from, to }) => {
        const [lineBreak = " "] = /\r?\n[^]*$/.exec(this.file.text.slice(from, to).replace(operator, "")) ?? [];
        return this.#edit(from, to, `,${lineBreak}`);
      }),
      this.#edit(node.end, node.end, ")"),
    ];
    const shown = parts.map((part) => this.#asked(part, TEXT_SHOWN / parts.length));
    const message = `"${operator}" does not combine conditions: JavaScript computes it once, when the model is compiled`;
    this.#report(node, message, `write ${name}(${shown.join(", ")})`, isCertain && { operator, between, edits });
  }

  #negation(node: ts.PrefixUnaryExpression): void {
    if (node.operator !== ts.SyntaxKind.ExclamationToken) return;
    if (!this.#isCondition(node.operand) && !this.#isOwn(node.operand)) return;
    const isCertain = this.#isCondition(node.operand) && this.language.isFree("not", node);
    const start = node.getStart(this.file);
    const inside = node.operand.getStart(this.file);
    const edits = ts.isParenthesizedExpression(node.operand)
      ? [this.#edit(start, inside, "not")]
      : [this.#edit(start, inside, "not("), this.#edit(node.end, node.end, ")")];
    const message = `"!" does not negate a condition: JavaScript computes it once, when the model is compiled`;
    const shown = this.#asked(unwrapped(node.operand));
    const between = [{ from: start, to: inside }];
    this.#report(node, message, `write not(${shown})`, isCertain && { operator: "!", between, edits });
  }

  #choice(word: "?" | "if" | "while", condition: ts.Expression, marked: ts.Node = condition): void {
    if (!this.#isCondition(condition) && !this.#isOwn(condition)) return;
    const message = `"${word}" does not choose by a condition: JavaScript computes it once, when the model is compiled`;
    const shown = this.#asked(condition, 30);
    const needless = this.#isMember(condition)
      ? "; if it only tests whether there is one, remove the test: there is"
      : "";
    this.#report(marked, message, `write any(all(${shown}, …), all(not(${shown}), …))${needless}`);
  }

  /** A value in a template literal. What a tag does with it is the author's business. */
  #insertion({ expression, parent }: ts.TemplateSpan): void {
    if (ts.isTaggedTemplateExpression(parent.parent) || !this.#isOwn(expression)) return;
    this.#text(expression, `"\${…}" does not insert`, this.language.typeOf(expression));
  }

  /** A call that makes a text of a value: `String(trait)`, `trait.toString()`, `[trait].join()`. */
  #conversion(call: ts.CallExpression): void {
    const { expression: callee } = call;
    if (ts.isPropertyAccessExpression(callee)) {
      const { expression: subject, name } = callee;
      const type = TEXT_METHODS.has(name.text) && this.language.isBuiltIn(name) ? this.#ownIn(subject) : undefined;
      if (type) this.#text(call, `".${name.text}()" does not make a text of`, type);
      return;
    }
    const [value] = call.arguments;
    const isString = ts.isIdentifier(callee) && callee.text === "String" && this.language.isBuiltIn(callee);
    if (!isString || value === undefined || !this.#isOwn(value)) return;
    this.#text(call, '"String(…)" does not make a text of', this.language.typeOf(value));
  }

  /** The type of a value of the language, or of those in a list; undefined if it is neither. */
  #ownIn(expression: ts.Expression): ts.Type | undefined {
    const node = unwrapped(expression);
    if (this.#isOwn(node)) return this.language.typeOf(node);
    const items = ts.isArrayLiteralExpression(node) ? node.elements : [];
    const own = items.find((item) => this.#isOwn(item));
    if (own) return this.language.typeOf(own);
    const item = this.language.checker.getIndexTypeOfType(this.language.typeOf(node), ts.IndexKind.Number);
    // Each event, and each trait, has a type of its own.
    const types = item?.isUnion() ? item.types : item ? [item] : [];
    return types.every((type) => this.language.isOwn(type)) ? types[0] : undefined;
  }

  #text(node: ts.Node, which: string, type: ts.Type): void {
    const what = inWords(this.language.checker.typeToString(type));
    const message = `${which} ${what}: JavaScript computes the text once, when the model is compiled`;
    const name = NAMES.find((member) => this.language.methodsOf(type).includes(member));
    const fix = 'write the text without it; only the message of emit(…) can have a trait in it, as "{seats}"';
    this.#report(node, message, name === undefined ? fix : `write .${name}, which is its name`);
  }

  #arithmetic(node: ts.BinaryExpression, operator: string): void {
    const subject = [node.left, node.right].find((side) => this.#isOwn(side));
    // The fix of a comparison says how to compare with what is computed.
    if (!subject || (ts.isBinaryExpression(node.parent) && this.#questionOf(node.parent))) return;
    const message = `there is no "${operator}" on ${this.#inWords(subject)}`;
    const method = { "-": "minus", "/": "per" }[operator];
    const isMeasure = method !== undefined && this.#isOwn(node.left) && this.#isOwn(node.right);
    const has = isMeasure && this.language.methodsOf(this.language.typeOf(subject)).includes(method);
    const other = "write a comparison with a number, or send the result as a property or as a trait";
    this.#report(node, message, has ? `write .${method}(${shortText(node.right)}), which takes a measure` : other);
  }

  /** Whether it is a member of an object of the author, as `part.when`: JavaScript's way to ask whether there is one. */
  #isMember(expression: ts.Expression): boolean {
    const node = unwrapped(expression);
    return ts.isPropertyAccessExpression(node) && !this.language.isOwn(this.language.typeOf(node.expression));
  }

  /** Whether it is a condition, or will be one once its own operators are corrected. */
  #isCondition(expression: ts.Expression): boolean {
    const node = unwrapped(expression);
    if (ts.isBinaryExpression(node)) {
      if (isLogical(node)) {
        return operandsOf(node, node.operatorToken.kind).every((part) => this.#isCondition(part));
      }
      const question = this.#questionOf(node);
      if (question) {
        const { subject, method, value } = question;
        return method !== undefined && comparisonFix(subject, method, value, this.language) === undefined;
      }
    }
    if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
      return this.#isCondition(node.operand);
    }
    return this.language.isCondition(this.language.typeOf(node)) && this.#exists(node);
  }

  /** Whether it is a value of the language that certainly exists; items of lists and records may be missing, and may be tested for that. */
  #isOwn(expression: ts.Expression): boolean {
    return this.language.isOwn(this.language.typeOf(expression)) && this.#exists(expression);
  }

  /** @param above the names and functions that it is the value of: one that is made of itself may not be there yet */
  #exists(expression: ts.Expression, above: readonly ts.Declaration[] = []): boolean {
    const node = unwrapped(expression);
    const exists = (part: ts.Expression): boolean => this.#exists(part, above);
    if (ts.isElementAccessExpression(node) || ts.isOptionalChain(node)) return false;
    if (ts.isBinaryExpression(node)) {
      const { operatorToken, left, right } = node;
      if (operatorToken.kind === ts.SyntaxKind.EqualsToken) return exists(right);
      const isAnd = operatorToken.kind === ts.SyntaxKind.AmpersandAmpersandToken;
      return isAnd ? exists(left) && exists(right) : exists(left) || exists(right);
    }
    const { checker } = this.language;
    if (ts.isCallExpression(node)) {
      const called = checker.getResolvedSignature(node)?.declaration;
      if (called === undefined || above.includes(called)) return called === undefined;
      return resultsOf(called).every((result) => this.#exists(result, [...above, called]));
    }
    const symbol = checker.getSymbolAtLocation(ts.isPropertyAccessExpression(node) ? node.name : node);
    // Members of JavaScript's own objects, such as the value of a generator that has ended, may be missing whatever their type says.
    if (ts.isPropertyAccessExpression(node)) return symbol !== undefined && !this.language.isBuiltIn(node.name);
    if (!ts.isIdentifier(node)) return true;
    const isAlias = symbol !== undefined && (symbol.flags & ts.SymbolFlags.Alias) !== 0;
    const declaration = (isAlias ? checker.getAliasedSymbol(symbol) : symbol)?.valueDeclaration;
    if (!declaration || ts.isBindingElement(declaration) || isItem(declaration)) return false;
    if (above.includes(declaration)) return false;
    const initializer = ts.isVariableDeclaration(declaration) ? declaration.initializer : undefined;
    return initializer === undefined || this.#exists(initializer, [...above, declaration]);
  }

  #inWords(node: ts.Expression): string {
    return inWords(this.language.checker.typeToString(this.language.typeOf(node)));
  }

  /** A condition as the author wrote it; of anything else of the language, the question about it that makes a condition, or a place for one. */
  #asked(node: ts.Expression, longest = TEXT_SHOWN): string {
    const text = shortText(node, longest);
    if (this.#isCondition(node) || !this.#isOwn(node)) return text;
    const { checker } = this.language;
    const isTruth = this.language.accepts(this.language.typeOf(node), "is", [checker.getBooleanType()]);
    return isTruth ? `${text}.is(true)` : `${text}.…`;
  }

  #edit(start: number, end: number, text: string): Edit {
    return { ...rangeOf(this.file, start, end, this.directory), text };
  }

  #report(node: ts.Node, message: string, fix: string, certain: Certain | false = false): void {
    const range = rangeOf(this.file, node.getStart(this.file), node.end, this.directory);
    const isCommented =
      certain && certain.between.some(({ from, to }) => this.file.text.slice(from, to).trim() !== certain.operator);
    const note = isCommented ? `; --fix does not do this: the comment beside "${certain.operator}" would be lost` : "";
    const plain = diagnostic("error", "INVALID_OPERATOR", message, range, fix + note);
    this.#found.push({ node, diagnostic: certain && !isCommented ? { ...plain, edits: certain.edits } : plain });
  }
}

/** The codes of TypeScript's errors about an operator itself. */
const OF_OPERATORS = new Set([2362, 2363, 2365, 2367]);

/** Whether a type error is about the operator that was found, or about its result where a condition is expected. */
export function isCausedBy(operator: ts.Node, error: ts.Diagnostic, file: ts.SourceFile): boolean {
  const { start = 0, length = 0, code, messageText } = error;
  if (OF_OPERATORS.has(code)) return operator.getStart(file) <= start && start + length <= operator.end;
  const text = ts.flattenDiagnosticMessageText(messageText, "\n");
  if (!/[Tt]ype '(?:boolean|true|false|number|string)' is not assignable to/.test(text)) return false;
  const isWithin = (node: ts.Node): boolean => node.getStart(file) <= start && start + length <= node.end;
  for (let node = operator; !ts.isSourceFile(node) && !ts.isStatement(node); node = node.parent) {
    // If the value of a member is wrong, TypeScript marks its name.
    if (ts.isPropertyAssignment(node)) return isWithin(node.name) || isWithin(node.initializer);
    if (ts.isCallExpression(node)) return false;
    if (isWithin(node)) return true;
  }
  return false;
}

/** What a function without a type for its result returns, such as an item of a record; nothing of other functions. */
function resultsOf(declaration: ts.Node): ts.Expression[] {
  if (!ts.isFunctionLike(declaration) || declaration.type || !("body" in declaration)) return [];
  const results: ts.Expression[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isReturnStatement(node)) results.push(...(node.expression ? [node.expression] : []));
    else if (!ts.isFunctionLike(node)) ts.forEachChild(node, visit);
  };
  const { body } = declaration;
  if (body && ts.isBlock(body)) visit(body);
  else if (body) results.push(body);
  return results;
}

/** Whether it holds the items of a list: the variable of a loop, or the parameter of a function without types, as methods of lists take it. */
function isItem(declaration: ts.Declaration): boolean {
  if (ts.isParameter(declaration)) return declaration.type === undefined;
  return ts.isVariableDeclaration(declaration) && ts.isForOfStatement(declaration.parent.parent);
}

function isLogical({ operatorToken: { kind } }: ts.BinaryExpression): boolean {
  return kind === ts.SyntaxKind.AmpersandAmpersandToken || kind === ts.SyntaxKind.BarBarToken;
}

/** The operands of a chain of one operator. */
function operandsOf(node: ts.Expression, operator: ts.SyntaxKind): ts.Expression[] {
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== operator) return [node];
  return [...operandsOf(node.left, operator), ...operandsOf(node.right, operator)];
}

function unwrapped(node: ts.Expression): ts.Expression {
  return ts.isParenthesizedExpression(node) ? unwrapped(node.expression) : node;
}

function isNothing(node: ts.Expression): boolean {
  return node.kind === ts.SyntaxKind.NullKeyword || (ts.isIdentifier(node) && node.text === "undefined");
}
