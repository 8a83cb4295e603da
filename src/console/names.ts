import type { Visit } from "./console-page.js";

/** As many of the longest ids as a question takes. */
const NAMED_AT_ONCE = 40;

/** How the model's display calls these customers, by their ids; those without a name are left out. */
export async function namesOf(
  { ask, model }: Pick<Visit, "ask" | "model">,
  customerIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const trait = model?.display?.name;
  const names = new Map<string, string>();
  if (trait === undefined) return names;
  const ids = [...new Set(customerIds)];
  for (let from = 0; from < ids.length; from += NAMED_AT_ONCE) {
    const customers = JSON.stringify(ids.slice(from, from + NAMED_AT_ONCE));
    const texts = await ask("traits", { customers, names: JSON.stringify([trait]) });
    for (const [id, { [trait]: name }] of Object.entries(texts)) if (name) names.set(id, name);
  }
  return names;
}
