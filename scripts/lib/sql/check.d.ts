/** A violation of a rule. Paths are relative to the project's root; lines count from 1. */
export interface SqlProblem {
  file: string;
  line: number;
  message: string;
}

/** Checks `sql/` and `migrations/` of the project in a directory. Returns the number of files, and the problems in order. */
export function checkSql(root: string): Promise<{ files: number; problems: SqlProblem[] }>;
