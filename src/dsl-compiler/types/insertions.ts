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
