import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";

const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe finds fault with on a page, in light and dark, and whether it has to be scrolled sideways. */
export async function faultsOf(page: Page): Promise<string[]> {
  const faults: string[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.evaluate(AXE);
    const { violations } = await page.evaluate<AxeResults>("axe.run()");
    for (const { id, nodes } of violations)
      for (const { html } of nodes) faults.push(`${colorScheme}, ${id}: ${html.slice(0, 200)}`);
  }
  const isTooWide = await page.evaluate<boolean>("document.documentElement.scrollWidth > window.innerWidth");
  return isTooWide ? [...faults, "too wide"] : faults;
}
