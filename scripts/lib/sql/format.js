// The form of an SQL file: rules that a formatter would enforce, if there were one for SQL with PL/pgSQL bodies.
import { bodyOf } from "./bodies.js";
import { isComment } from "./source.js";

const LINE_LENGTH_MAX = 140;
const INDENT = 2;

/** Keywords that PL/pgSQL adds to those of SQL; the scanner treats them as identifiers. */
const PLPGSQL_KEYWORDS = new Set(
  `alias assert begin constant continue debug detail diagnostics elsif elseif errcode exception exit foreach get hint info log loop
  message next notice open perform pg_exception_context query raise return returned_sqlstate reverse row_count rowtype slice sqlerrm
  sqlstate stacked strict type warning while`.split(/\s+/),
);

export function checkFormat(source) {
  const bodies = [...source.ofKind("CreateFunctionStmt"), ...source.ofKind("DoStmt")]
    .map((statement) => bodyOf(source, statement))
    .filter((body) => body !== null);
  const pieces = [source, ...bodies];
  return [...checkLines(source), ...checkIndent(source, pieces), ...pieces.flatMap(checkKeywords)];
}

function checkLines(source) {
  const problems = [];
  const lines = source.text.split("\n");
  if (lines.at(-1) !== "") problems.push(at(source, lines.length, "end the file with a newline"));
  else if (lines.at(-2)?.trim() === "")
    problems.push(at(source, lines.length - 1, "no blank lines at the end of a file"));
  for (const [index, line] of lines.entries()) {
    if (line.includes("\t")) problems.push(at(source, index + 1, "no tabs; indent with two spaces"));
    if (/\s$/.test(line)) problems.push(at(source, index + 1, "no blanks at the end of a line"));
    const length = [...line].length;
    if (length > LINE_LENGTH_MAX) {
      problems.push(at(source, index + 1, `the line has ${length} characters; ${LINE_LENGTH_MAX} is the limit`));
    }
  }
  return problems;
}

/** Indentation is in steps of two spaces, except within comments and strings. */
function checkIndent(source, pieces) {
  const free = new Set();
  for (const [index, piece] of pieces.entries()) {
    for (const token of piece.tokens) {
      const first = piece.lineAt(token.start);
      const last = piece.lineAt(token.end);
      const isBody = index === 0 && pieces.some((body) => body !== piece && body.firstLine === first && last > first);
      if (isBody) continue;
      for (let line = isComment(token) ? first : first + 1; line <= last; line += 1) free.add(line);
    }
  }
  return source.text.split("\n").flatMap((line, index) => {
    const indent = /^ */.exec(line)[0].length;
    if (indent % INDENT === 0 || line.trim() === "" || free.has(index + 1)) return [];
    return [at(source, index + 1, `indented by ${indent} spaces; indent by steps of two`)];
  });
}

function checkKeywords(piece) {
  return piece.tokens
    .filter(({ text, keywordName }) => keywordName !== "NO_KEYWORD" || PLPGSQL_KEYWORDS.has(text.toLowerCase()))
    .filter(({ text }) => text !== text.toLowerCase())
    .map(({ start, text }) => piece.problem(start, `write the keyword \`${text}\` in lower case`));
}

function at(source, line, message) {
  return { file: source.name, line, message };
}
