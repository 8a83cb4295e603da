import { once } from "node:events";
import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Attacked, Outcome } from "../../../attacks/outcome.js";
import type { useRepositoryProgram } from "../../support/repository-program.js";

/** All at once for a few seconds. How long anything took is for nobody to look at: it depends on the machine. */
export async function attackAtOnce(
  attacks: ReturnType<typeof useRepositoryProgram>,
  names: readonly string[],
): Promise<{ outcome: Outcome; each: Attacked[] }> {
  const file = path.join(attacks.directory, "outcome.json");
  const child = attacks.start("--only", names.join(","), "--all-at-once", "--minutes", "0.1", "--json", file);
  child.stdout!.resume();
  await once(child, "exit");
  const { outcomes, each } = JSON.parse(await readFile(file, "utf8")) as { outcomes: [Outcome]; each: Attacked[] };
  return { outcome: outcomes[0], each };
}
