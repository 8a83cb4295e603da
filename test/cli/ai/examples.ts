import { readFile } from "node:fs/promises";
import path from "node:path";

const ROOT = path.resolve(import.meta.dirname, "../../../examples");

/** The examples that are models of their own. */
export const EXAMPLES = ["cdnow", "ecommerce", "fines", "marketplace", "retail", "saas"];

/** An example's model as one module: what its modules say, each after those that it needs, without imports and exports among them. */
export async function inOneFile(example: string): Promise<string> {
  const config = path.join(ROOT, example, "svc.config.ts");
  const imported = new Set<string>();
  const bodies: string[] = [];
  const exported = new Map<string, string[]>();
  const wholes = new Map<string, string>();
  const seen = new Set<string>();
  const visit = async (file: string): Promise<void> => {
    if (seen.has(file)) return;
    seen.add(file);
    let text = await readFile(file, "utf8");
    for (const [, clause, from] of text.matchAll(/^import (\{[^}]*\}|\* as \w+) from "([^"]+)";\n/gm)) {
      const names = clause!
        .replace(/[{}]/g, "")
        .split(",")
        .map((name) => name.trim());
      if (from === "svc") for (const name of names) if (name !== "") imported.add(name);
      if (from === "svc") continue;
      const other = path.resolve(path.dirname(file), from!.replace(/\.js$/, ".ts"));
      await visit(other);
      if (clause!.startsWith("*")) wholes.set(clause!.slice(5), other);
    }
    text = text.replace(/^import (\{[^}]*\}|\* as \w+) from "[^"]+";\n/gm, "");
    exported.set(
      file,
      [...text.matchAll(/^export const (\w+)/gm)].map(([, name]) => name!),
    );
    bodies.push(text.replace(/^export const /gm, "const "));
  };
  await visit(config);
  let model = bodies.pop()!;
  for (const [whole, file] of wholes)
    model = model.replace(
      new RegExp(`(?<=defineModel\\([^]*[ {])${whole}(?=,| \\})`),
      `${whole}: [${exported.get(file)!.join(", ")}]`,
    );
  return `import { ${[...imported].join(", ")} } from "svc";\n${bodies.join("\n")}\n${model}`;
}
