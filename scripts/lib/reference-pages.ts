import { readFile } from "node:fs/promises";
import { format, resolveConfig } from "prettier";

import { commandOverview, commandReference } from "./command-reference.js";

const MARKED = /(<!-- commands: begin[^>]*-->\n)[^]*?(<!-- commands: end -->)/;

export interface Page {
  file: URL;
  text: string;
}

/** The pages that describe the commands, with what those say of themselves between their marks. */
export async function referencePages(): Promise<Page[]> {
  return Promise.all([page("docs/cli.md", await commandReference()), page("README.md", commandOverview())]);
}

async function page(name: string, generated: string): Promise<Page> {
  const file = new URL(`../../${name}`, import.meta.url);
  const text = await readFile(file, "utf8");
  if (!MARKED.test(text)) throw new Error(`${name} has no marks for the commands`);
  const written = text.replace(MARKED, (_all, begin: string, end: string) => `${begin}\n${generated}\n\n${end}`);
  return { file, text: await format(written, { ...(await resolveConfig(file)), parser: "markdown" }) };
}
