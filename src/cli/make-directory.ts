import { mkdirSync, statSync } from "node:fs";
import path from "node:path";

/**
 * Makes a directory and those above it, and returns the outermost one that it made; undefined where all were there. Not by `recursive`, which
 * never ends where the file system takes no directories, as in /proc (Node.js 20).
 *
 * @param mode of those that it makes
 */
export function makeDirectory(directory: string, mode = 0o777): string | undefined {
  if (isDirectory(directory)) return undefined;
  const above = makeDirectory(path.dirname(directory), mode);
  try {
    mkdirSync(directory, { mode });
  } catch (error) {
    // Somebody else may have made it in between.
    if (isDirectory(directory)) return above;
    throw error;
  }
  return above ?? directory;
}

function isDirectory(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isDirectory() === true;
}
