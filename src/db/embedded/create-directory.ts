import { mkdir, stat } from "node:fs/promises";
import path from "node:path";
import { unlessMissing } from "./command.js";

/**
 * Creates a directory, and those above it, unless it is there; returns whether it was created. Not by `mkdir` with `recursive`: that of Node.js
 * 20 never ends if a directory that is there, such as /proc, answers that it is not.
 */
export async function createDirectory(directory: string, mode = 0o777): Promise<boolean> {
  if (await isDirectory(directory)) return false;
  const parent = path.dirname(directory);
  if (parent !== directory) await createDirectory(parent, mode);
  try {
    await mkdir(directory, mode);
    return true;
  } catch (error) {
    const wasQuicker = (error as NodeJS.ErrnoException).code === "EEXIST" && (await isDirectory(directory));
    if (wasQuicker) return false; // another process
    throw error;
  }
}

async function isDirectory(directory: string): Promise<boolean> {
  return (await unlessMissing(stat(directory), null))?.isDirectory() ?? false;
}
