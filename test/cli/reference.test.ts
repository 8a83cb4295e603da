import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

import { referencePage } from "../../scripts/lib/reference-page.js";

test("what docs/cli.md says of the commands is what these say of themselves; npm run docs writes it", async () => {
  const { file, text } = await referencePage();
  expect(readFileSync(file, "utf8")).toBe(text);
});
