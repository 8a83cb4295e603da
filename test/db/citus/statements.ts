import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { loadModule, parsePlPgSQLSync, parseSync } from "libpg-query";

/** A node of a parse tree. */
type Tree = Record<string, unknown>;

/** A statement of the service's functions, triggers or views, with its tables. */
export interface Statement {
  /** Schema and name of the object that contains it. */
  of: string;
  /** Such as `svc.events`. */
  tables: Set<string>;
  /** Tables that it updates or deletes from without a condition on the row's environment_id. */
  unscoped: string[];
  /** Tables that it reads without comparing their environment_id with a given value. */
  unrestricted: string[];
  /** Tables into which it inserts rows from a query that reads no table. */
  unanchored: string[];
  /** Whether queries precede an insert, `with … insert`, instead of being inside it. */
  withBeforeInsert: boolean;
  /** Functions that it calls within `case` or `coalesce` of an update or delete, where a cluster takes only immutable ones. */
  conditionalCalls: string[];
  /** Whether it is parsed at the function's creation, `begin atomic` or `return …`, and so depends on the tables. */
  atomic: boolean;
}

/** The statements of all functions, triggers and views below `sql`, parsed by PostgreSQL's parser. */
export async function readStatements(root: string): Promise<Statement[]> {
  await loadModule();
  const folders = ["functions", "triggers", "views"].map((name) => path.join(root, "sql", name));
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".sql"))
      .map((name) => readFileSync(path.join(folder, name), "utf8")),
  );
  return files.flatMap(statementsOf);
}

/** The statements of a file. The parser must be loaded, which `readStatements` does. */
export function statementsOf(text: string): Statement[] {
  const { stmts = [] } = parseSync(text) as { stmts?: { stmt: Tree; stmt_location?: number; stmt_len?: number }[] };
  return stmts.flatMap(({ stmt, stmt_location: from = 0, stmt_len: length }) => {
    const view = stmt["ViewStmt"] as { view: { schemaname: string; relname: string }; query: Tree } | undefined;
    if (view) return [describe(`${view.view.schemaname}.${view.view.relname}`, view.query, false)];
    const routine = stmt["CreateFunctionStmt"] as Tree | undefined;
    if (!routine) return [];
    const of = (routine["funcname"] as { String: { sval: string } }[]).map(({ String: part }) => part.sval).join(".");
    if (routine["sql_body"] !== undefined) return [describe(of, routine["sql_body"], true)];
    const bytes = Buffer.from(text);
    const own = bytes.subarray(from, length === undefined ? bytes.length : from + length).toString();
    return queriesOf(own).map((query) => describe(of, query, false));
  });
}

/** The trees of the statements in a function with a dollar-quoted body. */
function queriesOf(definition: string): unknown[] {
  if (!/^language plpgsql$/m.test(definition)) {
    const body = /\$(\w*)\$([\s\S]*)\$\1\$/.exec(definition)?.[2];
    if (body === undefined) throw new Error(`no body in: ${definition}`);
    return [parseSync(body)];
  }
  return [...nodes(parsePlPgSQLSync(definition), "PLpgSQL_expr")].map(({ query }) => {
    const text = query as string;
    // Whole statements, expressions, and assignments with their target.
    for (const form of [text, `select ${text}`, `select ${text.slice(text.indexOf(":=") + 2)}`]) {
      try {
        return parseSync(form);
      } catch {
        // Of another form.
      }
    }
    throw new Error(`not understood: ${text}`);
  });
}

function describe(of: string, tree: unknown, atomic: boolean): Statement {
  const targets = ["InsertStmt", "UpdateStmt", "DeleteStmt"].flatMap((kind) =>
    [...nodes(tree, kind)].map(({ relation }) => relation as Tree),
  );
  const read = [...nodes(tree, "RangeVar")].filter(isTable);
  const changes = [...nodes(tree, "DeleteStmt"), ...nodes(tree, "UpdateStmt")].filter(
    ({ whereClause }) => !conditionsOf(whereClause).some(isOfAnEnvironment),
  );
  const inserts = [...nodes(tree, "InsertStmt")];
  const choices = [...nodes(tree, "DeleteStmt"), ...nodes(tree, "UpdateStmt")].flatMap((change) => [
    ...nodes(change, "CaseExpr"),
    ...nodes(change, "CoalesceExpr"),
  ]);
  const restricted = new Set(
    [...nodes(tree, "A_Expr")].flatMap((comparison) => restrictedBy(comparison, of.slice(of.indexOf(".") + 1))),
  );
  return {
    of,
    tables: new Set([...read, ...targets].filter(isTable).map(nameOf)),
    unscoped: changes.map(({ relation }) => nameOf(relation as Tree)),
    unrestricted: read.filter((table) => !restricted.has(aliasOf(table))).map(nameOf),
    unanchored: inserts
      .filter(({ selectStmt }) => isQuery(selectStmt) && ![...nodes(selectStmt, "RangeVar")].some(isTable))
      .map(({ relation }) => nameOf(relation as Tree)),
    withBeforeInsert: inserts.some(({ withClause }) => withClause !== undefined),
    conditionalCalls: choices.flatMap((choice) => [...nodes(choice, "FuncCall")].map(calledBy)),
    atomic,
  };
}

const isTable = ({ schemaname }: Tree) => schemaname !== undefined;
const aliasOf = ({ alias, relname }: Tree) =>
  (alias as { aliasname: string } | undefined)?.aliasname ?? (relname as string);
/** Not `values (…)` and not `default values`. */
const isQuery = (select: unknown) =>
  (select as { SelectStmt?: { valuesLists?: unknown } } | undefined)?.SelectStmt !== undefined &&
  (select as { SelectStmt: { valuesLists?: unknown } }).SelectStmt.valuesLists === undefined;

/** The alias, if any, whose environment_id is compared with a parameter or variable of the function. */
function restrictedBy({ name, lexpr, rexpr }: Tree, routine: string): string[] {
  if (JSON.stringify(name) !== '[{"String":{"sval":"="}}]') return [];
  const fieldsOf = (side: unknown) =>
    (side as { ColumnRef?: { fields: { String?: { sval: string } }[] } } | undefined)?.ColumnRef?.fields.map(
      (field) => field.String?.sval ?? "",
    ) ?? [];
  const [alias, column] = fieldsOf(lexpr);
  const [given = ""] = fieldsOf(rexpr);
  return column === "environment_id" && (given === routine || given.startsWith("_")) ? [alias!] : [];
}

/** Without a schema for PostgreSQL's own functions. */
const calledBy = ({ funcname }: Tree) =>
  (funcname as { String: { sval: string } }[]).map(({ String: part }) => part.sval).join(".");

const nameOf = ({ schemaname, relname }: Tree) => `${schemaname as string}.${relname as string}`;

/** The conditions that all have to hold. */
function conditionsOf(where: unknown): unknown[] {
  const { BoolExpr: list } = (where ?? {}) as { BoolExpr?: { boolop: string; args: unknown[] } };
  return list?.boolop === "AND_EXPR" ? list.args : [where];
}

function isOfAnEnvironment(condition: unknown): boolean {
  const { A_Expr: comparison } = (condition ?? {}) as { A_Expr?: { name: unknown; lexpr: unknown } };
  return (
    comparison !== undefined &&
    JSON.stringify(comparison.name) === '[{"String":{"sval":"="}}]' &&
    JSON.stringify(comparison.lexpr).includes('"environment_id"')
  );
}

/** All nodes of a kind, however deep. */
function* nodes(tree: unknown, kind: string): Generator<Tree> {
  if (tree === null || typeof tree !== "object") return;
  for (const [key, value] of Object.entries(tree)) {
    if (key === kind) yield value as Tree;
    yield* nodes(value, kind);
  }
}
