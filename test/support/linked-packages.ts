import { mkdir, symlink } from "node:fs/promises";
import path from "node:path";

const ROOT = path.resolve(import.meta.dirname, "../..");

/** Links this checkout's built packages of the language and the client into a directory, as `npm install` of their folders would. */
export async function linkPackages(directory: string): Promise<void> {
  const packages = path.join(directory, "node_modules");
  await mkdir(packages);
  await symlink(ROOT, path.join(packages, "svc-success"));
  await symlink(path.join(ROOT, "dist/client"), path.join(packages, "svc-success-client"));
}
