// Writes what docs/cli.md says of the commands, from the commands themselves: npm run docs
// A test compares, so that no command changes without it.
import { writeFile } from "node:fs/promises";

import { referencePage } from "./lib/reference-page.js";

const { file, text } = await referencePage();
await writeFile(file, text);
