import type ts from "typescript";

import type { Found, Ts } from "./draft-language.js";
import { DECLARING, DEPTH_MAX, FORBIDDEN, IMPORTED, LANGUAGE_ONLY, MEMBERS, TRAITS_CHANGED } from "./draft-language.js";
import { tooDeep } from "./draft-tokens.js";

/** What all of a draft may come to, in expressions, where each name stands for what it is given: 1 MiB of a model has fewer. */
const WEIGHT_MAX = 100_000;

/** A `const` of the draft. */
interface Known {
  /** How many expressions its value is made of, those behind names counted each time. */
  weight: number;
  /** The function that declared it, where it is a part that is named by its id elsewhere. */
  declaredBy: string | undefined;
}

/** Where an expression stands. */
interface Place {
  depth: number;
  /** The parameter of the filter that it is in. */
  parameter?: string;
  /** Whether it is evaluated later than what stands before it: all names of the draft are known there. */
  lazy?: true;
}

/**
 * Reads a draft's sentences and refuses everything that is not on the list: imports from "svc", `const`, `export default`, and in them
 * calls of what is imported, questions of the language, texts, numbers, lists and plain objects. A function may be the filter in
 * `.where(…)`, or stand for a part that is declared later; nothing of the draft's own can be called.
 */
export class DraftSyntax {
  readonly found: Found[] = [];
  readonly #ts: Ts;
  readonly #file: ts.SourceFile;
  readonly #imported = new Set<string>();
  readonly #known = new Map<string, Known>();
  /** All names that the draft declares, with what declares them as in `Known`. */
  readonly #declared: ReadonlyMap<string, string | undefined>;
  /** The names of all members that it writes: one of them may be a property or a trait. */
  readonly #keys = new Set<string>();

  constructor(ts: Ts, file: ts.SourceFile) {
    this.#ts = ts;
    this.#file = file;
    const declarations = file.statements.flatMap((statement) =>
      ts.isVariableStatement(statement) ? [...statement.declarationList.declarations] : [],
    );
    this.#declared = new Map(
      declarations.flatMap(({ name, initializer }) => {
        const callee = initializer && ts.isCallExpression(initializer) ? initializer.expression : undefined;
        const isPart = callee !== undefined && ts.isIdentifier(callee) && DECLARING.has(callee.text);
        return ts.isIdentifier(name) ? [[name.text, isPart ? callee.text : undefined] as const] : [];
      }),
    );
  }

  /** Reads all of it. */
  read(): void {
    for (const statement of this.#file.statements) this.#statement(statement);
  }

  #refuse(node: ts.Node, message: string, fix = LANGUAGE_ONLY): number {
    this.found.push({ start: node.getStart(this.#file), end: node.end, code: "DRAFT_NOT_ALLOWED", message, fix });
    return 1;
  }

  #statement(node: ts.Statement): void {
    const ts = this.#ts;
    if (ts.isImportDeclaration(node)) return this.#import(node);
    if (ts.isVariableStatement(node)) return this.#constants(node);
    if (ts.isExportAssignment(node) && node.isExportEquals !== true && node.modifiers === undefined) {
      const weight = this.#expression(node.expression, { depth: 0 });
      if (weight > WEIGHT_MAX) this.#tooLarge(node);
      return;
    }
    this.#refuse(node, "a draft imports, declares by const, and exports its model by default; this is something else");
  }

  #import(node: ts.ImportDeclaration): void {
    const ts = this.#ts;
    const { moduleSpecifier, importClause: clause } = node;
    if (!ts.isStringLiteral(moduleSpecifier) || moduleSpecifier.text !== "svc") {
      this.#refuse(moduleSpecifier, 'a draft imports from "svc" only', "leave the import out");
      return;
    }
    const names = clause?.namedBindings;
    const isPlain =
      node.modifiers === undefined && node.attributes === undefined && clause?.phaseModifier === undefined;
    if (!isPlain || clause?.name !== undefined || names === undefined || !ts.isNamedImports(names)) {
      this.#refuse(node, "this import is not one of names", 'write import { … } from "svc"');
      return;
    }
    for (const element of names.elements) {
      const { name, propertyName, isTypeOnly } = element;
      if (propertyName !== undefined || isTypeOnly) {
        this.#refuse(element, "a name is imported as another, or as a type", "import it under its own name");
      } else if (!IMPORTED.has(name.text)) {
        this.#refuse(name, `${JSON.stringify(name.text)} is not of the language`);
      } else this.#imported.add(name.text);
    }
  }

  #constants({ modifiers, declarationList }: ts.VariableStatement): void {
    const ts = this.#ts;
    const isConst = (declarationList.flags & ts.NodeFlags.Const) !== 0;
    const isUsing = (declarationList.flags & ts.NodeFlags.Using) !== 0;
    if (!isConst || isUsing || modifiers !== undefined) {
      this.#refuse(declarationList, "a draft declares by const alone", "write const name = …");
      return;
    }
    for (const { name, initializer, type } of declarationList.declarations) {
      if (!ts.isIdentifier(name) || initializer === undefined || type !== undefined) {
        this.#refuse(name, "this declares something else than a name and its value", "write const name = …");
      } else if (this.#imported.has(name.text) || this.#known.has(name.text) || FORBIDDEN.has(name.text)) {
        this.#refuse(name, `${JSON.stringify(name.text)} is taken already`, "choose another name");
      } else {
        const weight = this.#expression(initializer, { depth: 0 });
        this.#known.set(name.text, { weight, declaredBy: this.#declared.get(name.text) });
      }
    }
  }

  /** Checks an expression; answers how many it is made of. */
  #expression(node: ts.Expression, place: Place): number {
    const ts = this.#ts;
    if (place.depth > DEPTH_MAX) {
      this.found.push(tooDeep(node.getStart(this.#file), node.end));
      return 1;
    }
    const inner = { ...place, depth: place.depth + 1 };
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return 1;
    if (node.kind === ts.SyntaxKind.TrueKeyword || node.kind === ts.SyntaxKind.FalseKeyword) return 1;
    if (ts.isNumericLiteral(node)) return this.#number(node);
    if (ts.isPrefixUnaryExpression(node)) {
      const { operator, operand } = node;
      const isNegative = operator === ts.SyntaxKind.MinusToken;
      return isNegative && ts.isNumericLiteral(operand)
        ? this.#number(operand)
        : this.#refuse(node, "this is computed");
    }
    if (ts.isParenthesizedExpression(node)) return this.#expression(node.expression, inner);
    if (ts.isArrayLiteralExpression(node)) return this.#sum(node.elements.map((one) => this.#expression(one, inner)));
    if (ts.isObjectLiteralExpression(node)) return this.#sum(node.properties.map((one) => this.#property(one, inner)));
    if (ts.isIdentifier(node)) return this.#name(node, place);
    if (ts.isCallExpression(node)) return this.#call(node, inner);
    if (ts.isPropertyAccessExpression(node)) return this.#member(node, inner);
    if (ts.isArrowFunction(node)) return this.#refuse(node, "a function has no place here");
    return this.#refuse(node, "this is not one of the expressions that a model is made of");
  }

  #sum(weights: readonly number[]): number {
    const sum = weights.reduce((total, weight) => total + weight, 1);
    // What is past the limit stays there; it need not be told apart.
    return Math.min(sum, WEIGHT_MAX + 1);
  }

  #number(node: ts.NumericLiteral): number {
    return Number.isFinite(Number(node.text)) ? 1 : this.#refuse(node, "this number is infinite", "write a finite one");
  }

  #property(node: ts.ObjectLiteralElementLike, place: Place): number {
    const ts = this.#ts;
    if (ts.isShorthandPropertyAssignment(node) && node.objectAssignmentInitializer === undefined) {
      this.#key(node.name);
      return this.#name(node.name, place);
    }
    if (!ts.isPropertyAssignment(node)) {
      return this.#refuse(node, "a member of an object is a name and its value", "write name: value");
    }
    const { name, initializer } = node;
    if (!ts.isIdentifier(name) && !ts.isStringLiteral(name) && !ts.isNumericLiteral(name)) {
      return this.#refuse(name, "the name of this member is computed", "write the name itself");
    }
    this.#key(name);
    return ts.isArrowFunction(initializer) ? this.#deferred(initializer, place) : this.#expression(initializer, place);
  }

  #key(name: ts.Identifier | ts.StringLiteral | ts.NumericLiteral): void {
    if (FORBIDDEN.has(name.text)) this.#refuse(name, `no member may be called ${JSON.stringify(name.text)}`);
    else this.#keys.add(name.text);
  }

  #name(node: ts.Identifier, { parameter }: Place): number {
    const { text } = node;
    if (text === TRAITS_CHANGED && this.#imported.has(text)) return 1;
    if (this.#imported.has(text)) return this.#refuse(node, `${JSON.stringify(text)} is not called`, "call it");
    if (text === parameter) return this.#refuse(node, "a filter asks for properties, one by one", `write ${text}.name`);
    const known = this.#known.get(text);
    if (known !== undefined) return known.weight;
    const isLater = this.#declared.has(text);
    const message = isLater ? `${JSON.stringify(text)} is declared later` : `nothing is called ${JSON.stringify(text)}`;
    return this.#refuse(node, message, isLater ? "declare it first" : 'import it from "svc", or declare it by const');
  }

  #call(node: ts.CallExpression, place: Place): number {
    const ts = this.#ts;
    const { expression: callee, typeArguments, questionDotToken } = node;
    if (typeArguments !== undefined || questionDotToken !== undefined)
      return this.#refuse(node, "this call is not plain");
    const isMethod = ts.isPropertyAccessExpression(callee);
    const name = isMethod ? callee.name.text : ts.isIdentifier(callee) ? callee.text : "";
    if (isMethod && !MEMBERS.has(name))
      return this.#refuse(callee.name, `nothing has a method ${JSON.stringify(name)}`);
    if (!isMethod && (!this.#imported.has(name) || name === TRAITS_CHANGED || name === place.parameter)) {
      return this.#refuse(callee, 'only what is imported from "svc" may be called');
    }
    const receiver = isMethod ? this.#member(callee, place) : 0;
    const given = node.arguments.map((argument) => {
      if (ts.isArrowFunction(argument) && isMethod && name === "where") return this.#filter(argument, place);
      if (ts.isArrowFunction(argument) && !isMethod && name === "step") return this.#deferred(argument, place);
      return this.#isPart(argument, place) ? 1 : this.#expression(argument, place);
    });
    return this.#sum([receiver, ...given]);
  }

  /** Whether it is the name of a part, which stands in the model by its id alone. */
  #isPart(node: ts.Expression, { parameter }: Place): boolean {
    if (!this.#ts.isIdentifier(node) || node.text === parameter) return false;
    return this.#known.get(node.text)?.declaredBy !== undefined;
  }

  #member(node: ts.PropertyAccessExpression, place: Place): number {
    const ts = this.#ts;
    const { expression: owner, name, questionDotToken } = node;
    if (questionDotToken !== undefined || !ts.isIdentifier(name) || FORBIDDEN.has(name.text)) {
      return this.#refuse(name, `nothing may be asked for ${JSON.stringify(name.text)}`);
    }
    const isParameter = ts.isIdentifier(owner) && owner.text === place.parameter;
    const isLater = ts.isIdentifier(owner) && place.lazy === true && this.#declared.get(owner.text) !== undefined;
    const isTraits = ts.isIdentifier(owner) && this.#declared.get(owner.text) === "traits";
    const isField = this.#keys.has(name.text) && (isParameter || isTraits);
    if (!MEMBERS.has(name.text) && !isField) {
      return this.#refuse(name, `nothing is declared that has ${JSON.stringify(name.text)}`);
    }
    if (isParameter || this.#isPart(owner, place) || isLater) return 1;
    if (!ts.isIdentifier(owner) && !ts.isCallExpression(owner) && !ts.isPropertyAccessExpression(owner)) {
      return this.#refuse(owner, "this has nothing to be asked for");
    }
    return this.#sum([this.#expression(owner, place)]);
  }

  /** `(p) => p.seats.atLeast(5)`, the argument of `.where`. */
  #filter(node: ts.ArrowFunction, place: Place): number {
    const ts = this.#ts;
    const [first, ...more] = node.parameters;
    const { name: named, initializer, dotDotDotToken, questionToken, type, modifiers } = first ?? {};
    const extras = [initializer, dotDotDotToken, questionToken, type, modifiers, ...more];
    if (!first || !named || !ts.isIdentifier(named) || extras.some((one) => one !== undefined)) {
      return this.#refuse(node, "a filter has one parameter, a name", "write (p) => …");
    }
    const name = named.text;
    if (this.#imported.has(name) || FORBIDDEN.has(name) || place.parameter !== undefined) {
      return this.#refuse(first, `${JSON.stringify(name)} is taken already`, "choose another name, as p");
    }
    return this.#body(node, { ...place, parameter: name });
  }

  /** `() => stages.is("trial")`, which stands for a value that is made of parts declared later. */
  #deferred(node: ts.ArrowFunction, place: Place): number {
    if (node.parameters.length > 0) return this.#refuse(node, "this function has a parameter", "write () => …");
    return this.#body(node, { ...place, lazy: true });
  }

  #body({ modifiers, typeParameters, type, body }: ts.ArrowFunction, place: Place): number {
    if (modifiers !== undefined || typeParameters !== undefined || type !== undefined) {
      return this.#refuse(body, "this function is not plain", "write its parameter, an arrow and an expression");
    }
    if (this.#ts.isBlock(body)) return this.#refuse(body, "a function has statements", "write one expression");
    return this.#sum([this.#expression(body, { ...place, depth: place.depth + 1 })]);
  }

  #tooLarge(node: ts.Node): void {
    const message = `what the names stand for adds up to more than ${WEIGHT_MAX} expressions`;
    const fix = "declare fewer, or ask a segment instead of repeating its condition";
    this.found.push({ start: node.getStart(this.#file), end: node.end, code: "DRAFT_TOO_LARGE", message, fix });
  }
}
