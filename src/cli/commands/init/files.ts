import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

import type { Environment } from "../../core/settings.js";
import { filled, PACKAGE } from "../../core/package.js";
import { shellWord } from "../../output/text.js";
import type { Stack } from "./names.js";

export interface Starter extends Record<"name" | "slug" | "organization" | "apiUrl" | "version", string> {
  stack: Stack;
  /** The environment that commands use unless told otherwise. */
  environment: Environment;
  /** Whether commands would look for the service there anyway. */
  isDefaultApi: boolean;
}

/** The folder of its templates: one that all starters have, and one per stack. */
const TEMPLATES = path.join(PACKAGE, "starter");

/** How the example of each stack is run, and what must be done once before: on this machine, and wherever the command is installed. */
export const EXAMPLES: Readonly<
  Record<Stack, { file: string; setupHere: readonly string[]; setup: readonly string[]; run: string }>
> = {
  node: {
    file: "instrumentation/track.mjs",
    // By its folder: npm would look up a name that it does not find in the public registry, where another package has it.
    setupHere: [`npm install --no-save ${shellWord(PACKAGE)}`],
    setup: ['npm install --no-save "$(npm root --global)/svc"'],
    run: "node instrumentation/track.mjs",
  },
  python: { file: "instrumentation/track.py", setupHere: [], setup: [], run: "python3 instrumentation/track.py" },
};

/** The files of a starter, by their paths with forward slashes, in the order of these. */
export async function starterFiles(starter: Starter): Promise<ReadonlyMap<string, string>> {
  const { name, slug, apiUrl, version, stack } = starter;
  const { file: track, setup, run } = EXAMPLES[stack];
  const words = {
    ...{ NAME: name, SLUG: slug, API_URL: apiUrl, VERSION: version, TRACK: track, RUN: run },
    CLIENT: stack === "node" ? ", `svc/client`" : ", `svc_client.py` beside it",
    SETUP: setup.map((line) => `${line}\n`).join(""),
  };
  const templates = await Promise.all(["common", stack].map((folder) => templatesOf(folder)));
  const written = templates.flat().map(([file, text]) => [file, filled(text, words)] as const);
  const files = [...written, [".kite/config.json", configOf(starter)] as const];
  return new Map(files.sort(([a], [b]) => (a < b ? -1 : 1)));
}

async function templatesOf(folder: string): Promise<(readonly [string, string])[]> {
  const root = path.join(TEMPLATES, folder);
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  return Promise.all(files.map(async (file) => [written(path.relative(root, file)), await readFile(file, "utf8")]));
}

/** Where a template is written to. A leading underscore stands for a dot: npm leaves some files with one out of packages. */
function written(template: string): string {
  return template
    .split(path.sep)
    .map((name) => name.replace(/^_(?!_)/, "."))
    .join("/");
}

function configOf({ slug, environment, organization, apiUrl, isDefaultApi }: Starter): string {
  const config = { project: slug, defaultEnvironment: environment, organization, ...(isDefaultApi ? {} : { apiUrl }) };
  return `${JSON.stringify(config, null, 2)}\n`;
}
