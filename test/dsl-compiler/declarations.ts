import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";

const FOLDER = path.resolve(import.meta.dirname, "../../src/dsl");

const sources = readdirSync(FOLDER)
  .filter((file) => file.endsWith(".ts"))
  .map((file) =>
    ts.createSourceFile(file, readFileSync(path.join(FOLDER, file), "utf8"), ts.ScriptTarget.Latest, true),
  );

/** The names that `svc` exports. */
export function exportsOf(): { values: string[]; types: string[] } {
  const index = sources.find(({ fileName }) => fileName === "index.ts")!;
  const values: string[] = [];
  const types: string[] = [];
  for (const statement of index.statements) {
    if (!ts.isExportDeclaration(statement) || !statement.exportClause || !ts.isNamedExports(statement.exportClause)) {
      throw new Error(`src/dsl/index.ts has something other than a list of exports: ${statement.getText()}`);
    }
    const names = statement.exportClause.elements.map(({ name }) => name.text);
    (statement.isTypeOnly ? types : values).push(...names);
  }
  return { values, types };
}

/** The declarations of a name in the language's sources, with their comments, but without bodies and internal members. */
export function declarationsOf(name: string): string {
  const declarations = sources.flatMap((source) => source.statements.filter((statement) => declares(statement, name)));
  if (declarations.length === 0) throw new Error(`src/dsl declares no ${name}`);
  const isOverloaded = declarations.length > 1;
  return declarations
    .filter((one) => !isOverloaded || !ts.isFunctionDeclaration(one) || one.body === undefined)
    .map(textOf)
    .join("\n");
}

function declares(statement: ts.Statement, name: string): boolean {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.some((one) => one.name.getText() === name);
  }
  return (
    (ts.isFunctionDeclaration(statement) ||
      ts.isInterfaceDeclaration(statement) ||
      ts.isTypeAliasDeclaration(statement) ||
      ts.isClassDeclaration(statement)) &&
    statement.name?.text === name
  );
}

function textOf(statement: ts.Statement): string {
  const full = statement.getFullText().trimStart();
  const start = statement.getFullStart() + statement.getFullText().length - full.length;
  const cuts: [from: number, to: number][] = [];
  let end = statement.end;
  let tail = "";
  if (ts.isFunctionDeclaration(statement) && statement.body) {
    end = statement.body.getFullStart();
    tail = ";";
  }
  if (ts.isVariableStatement(statement)) {
    const [{ type }] = statement.declarationList.declarations as unknown as [ts.VariableDeclaration];
    end = type!.end;
    tail = ";";
  }
  if (ts.isInterfaceDeclaration(statement)) {
    for (const member of statement.members) {
      if (member.name && ts.isComputedPropertyName(member.name)) cuts.push([member.getFullStart(), member.end]);
    }
  }
  const file = statement.getSourceFile().text;
  let text = "";
  let from = start;
  for (const [cutFrom, cutTo] of cuts) {
    text += file.slice(from, cutFrom);
    from = cutTo;
  }
  text += file.slice(from, end) + tail;
  return text.replace(/\bexport (?=(function|interface|type|const|class) )/, "");
}
