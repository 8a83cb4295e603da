import { readFile } from "node:fs/promises";
import path from "node:path";
import type ts from "typescript";
import { fixFor } from "./fixes.js";

/** Something to tell the author. Errors block; warnings do not, unless they are asked to. */
export interface Diagnostic {
  /** Stable, in capitals. */
  code: string;
  severity: "error" | "warning";
  message: string;
  /** Relative to the project, with forward slashes. */
  file?: string;
  /** From 1. */
  line?: number;
  /** From 1, in UTF-16 units. */
  column?: number;
  /** Where the marked text ends, where that is known: the line, from 1, and the column after the last character. */
  endLine?: number;
  endColumn?: number;
  /** The author's lines from `line` on: at most four of those that are marked. */
  source?: string[];
  /** What to do about it. */
  fix?: string;
  /** What `svc validate --fix` writes, where only one thing can be meant: texts that take the place of others. */
  edits?: Edit[];
  /** The number of an error of the type checker: `TS2551`. */
  typescript?: string;
}

/** A place in the author's sources. */
export type Location = Required<Pick<Diagnostic, "file" | "line" | "column">>;

/** A place with its end. */
export type Range = Location & Required<Pick<Diagnostic, "endLine" | "endColumn">>;

/** A text that takes the place of another. */
export type Edit = Range & { text: string };

/** The place of a part of a file, for people: lines and columns from 1, the file relative to the author's folder. */
export function rangeOf(file: ts.SourceFile, start: number, end: number, directory: string): Range {
  const from = file.getLineAndCharacterOfPosition(start);
  const to = file.getLineAndCharacterOfPosition(Math.max(start, end));
  return {
    file: relative(directory, file.fileName),
    line: from.line + 1,
    column: from.character + 1,
    endLine: to.line + 1,
    endColumn: to.character + 1,
  };
}

/** A path relative to the author's folder, with forward slashes. */
export function relative(directory: string, file: string): string {
  return path.relative(directory, file).split(path.sep).join("/");
}

/** Makes a diagnostic, with its place where that is known and its fix where there is one. */
export function diagnostic(
  severity: Diagnostic["severity"],
  code: string,
  message: string,
  location?: Location,
  fix = fixFor(code),
): Diagnostic {
  return { code, severity, message, ...location, ...(fix === undefined ? {} : { fix }) };
}

/** What is marked over more lines than this is told by its first ones. */
const LINES = 4;

/** Adds the author's lines to diagnostics that have a place. */
export async function withSource(diagnostics: readonly Diagnostic[], directory: string): Promise<Diagnostic[]> {
  const files = new Map<string, string[]>();
  for (const { file } of diagnostics) {
    if (file !== undefined && !files.has(file)) files.set(file, await linesOf(path.join(directory, file)));
  }
  return diagnostics.map((found) => {
    const { code, file, line, endLine = line } = found;
    // A file that is no text has no lines to show.
    if (code === "NOT_UTF8" || file === undefined || line === undefined || endLine === undefined) return found;
    const source = files.get(file)!.slice(line - 1, Math.min(endLine, line - 1 + LINES));
    return source.length > 0 ? { ...found, source } : found;
  });
}

async function linesOf(file: string): Promise<string[]> {
  try {
    return (await readFile(file, "utf8")).split(/\r?\n/);
  } catch {
    // A file that cannot be read is told as such; it has no lines to show.
    return [];
  }
}
