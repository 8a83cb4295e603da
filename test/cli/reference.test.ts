import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

import { referencePages } from "../../scripts/lib/reference-pages.js";

test("what README.md and docs/cli.md say of the commands is what these say of themselves; npm run docs writes it", async () => {
  for (const { file, text } of await referencePages()) expect(readFileSync(file, "utf8"), file.pathname).toBe(text);
});
