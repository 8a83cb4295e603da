import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";

const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/**
 * Each width and each colour scheme once, because colours do not depend on the width, nor the layout on colours; and the second time only the
 * rules that depend on one of them.
 */
const LOOKS = [
  { width: 1280, colorScheme: "light", rules: {} },
  {
    width: 390,
    colorScheme: "dark",
    rules: { runOnly: ["color-contrast", "link-in-text-block", "scrollable-region-focusable"] },
  },
] as const;

/** The violations that axe finds on a page, wide and light as well as narrow and dark, and the widths that need horizontal scrolling. */
export async function faultsOf(page: Page): Promise<string[]> {
  const faults: string[] = [];
  await page.evaluate(AXE);
  for (const { width, colorScheme, rules } of LOOKS) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    const options = JSON.stringify({ resultTypes: ["violations"], ...rules });
    const { violations } = await page.evaluate<AxeResults>(`axe.run(${options})`);
    for (const { id, nodes } of violations)
      for (const { html } of nodes) faults.push(`${colorScheme}, ${id}: ${html.slice(0, 200)}`);
    if (await page.evaluate<boolean>("document.documentElement.scrollWidth > window.innerWidth"))
      faults.push(`too wide for ${width} pixels`);
  }
  return faults;
}

/** Opens all `details`, whose content axe would skip otherwise. */
export async function unfold(page: Page): Promise<void> {
  await page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })");
}
