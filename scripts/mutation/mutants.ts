import ts from "typescript";

/** A change of a source file that some test should detect. */
export interface Mutant {
  file: string;
  /** Counted from 1. */
  line: number;
  start: number;
  end: number;
  original: string;
  replacement: string;
}

type Change = Pick<Mutant, "start" | "end" | "replacement">;

const OPERATORS = new Map<ts.SyntaxKind, string>([
  [ts.SyntaxKind.LessThanToken, "<="],
  [ts.SyntaxKind.LessThanEqualsToken, "<"],
  [ts.SyntaxKind.GreaterThanToken, ">="],
  [ts.SyntaxKind.GreaterThanEqualsToken, ">"],
  [ts.SyntaxKind.EqualsEqualsEqualsToken, "!=="],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, "==="],
  [ts.SyntaxKind.AmpersandAmpersandToken, "||"],
  [ts.SyntaxKind.BarBarToken, "&&"],
  [ts.SyntaxKind.MinusToken, "+"],
  [ts.SyntaxKind.AsteriskToken, "/"],
  [ts.SyntaxKind.SlashToken, "*"],
]);

/** Mutants of a TypeScript file: changed comparisons, connectives and arithmetic, negated conditions and boolean literals, numbers off by one. */
export function mutantsOfTypeScript(file: string, text: string): Mutant[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const changes: Change[] = [];
  const change = (node: ts.Node, replacement: string) =>
    changes.push({ start: node.getStart(source), end: node.getEnd(), replacement });
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node)) return;
    if (ts.isBinaryExpression(node)) {
      const other = OPERATORS.get(node.operatorToken.kind);
      if (other !== undefined) change(node.operatorToken, other);
    } else if (ts.isNumericLiteral(node)) {
      change(node, `(${node.text} + 1)`);
    } else if (node.kind === ts.SyntaxKind.TrueKeyword || node.kind === ts.SyntaxKind.FalseKeyword) {
      change(node, node.kind === ts.SyntaxKind.TrueKeyword ? "false" : "true");
    } else if (ts.isIfStatement(node) && !ts.isBinaryExpression(node.expression)) {
      change(node.expression, `!(${node.expression.getText(source)})`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return mutantsOf(file, text, changes);
}

/** Patterns of SQL whose first group is replaced, with the replacement. */
const SQL_CHANGES: readonly [RegExp, (found: string) => string][] = [
  [/ (<|<=|>|>=|=|<>) /g, (found) => ({ "<": "<=", "<=": "<", ">": ">=", ">=": ">", "=": "<>", "<>": "=" })[found]!],
  [/\b(and|or)\b/g, (found) => (found === "and" ? "or" : "and")],
  [
    /\b(greatest|least|min|max)\(/g,
    (found) => ({ greatest: "least", least: "greatest", min: "max", max: "min" })[found]!,
  ],
  [
    /\b(not exists|is not null|is null)\b/g,
    (found) => (found.startsWith("not ") ? "exists" : found === "is null" ? "is not null" : "is null"),
  ],
  [/[ (](\d+)\b/g, (found) => `${Number(found) + 1}`],
  [/interval '(\d+)/g, (found) => `${found}0`],
  [/ (\+|-) /g, (found) => (found === "+" ? "-" : "+")],
  [/\b(desc|asc)\b/g, (found) => (found === "desc" ? "asc" : "desc")],
];

/** Mutants of the body of an SQL function, without its comments and the `comment on` statements. */
export function mutantsOfSql(file: string, text: string): Mutant[] {
  const bodyEnd = text.lastIndexOf("\ncomment on ");
  const bodyStart = Math.max(text.indexOf("as $$"), text.indexOf("\nreturn "));
  const code = text
    .slice(0, bodyEnd < 0 ? text.length : bodyEnd)
    .replace(/--.*$|set search_path = ''/gm, (found) => " ".repeat(found.length));
  const changes = SQL_CHANGES.flatMap(([pattern, other]) =>
    [...code.matchAll(pattern)]
      .filter(({ index }) => index > bodyStart)
      .map((match): Change => {
        const start = match.index + match[0].indexOf(match[1]!);
        return { start, end: start + match[1]!.length, replacement: other(match[1]!) };
      }),
  );
  return mutantsOf(file, text, changes);
}

function mutantsOf(file: string, text: string, changes: readonly Change[]): Mutant[] {
  return changes.map((change) => ({
    ...change,
    file,
    line: text.slice(0, change.start).split("\n").length,
    original: text.slice(change.start, change.end),
  }));
}
