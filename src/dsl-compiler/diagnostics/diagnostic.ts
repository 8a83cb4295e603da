import { readFile } from "node:fs/promises";
import path from "node:path";
import type ts from "typescript";
import { fixFor } from "./fixes.js";

/** A finding for the author. Errors make the compilation fail; warnings do so only on request. */
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
  /** The end of the marked text, if known: the line, from 1, and the column after the last character. */
  endLine?: number;
  endColumn?: number;
  /** The marked lines of the source, from `line` on; at most four. */
  source?: string[];
  /** How to fix it. */
  fix?: string;
  /** The replacements that `svc validate --fix` makes, if only one thing can be meant. */
  edits?: Edit[];
  /** The code of a TypeScript error: `TS2551`. */
  typescript?: string;
}

/** A place in the author's sources. */
export type Location = Required<Pick<Diagnostic, "file" | "line" | "column">>;

/** A place with its end. */
export type Range = Location & Required<Pick<Diagnostic, "endLine" | "endColumn">>;

/** A text that replaces the one in a range. */
export type Edit = Range & { text: string };

/** The range of a part of a file as diagnostics give it: lines and columns from 1, the file relative to the author's folder. */
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

/** Makes a diagnostic, with its place and its fix if known. */
export function diagnostic(
  severity: Diagnostic["severity"],
  code: string,
  message: string,
  location?: Location,
  fix = fixFor(code),
): Diagnostic {
  return { code, severity, message, ...location, ...(fix === undefined ? {} : { fix }) };
}

/** The most source lines that a diagnostic shows. */
const LINES = 4;

/** Adds the author's lines to diagnostics that have a place. */
export async function withSource(diagnostics: readonly Diagnostic[], directory: string): Promise<Diagnostic[]> {
  const files = new Map<string, string[]>();
  for (const { file } of diagnostics) {
    if (file !== undefined && !files.has(file)) files.set(file, await linesOf(path.join(directory, file)));
  }
  return diagnostics.map((found) => {
    const { code, file, line, endLine = line } = found;
    // A file that is not UTF-8 has no lines to show.
    if (code === "NOT_UTF8" || file === undefined || line === undefined || endLine === undefined) return found;
    const source = files.get(file)!.slice(line - 1, Math.min(endLine, line - 1 + LINES));
    return source.length > 0 ? { ...found, source } : found;
  });
}

async function linesOf(file: string): Promise<string[]> {
  try {
    return (await readFile(file, "utf8")).split(/\r?\n/);
  } catch {
    // A file that cannot be read is reported elsewhere; it has no lines to show.
    return [];
  }
}
