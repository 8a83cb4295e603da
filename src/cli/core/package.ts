// The package's own files: its version, and the templates of texts that commands write.
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of this package; the relative path is the same from the sources and from the build. */
export const PACKAGE = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../..");

/** The version of this program, which is also that of the service it ships with. */
export function version(): string {
  return (JSON.parse(readFileSync(path.join(PACKAGE, "package.json"), "utf8")) as { version: string }).version;
}

/** Texts by the names of their placeholders in a template, such as `{{SLUG}}`. */
export type Words = Readonly<Record<string, string>>;

/** A template of the folder `starter`, with its placeholders filled. */
export function fromTemplate(file: string, words: Words = {}): string {
  return fillTemplate(readFileSync(path.join(PACKAGE, "starter", file), "utf8"), words);
}

/** A text with its placeholders filled. A placeholder on a line by itself indents every line of its text, and an empty text removes that line. */
export function fillTemplate(text: string, words: Words): string {
  const placeholder = /^( *)\{\{([A-Z_]+)\}\}\n|\{\{([A-Z_]+)\}\}/gm;
  return text.replace(placeholder, (match, indentation: string, line?: string, within?: string) => {
    const word = words[line ?? within!];
    if (word === undefined || line === undefined) return word ?? match;
    return word === "" ? "" : `${word.replace(/^/gm, indentation)}\n`;
  });
}
