import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

import { compileProject } from "../../src/dsl-compiler/index.js";
import { project } from "./project.js";

it.each(["docs/model.md", "docs/quickstart.md"])(
  "the models in %s compile without a warning and have the right types",
  async (document) => {
    const guide = await readFile(fileURLToPath(new URL(`../../${document}`, import.meta.url)), "utf8");
    const blocks = [...guide.matchAll(/<!-- test\/dsl-compiler\/guide\.test\.ts[^\n]*\n\n```ts\n([\s\S]*?)```/g)];
    expect(blocks).not.toEqual([]);
    for (const [, block] of blocks) {
      const directory = await project({ "svc.config.ts": block! });
      expect(await compileProject(directory, { types: true })).toMatchObject({ ok: true, warnings: [] });
    }
  },
);
