import { readFile } from "node:fs/promises";
import path from "node:path";

import type { Diagnostic } from "./diagnostic.js";

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
