/** Corrects names that a file uses but does not import: finds the module that exports them, and writes the import. */
import path from "node:path";
import ts from "typescript";
import { quote } from "../../model/snapshot/problem.js";
import { onlyNear } from "../../model/snapshot/suggestion.js";
import { type Edit, rangeOf, relative } from "../diagnostics/diagnostic.js";
import type { Correction } from "./members.js";
import { functionMeant } from "./other-names.js";
import { authoredFiles, type Places } from "./program.js";

/** The name by which models import the language. */
const LANGUAGE = "svc-success";

/** Limits of the search below the model's folder: its depth, and the number of files. A model is small, but its surroundings may be large. */
const DEPTH = 5;
const FILES_MAX = 1_000;

/** A module that exports a name; `file` is absolute, undefined for the language. */
interface Source {
  file?: string;
  isType: boolean;
}

/** The names that could be imported, from a project's folder and from the language. Reads files only when a name is looked up. */
export class Importable {
  readonly #language: ReadonlyMap<string, boolean>;
  readonly #written = new Set<string>();
  #files: ts.SourceFile[] | undefined;

  constructor(
    private readonly program: ts.Program,
    private readonly places: Places,
  ) {
    const index = path.join(places.sources, "dsl", "index.ts");
    this.#language = exportsOf(ts.createSourceFile(index, ts.sys.readFile(index) ?? "", ts.ScriptTarget.ES2023));
  }

  /** The correction of an unknown name. @param uses all its places in the file @param inScope names that it may be a misspelling of */
  correction(name: ts.Identifier, uses: readonly ts.Node[], inScope: readonly string[]): Correction | undefined {
    const file = name.getSourceFile();
    const sources = this.#sourcesOf(name.text, file);
    const [source] = sources;
    if (source && sources.length === 1) return this.#importing(name.text, source, file);
    if (source) {
      const modules = sources.map(({ file: from }) => quote(this.#shown(from)));
      return { fix: `import it from the one that is meant: ${modules.join(" or ")} export it` };
    }
    const meant = functionMeant(name.text);
    if (meant !== undefined) return { fix: `write ${quote(meant)}` };
    const near = onlyNear(name.text, [...new Set([...inScope, ...this.#language.keys()])]);
    if (near === undefined) return undefined;
    const { directory } = this.places;
    const edits = uses.map((use) => ({ ...rangeOf(file, use.getStart(), use.end, directory), text: near }));
    // In `{ name }`, the name is also that of a member, so the edit could change the meaning.
    const isCertain = !uses.some(({ parent }) => ts.isShorthandPropertyAssignment(parent));
    return { fix: `write ${quote(near)}`, ...(isCertain ? { edits } : {}) };
  }

  #importing(name: string, source: Source, file: ts.SourceFile): Correction {
    const imported = source.isType ? `type ${name}` : name;
    const module = source.file === undefined ? LANGUAGE : this.#specifier(source.file, file);
    const insert = (position: number, text: string): Edit[] => [
      { ...rangeOf(file, position, position, this.places.directory), text },
    ];
    const existing = this.#importOf(source, file);
    if (existing) {
      const last = existing.elements.at(-1)!;
      const [lineBreak = " "] = /\r?\n\s*$/.exec(file.text.slice(last.pos, last.getStart(file))) ?? [];
      return {
        fix: `add ${name} to the import of ${quote(module)}`,
        edits: insert(last.end, `,${lineBreak}${imported}`),
      };
    }
    const line = `import { ${imported} } from ${JSON.stringify(module)};`;
    const key = `${file.fileName} ${module}`;
    // Further names of that module are added to this import by a later run, when it exists.
    if (this.#written.has(key)) return { fix: `write ${line}` };
    this.#written.add(key);
    const first = file.statements.find(ts.isImportDeclaration);
    const newline = file.text.includes("\r\n") ? "\r\n" : "\n";
    return { fix: `write ${line}`, edits: insert(first?.getStart(file) ?? beginOf(file), line + newline) };
  }

  /** The existing import of named values from a module; undefined if there is none. */
  #importOf(source: Source, file: ts.SourceFile): ts.NamedImports | undefined {
    for (const statement of file.statements) {
      if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue;
      const { importClause, moduleSpecifier } = statement;
      const names = importClause?.namedBindings;
      if (!names || !ts.isNamedImports(names) || names.elements.length === 0) continue;
      if (importClause.phaseModifier !== undefined) continue;
      const { text } = moduleSpecifier;
      const isIt =
        source.file === undefined
          ? text === LANGUAGE || text === "svc"
          : text.startsWith(".") && bare(path.resolve(path.dirname(file.fileName), text)) === bare(source.file);
      if (isIt) return names;
    }
    return undefined;
  }

  /** The specifier by which a file imports a module, with the same ending as its other imports. */
  #specifier(target: string, file: ts.SourceFile): string {
    const between = relative(path.dirname(file.fileName), bare(target));
    const own = file.statements.flatMap((statement) =>
      ts.isImportDeclaration(statement) && ts.isStringLiteral(statement.moduleSpecifier)
        ? [statement.moduleSpecifier.text]
        : [],
    );
    const like = own.find((text) => text.startsWith("."));
    const ending = like === undefined ? ".js" : (/\.[jt]s$/.exec(like)?.[0] ?? "");
    return (between.startsWith(".") ? between : `./${between}`) + ending;
  }

  #shown(file: string | undefined): string {
    return file === undefined ? LANGUAGE : relative(this.places.directory, file);
  }

  #sourcesOf(name: string, from: ts.SourceFile): Source[] {
    const ofLanguage = this.#language.get(name);
    const sources: Source[] = ofLanguage === undefined ? [] : [{ isType: ofLanguage }];
    for (const file of this.#modelFiles()) {
      if (file.fileName === from.fileName || !file.text.includes(name)) continue;
      const isType = exportsOf(file).get(name);
      if (isType !== undefined) sources.push({ file: file.fileName, isType });
    }
    return sources;
  }

  /** The files of the model, and others in its folder that nothing imports yet. */
  #modelFiles(): ts.SourceFile[] {
    if (this.#files) return this.#files;
    const { directory, config, sealed } = this.places;
    const known = authoredFiles(this.program, this.places);
    const names = new Set(known.map(({ fileName }) => path.resolve(fileName)));
    const found = sealed
      ? []
      : ts.sys.readDirectory(
          directory,
          [".ts"],
          ["node_modules", "dist", "**/*.d.ts", "**/*.test.ts"],
          undefined,
          DEPTH,
        );
    const others = found.slice(0, FILES_MAX).filter((file) => !names.has(path.resolve(file)));
    this.#files = [
      ...known,
      ...others.map((file) => ts.createSourceFile(file, ts.sys.readFile(file) ?? "", ts.ScriptTarget.ES2023)),
    ].filter(({ fileName }) => path.resolve(fileName) !== path.join(directory, config));
    return this.#files;
  }
}

/** The position of the first import: after a shebang line, and after directives such as "use strict". */
function beginOf(file: ts.SourceFile): number {
  const statements = [...file.statements];
  const directives = statements.findIndex(
    (one) => !ts.isExpressionStatement(one) || !ts.isStringLiteral(one.expression),
  );
  const last = directives < 0 ? statements.at(-1) : statements[directives - 1];
  if (last === undefined) return /^#!.*(?:\r?\n|$)/.exec(file.text)?.[0].length ?? 0;
  const line = file.text.indexOf("\n", last.end);
  return line < 0 ? file.text.length : line + 1;
}

function bare(file: string): string {
  return file.replace(/\.[cm]?[jt]s$/, "");
}

/** The names that a module exports by its syntax, each with whether it is only a type. */
function exportsOf(file: ts.SourceFile): Map<string, boolean> {
  const names = new Map<string, boolean>();
  for (const statement of file.statements) {
    if (ts.isExportDeclaration(statement)) {
      const { exportClause, isTypeOnly } = statement;
      if (!exportClause || !ts.isNamedExports(exportClause)) continue;
      for (const one of exportClause.elements) names.set(one.name.text, isTypeOnly || one.isTypeOnly);
      continue;
    }
    const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) : undefined;
    const kinds = new Set(modifiers?.map(({ kind }) => kind));
    if (!kinds.has(ts.SyntaxKind.ExportKeyword) || kinds.has(ts.SyntaxKind.DefaultKeyword)) continue;
    if (ts.isVariableStatement(statement)) {
      for (const { name } of statement.declarationList.declarations)
        if (ts.isIdentifier(name)) names.set(name.text, false);
    } else if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) {
      names.set(statement.name.text, true);
    } else if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)) {
      if (statement.name) names.set(statement.name.text, false);
    }
  }
  return names;
}
