// Generates the command reference in docs/cli.md from the commands: npm run docs
// A test compares the two, so that no command changes without the page.
import { writeFile } from "node:fs/promises";

import { referencePage } from "./lib/reference-page.js";

const { file, text } = await referencePage();
await writeFile(file, text);
