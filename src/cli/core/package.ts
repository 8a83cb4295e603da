// What comes with this package: its version, and the templates of texts that commands write.
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of this package. The same from the sources and as built. */
export const PACKAGE = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../..");

/** The version of this program, which is that of the service it came with. */
export function version(): string {
  return (JSON.parse(readFileSync(path.join(PACKAGE, "package.json"), "utf8")) as { version: string }).version;
}

/** Words by the names that stand for them in a template, such as `{{SLUG}}`. */
export type Words = Readonly<Record<string, string>>;

/** A template of the folder `starter`, filled. */
export function fromTemplate(file: string, words: Words = {}): string {
  return filled(readFileSync(path.join(PACKAGE, "starter", file), "utf8"), words);
}

/** A text with words in the place of their names. Where a name has a line of its own, each line of its word is indented as it is, and an empty word has none. */
export function filled(text: string, words: Words): string {
  const name = /^( *)\{\{([A-Z_]+)\}\}\n|\{\{([A-Z_]+)\}\}/gm;
  return text.replace(name, (whole, indentation: string, line?: string, within?: string) => {
    const word = words[line ?? within!];
    if (word === undefined || line === undefined) return word ?? whole;
    return word === "" ? "" : `${word.replace(/^/gm, indentation)}\n`;
  });
}
