// The order of installation is a manually maintained list; a file that is missing from it would never be installed.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { sqlFiles } from "./source.js";

const LIST = "sql/install.json";

export async function checkInstall(root) {
  const files = await sqlFiles(root, "sql");
  let text;
  try {
    text = await readFile(path.join(root, LIST), "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return [{ file: LIST, line: 1, message: "the list of files to install is missing" }];
    throw error;
  }
  let lists;
  try {
    lists = Object.values(JSON.parse(text));
  } catch (error) {
    return [{ file: LIST, line: 1, message: `not JSON: ${error.message}` }];
  }
  const listed = lists.flat();
  const lineOf = (name) => text.slice(0, text.lastIndexOf(JSON.stringify(name))).split("\n").length;
  return [
    ...files
      .filter((file) => !listed.includes(file))
      .map((file) => ({ file, line: 1, message: `not listed in ${LIST}, so it is never installed` })),
    ...[...new Set(listed)].flatMap((name) => {
      const count = listed.filter((other) => other === name).length;
      if (count > 1) return [{ file: LIST, line: lineOf(name), message: `${name} is listed ${count} times` }];
      return files.includes(name) ? [] : [{ file: LIST, line: lineOf(name), message: `there is no file ${name}` }];
    }),
  ];
}
