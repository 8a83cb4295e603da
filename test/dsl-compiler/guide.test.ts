import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

import { compileProject } from "../../src/dsl-compiler/index.js";
import { project } from "./project.js";

it.each(["docs/model.md", "docs/quickstart.md"])(
  "the model in %s compiles without a warning and has the right types",
  async (document) => {
    const guide = await readFile(fileURLToPath(new URL(`../../${document}`, import.meta.url)), "utf8");
    const block = /<!-- test\/dsl-compiler\/guide\.test\.ts[^\n]*\n\n```ts\n([\s\S]*?)```/.exec(guide)?.[1];
    if (block === undefined) throw new Error(`${document} has no such block`);
    const directory = await project({ "svc.config.ts": block });
    expect(await compileProject(directory, { types: true })).toMatchObject({ ok: true, warnings: [] });
  },
);
