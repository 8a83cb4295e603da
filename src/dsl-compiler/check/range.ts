import path from "node:path";
import type ts from "typescript";
import type { Range } from "../diagnostics/diagnostic.js";

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

/** Text that was inserted before a place of the original: line and column from 1. */
export interface Insertion {
  line: number;
  column: number;
  length: number;
}

/** The column of the original for a place of a rewritten file; lines are the same. */
export function originalColumn(insertions: readonly Insertion[], line: number, column: number): number {
  let original = column;
  for (const insertion of insertions) {
    if (insertion.line === line && insertion.column + insertion.length <= original) original -= insertion.length;
  }
  return original;
}
