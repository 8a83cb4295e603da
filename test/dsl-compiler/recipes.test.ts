import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

import { compileProject } from "../../src/dsl-compiler/index.js";
import { project } from "./project.js";
import { markdownOf, play, recipesOf } from "./stories.js";

const PAGE = fileURLToPath(new URL("../../docs/recipes.md", import.meta.url));
// To update the recipes: RECIPES=write npx vitest run test/dsl-compiler/recipes.test.ts && npx oxfmt docs/recipes.md
const WRITE = process.env["RECIPES"] === "write";

const page = await readFile(PAGE, "utf8");
const recipes = recipesOf(page);

it("every block of docs/recipes.md is a recipe's model, and every recipe has a story", () => {
  expect(page.match(/^```\w/gm)).toHaveLength(recipes.length);
  expect(recipes.filter(({ stories }) => stories.length === 0)).toEqual([]);
  const rows = recipes.flatMap(({ stories }) => stories.flatMap((story) => story.rows));
  expect(page.match(/^\| \d\d-\d\d/gm)).toHaveLength(rows.length);
});

it("the models of docs/recipes.md have the right types", async () => {
  const modules = recipes.map(({ model }, n) => [`recipe-${n}.ts`, model]);
  const imports = recipes.map((_, n) => `import "./recipe-${n}.js";\n`).join("");
  const config = `import { defineModel } from "svc-success";\n${imports}export default defineModel({});\n`;
  const directory = await project({ "svc.config.ts": config, ...Object.fromEntries(modules) });
  expect(await compileProject(directory, { types: true })).toMatchObject({ ok: true });
});

describe.each(recipes)("$title", ({ model, stories }) => {
  it("compiles without a warning, and its stories match the engine", async () => {
    const compiled = await compileProject(await project({ "svc.config.ts": model }));
    expect(compiled).toMatchObject({ ok: true, warnings: [] });
    if (!compiled.ok) return;
    for (const story of stories) {
      const rows = play(compiled, story);
      if (WRITE) await write(page.slice(story.start, story.end), rows.map(markdownOf).join(""));
      else expect(story.rows).toEqual(rows);
    }
  });
});

/** Replaces a story in the current page, in which earlier stories may have been replaced already. */
async function write(former: string, rows: string): Promise<void> {
  const text = await readFile(PAGE, "utf8");
  if (!text.includes(former)) throw new Error(`the page has no such rows any more:\n${former}`);
  await writeFile(
    PAGE,
    text.replace(former, () => rows),
  );
}
