import { readFile } from "node:fs/promises";
import path from "node:path";

/** The package.json of one of this tree's packages: the members in `packages/<name>`, and those common to all. */
export async function manifestOf(root, name) {
  const read = async (folder) => JSON.parse(await readFile(path.join(root, folder, "package.json"), "utf8"));
  const [{ version, license, type, engines }, own] = await Promise.all([read("."), read(`packages/${name}`)]);
  return { ...own, version, license, type, engines };
}
