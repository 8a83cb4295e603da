// An SQL file as PostgreSQL's own scanner and parser see it. Their positions are in bytes, so the text is kept as bytes too.
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { parseSync, scanSync } from "libpg-query";

/** A piece of SQL within a file: the file itself, or a function's body. `firstLine` is the file's line that it starts on. */
export class Source {
  constructor(name, text, firstLine = 1) {
    this.name = name;
    this.text = text;
    this.bytes = Buffer.from(text);
    this.firstLine = firstLine;
    this.tokens = text.trim() === "" ? [] : scanSync(text).tokens;
  }

  /** The file's line of a byte position. */
  lineAt(position) {
    let line = this.firstLine;
    for (let at = this.bytes.indexOf(10); at !== -1 && at < position; at = this.bytes.indexOf(10, at + 1)) line += 1;
    return line;
  }

  problem(position, message) {
    return { file: this.name, line: this.lineAt(position), message };
  }
}

/** A whole file with its statements, each `{kind, node, start, end}`, where `start` is after the comments before it. */
class SourceFile extends Source {
  constructor(name, text) {
    super(name, text);
    const code = this.tokens.filter((token) => !isComment(token));
    const parsed = code.length === 0 ? [] : (parseSync(text).stmts ?? []);
    this.statements = parsed.map(({ stmt, stmt_location: location = 0, stmt_len: length }) => {
      const [kind] = Object.keys(stmt);
      const start = code.find((token) => token.start >= location).start;
      return { kind, node: stmt[kind], start, end: length ? location + length : this.bytes.length };
    });
  }

  ofKind(kind) {
    return this.statements.filter((statement) => statement.kind === kind);
  }
}

export function isComment(token) {
  return token.tokenName === "SQL_COMMENT" || token.tokenName === "C_COMMENT";
}

/** Joins the parts of a qualified name, `[{String: {sval}}, …]`. */
export function nameOf(parts) {
  return parts.map((part) => part.String.sval).join(".");
}

/** All SQL files of the project: their number, those that parse, and a problem for each that does not. */
export async function readSources(root) {
  const sources = [];
  const problems = [];
  const names = [...(await sqlFiles(root, "sql")), ...(await sqlFiles(root, "migrations"))];
  for (const name of names) {
    const text = withoutPlaceholders(name, await readFile(path.join(root, name), "utf8"));
    try {
      sources.push(new SourceFile(name, text));
    } catch (error) {
      const before = text.slice(0, error.sqlDetails?.cursorPosition ?? 0);
      problems.push({ file: name, line: before.split("\n").length, message: error.message });
    }
  }
  return { files: names.length, sources, problems };
}

/** Paths from the root, with `/`, of the SQL files in a folder and below, sorted. */
export async function sqlFiles(root, folder) {
  const names = await readdir(path.join(root, folder), { recursive: true }).catch((error) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  return names
    .filter((name) => name.endsWith(".sql"))
    .map((name) => `${folder}/${name.split(path.sep).join("/")}`)
    .sort();
}

/** graphile-migrate replaces `:NAME` before it runs a migration; for the parser it becomes an identifier of the same length. */
function withoutPlaceholders(name, text) {
  return name.startsWith("migrations/") ? text.replaceAll(/(?<![:\w]):(?=[A-Z][A-Z0-9_]+\b)/g, "_") : text;
}
