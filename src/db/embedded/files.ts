import { mkdir, open, stat } from "node:fs/promises";
import path from "node:path";

/** The result of a file operation, or `otherwise` if the file does not exist. */
export async function unlessMissing<T, O>(operation: Promise<T>, otherwise: O): Promise<T | O> {
  try {
    return await operation;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return otherwise;
    throw error;
  }
}

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

/** Makes a rename in the directory durable; Windows cannot open directories and does not need this. */
export async function flushDirectory(directory: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(directory, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
