import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";

const ROOT = path.resolve(import.meta.dirname, "../../..");

/** A package as `npm pack` makes it. */
export interface Packed {
  /** The archive. */
  file: string;
  /** Paths inside the package, in order. */
  files: string[];
  /** Of the archive. */
  bytes: number;
}

/** Packs the project into a directory, built as it is for a release. */
export async function pack(directory: string): Promise<Packed> {
  const argv = ["pack", "--json", "--pack-destination", directory];
  const { stdout } = await promisify(execFile)("npm", argv, { cwd: ROOT, maxBuffer: 64 * 1024 * 1024 });
  const [made] = JSON.parse(stdout) as [{ filename: string; size: number; files: { path: string }[] }];
  return {
    file: path.join(directory, made.filename),
    files: made.files.map((file) => file.path).toSorted(),
    bytes: made.size,
  };
}
