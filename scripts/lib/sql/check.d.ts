/** A breach of a rule. Paths are from the project's root; lines count from 1. */
export interface SqlProblem {
  file: string;
  line: number;
  message: string;
}

/** Checks `sql/` and `migrations/` of the project in a directory: the number of files, and what is wrong, in order. */
export function checkSql(root: string): Promise<{ files: number; problems: SqlProblem[] }>;
