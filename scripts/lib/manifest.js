import { readFile } from "node:fs/promises";
import path from "node:path";

/** The package.json of one of the packages of this tree: what `packages/<name>` says, and what holds for all of them. */
export async function manifestOf(root, name) {
  const read = async (folder) => JSON.parse(await readFile(path.join(root, folder, "package.json"), "utf8"));
  const [{ version, license, type, engines }, own] = await Promise.all([read("."), read(`packages/${name}`)]);
  return { ...own, version, license, type, engines };
}
