import { mkdir, mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { Page } from "playwright-core";

const SCHEMES = ["light", "dark"] as const;
const SIZES = { wide: { width: 1024, height: 768 }, phone: { width: 360, height: 740 } };

/** Screenshots of pages for people to look at; kept if SVC_SCREENSHOTS names a directory. */
export interface Screenshots {
  /** Takes the page in light and dark, wide and on a phone. Returns the sizes at which it has to be scrolled sideways. */
  take(page: Page, name: string): Promise<string[]>;
  /** Removes the screenshots unless SVC_SCREENSHOTS is set. */
  remove(): Promise<void>;
}

export async function openScreenshots(): Promise<Screenshots> {
  const keepIn = process.env["SVC_SCREENSHOTS"];
  const directory = keepIn ?? (await mkdtemp(path.join(os.tmpdir(), "svc-screenshots-")));
  await mkdir(directory, { recursive: true });
  return {
    take: async (page, name) => {
      const tooWide: string[] = [];
      for (const [size, viewport] of Object.entries(SIZES)) {
        await page.setViewportSize(viewport);
        if (await page.evaluate("document.documentElement.scrollWidth > window.innerWidth")) tooWide.push(size);
        for (const colorScheme of SCHEMES) {
          await page.emulateMedia({ colorScheme });
          await page.screenshot({ path: path.join(directory, `${name}-${size}-${colorScheme}.png`), fullPage: true });
        }
      }
      return tooWide;
    },
    remove: async () => {
      if (keepIn === undefined) await rm(directory, { recursive: true });
    },
  };
}
