import { readFile } from "node:fs/promises";
import { format } from "oxfmt";

import { commandReference } from "./command-reference.js";

const MARKED = /(<!-- commands: begin[^>]*-->\n)[^]*?(<!-- commands: end -->)/;

export interface Page {
  file: URL;
  text: string;
}

/** The page that describes the commands, with the generated reference between its marks. */
export async function referencePage(): Promise<Page> {
  const file = new URL("../../docs/cli.md", import.meta.url);
  const text = await readFile(file, "utf8");
  if (!MARKED.test(text)) throw new Error("docs/cli.md has no marks for the commands");
  const generated = await commandReference();
  const written = text.replace(MARKED, (_all, begin: string, end: string) => `${begin}\n${generated}\n\n${end}`);
  return { file, text: (await format("cli.md", written)).code };
}
