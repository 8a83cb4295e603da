// Writes what docs/cli.md and README.md say of the commands, from the commands themselves: npm run docs
// A test compares, so that no command changes without them.
import { writeFile } from "node:fs/promises";

import { referencePages } from "./lib/reference-pages.js";

for (const { file, text } of await referencePages()) await writeFile(file, text);
