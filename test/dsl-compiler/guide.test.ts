import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

import { compileProject } from "../../src/dsl-compiler/index.js";
import { project } from "./project.js";

const GUIDE = fileURLToPath(new URL("../../docs/model.md", import.meta.url));

it("the model in docs/model.md compiles without a warning and has the right types", { timeout: 60_000 }, async () => {
  const guide = await readFile(GUIDE, "utf8");
  const block = /<!-- test\/dsl-compiler\/guide\.test\.ts[^\n]*\n\n```ts\n([\s\S]*?)```/.exec(guide)?.[1];
  if (block === undefined) throw new Error("docs/model.md has no such block");
  const directory = await project({ "svc.config.ts": block });
  expect(await compileProject(directory, { types: true })).toMatchObject({ ok: true, warnings: [] });
});
