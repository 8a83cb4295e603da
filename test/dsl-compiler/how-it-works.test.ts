import { readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

import { compileProject } from "../../src/dsl-compiler/index.js";
import { project } from "./project.js";
import { markdownOf, play, recipesOf } from "./stories.js";

const PAGE = fileURLToPath(new URL("../../docs/how-it-works.md", import.meta.url));
// To update the story: HOW=write npx vitest run test/dsl-compiler/how-it-works.test.ts && npx oxfmt docs/how-it-works.md
const WRITE = process.env["HOW"] === "write";

const page = await readFile(PAGE, "utf8");

it("the story of docs/how-it-works.md matches the engine", async () => {
  const [{ model, stories }, ...rest] = recipesOf(page) as [ReturnType<typeof recipesOf>[0]];
  expect([rest, stories.length, page.match(/^```\w/gm)?.length]).toEqual([[], 1, 1]);
  const compiled = await compileProject(await project({ "svc.config.ts": model }), { types: true });
  expect(compiled).toMatchObject({ ok: true, warnings: [] });
  if (!compiled.ok) return;
  const [story] = stories;
  const rows = play(compiled, story!);
  if (WRITE)
    await writeFile(PAGE, page.slice(0, story!.start) + rows.map(markdownOf).join("") + page.slice(story!.end));
  else expect(story!.rows).toEqual(rows);
  // Also what it says about a replay, in which the late event has its place in time.
  const looks = { sent: "", emissions: "", customer: "" };
  const inOrder = ["03-01 09:00", "03-05 09:00"].map((at) => ({ ...looks, at, sent: "`login`" }));
  const replayed = play(compiled, { ...story!, rows: [...inOrder, { ...looks, at: "03-20 09:00" }] });
  expect(replayed.at(-1)!.emissions).toBe("`customer.at_risk` at 03-12 09:00");
});

it("each promise links to an existing test", () => {
  const links = [...page.matchAll(/\[([^\]]+)\]\(\.\.\/(test\/[^)]+)\)/g)];
  expect(links.length).toBeGreaterThan(20);
  for (const [, title, file] of links) {
    if (title === file) continue;
    const source = readFileSync(path.resolve(path.dirname(PAGE), "..", file!), "utf8");
    expect(source.includes(`"${title}"`), `${file}: ${title}`).toBe(true);
  }
});
