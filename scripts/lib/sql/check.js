// All rules for SQL files, applied to a project.
import { loadModule } from "libpg-query";
import { checkBodies } from "./bodies.js";
import { checkComments } from "./comments.js";
import { checkFormat } from "./format.js";
import { checkFunctionFile, checkTriggerFile } from "./functions.js";
import { checkInstall } from "./install.js";
import { readSources } from "./source.js";

export async function checkSql(root) {
  await loadModule();
  const { files, sources, problems } = await readSources(root);
  const under = (folder) => sources.filter((source) => source.name.startsWith(`${folder}/`));
  problems.push(...sources.flatMap(checkBodies));
  // Committed migrations are generated and never edited again, so the rules of form do not apply to them.
  problems.push(...under("sql").flatMap(checkFormat));
  problems.push(...under("sql/functions").flatMap(checkFunctionFile));
  problems.push(...under("sql/triggers").flatMap(checkTriggerFile));
  problems.push(...checkComments([...under("sql/schema"), ...under("sql/views")]));
  problems.push(...(await checkInstall(root)));
  problems.sort((a, b) => (a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1));
  return { files, problems };
}
