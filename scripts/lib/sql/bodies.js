// Rules for the bodies of functions and `do` blocks: they must parse, and each raise must give an error code.
import { parsePlPgSQLSync, parseSync } from "libpg-query";
import { Source } from "./source.js";

const LEVEL_ERROR = 21;
const OPTION_ERRCODE = 0;

/** The body of a `create function` or `do` statement as a piece of SQL; null if it has none between dollar quotes. */
export function bodyOf(source, statement) {
  const options = statement.node.options ?? statement.node.args ?? [];
  const as = options.find(({ DefElem }) => DefElem.defname === "as");
  if (!as) return null;
  const from = Math.max(statement.start, as.DefElem.location ?? 0);
  const token = source.tokens.find(({ start, tokenName }) => start >= from && tokenName === "SCONST");
  const delimiter = /^\$\w*\$/.exec(token.text)?.[0];
  if (delimiter === undefined) return null;
  const text = token.text.slice(delimiter.length, -delimiter.length);
  return new Source(source.name, text, source.lineAt(token.start));
}

/** The language a function or `do` block is written in. */
function languageOf(statement) {
  const options = statement.node.options ?? statement.node.args ?? [];
  const language = options.find(({ DefElem }) => DefElem.defname === "language");
  return language?.DefElem.arg.String.sval ?? (statement.kind === "DoStmt" ? "plpgsql" : "sql");
}

export function checkBodies(source) {
  const statements = [...source.ofKind("CreateFunctionStmt"), ...source.ofKind("DoStmt")];
  return statements.flatMap((statement) => {
    const body = bodyOf(source, statement);
    if (body === null) {
      if (statement.node.sql_body) return [];
      return [source.problem(statement.start, "write the body between dollar quotes, so that it can be checked")];
    }
    return languageOf(statement) === "plpgsql" ? checkPlpgsql(source, statement, body) : checkSql(body);
  });
}

function checkSql(body) {
  try {
    parseSync(body.text);
    return [];
  } catch (error) {
    const before = body.text.slice(0, error.sqlDetails?.cursorPosition ?? 0);
    return [{ file: body.name, line: body.firstLine + before.split("\n").length - 1, message: error.message }];
  }
}

function checkPlpgsql(source, statement, body) {
  let tree;
  try {
    tree = parsePlPgSQLSync(source.bytes.subarray(statement.start, statement.end).toString());
  } catch (error) {
    return [source.problem(statement.start, `${error.message}, in the body that starts in line ${body.firstLine}`)];
  }
  return raises(tree)
    .filter((raise) => !hasErrorCode(raise))
    .map(({ lineno }) => ({
      file: source.name,
      line: body.firstLine + lineno - 1,
      message: "this raise has no errcode; the default code tells the caller nothing",
    }));
}

function raises(node) {
  if (node === null || typeof node !== "object") return [];
  const below = Object.values(node).flatMap(raises);
  return node.PLpgSQL_stmt_raise ? [node.PLpgSQL_stmt_raise, ...below] : below;
}

/** A bare `raise` in an exception block rethrows the current error with its code; notices need no code. */
function hasErrorCode(raise) {
  if (raise.elog_level !== LEVEL_ERROR) return true;
  const passesOn = raise.message === undefined && raise.options === undefined && raise.condname === undefined;
  const options = raise.options ?? [];
  const isErrcode = ({ PLpgSQL_raise_option: option }) => option.opt_type === OPTION_ERRCODE;
  return passesOn || raise.condname !== undefined || options.some(isErrcode);
}
