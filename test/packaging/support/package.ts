import { execFile } from "node:child_process";
import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

const ROOT = path.resolve(import.meta.dirname, "../../..");
const execute = promisify(execFile);

/** A package as created by `npm run pack`. */
export interface Packed {
  /** The archive. */
  file: string;
  /** Paths inside the package, in order. */
  files: string[];
}

/** Packs the packages of the project into a directory, built as for a release. Returns them by name. */
export async function packAll(directory: string): Promise<Record<string, Packed>> {
  const { stdout } = await execute("npm", ["run", "--silent", "pack", directory], { cwd: ROOT });
  const made = stdout.trim().split("\n");
  const packed = made.map(async (file) => {
    const { stdout: listed } = await execute("tar", ["-tzf", file]);
    const files = listed.trim().split("\n");
    const name = path.basename(file).replace(/-[0-9.]+\.tgz$/, "");
    return [name, { file, files: files.map((entry) => entry.replace("package/", "")).toSorted() }] as const;
  });
  return Object.fromEntries(await Promise.all(packed));
}

/** The total size of all files in a directory tree; a file with several hard links, such as esbuild's program, counts once. */
export async function bytesOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  const sizes = new Map((await Promise.all(files.map((file) => stat(file)))).map(({ ino, size }) => [ino, size]));
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}
