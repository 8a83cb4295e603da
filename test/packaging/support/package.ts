import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
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
  const answer = await npm(ROOT, ["pack", "--json", "--pack-destination", directory]);
  const [made] = JSON.parse(answer) as [{ filename: string; size: number; files: { path: string }[] }];
  return {
    file: path.join(directory, made.filename),
    files: made.files.map((file) => file.path).toSorted(),
    bytes: made.size,
  };
}

/** Installs the package, with what it needs to run, in a new directory; answers where its commands are. */
export async function install(packed: Packed, directory: string): Promise<string> {
  await mkdir(directory, { mode: 0o711 }); // as root, the embedded server's programs run as another user
  await npm(directory, ["install", "--omit=dev", "--prefer-offline", "--no-audit", "--no-fund", packed.file]);
  return path.join(directory, "node_modules/.bin");
}

/** Answers what npm writes to standard output; throws with the rest of what it says where it fails. */
async function npm(directory: string, argv: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)("npm", argv, { cwd: directory, maxBuffer: 64 * 1024 * 1024 });
  return stdout;
}
