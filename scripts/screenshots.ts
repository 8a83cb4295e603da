// Takes screenshots of every console page with the demo's data: wide and phone, light and dark. Without an argument, writes the wide, light ones
// that the README shows to docs/screenshots; `npm run screenshots -- DIRECTORY` writes all of them to DIRECTORY.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Browser, Page } from "playwright-core";
import { launchChromium } from "../test/support/chromium.js";

const SIZES = { wide: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };
const SHOWN = ["today", "customer", "lifecycle"];
const LINK = /https?:\/\/\S+\/sign-in\?token=\S+/;

const all = process.argv[2];
const launched = await launchChromium();
if (typeof launched === "string") {
  console.error(`error: there is no browser: ${launched}`);
  process.exit(1);
}
const demo = spawn(process.execPath, ["dist/demo/main.js", "--keep", "--customers", "300"], {
  stdio: ["ignore", "pipe", "inherit"],
});
try {
  await takeAll(launched, await linkOf());
} finally {
  const ended = once(demo, "exit");
  demo.kill("SIGINT");
  await Promise.all([ended, launched.close()]);
}

/** The sign-in link of the demo's console, printed once everything is evaluated. */
async function linkOf(): Promise<string> {
  for await (const line of createInterface({ input: demo.stdout })) {
    const link = LINK.exec(line)?.[0];
    if (link !== undefined) return link;
  }
  throw new Error("the demo ended without a link to its console");
}

async function takeAll(browser: Browser, link: string): Promise<void> {
  const page = await browser.newPage();
  await page.goto(link);
  await page.getByRole("button", { name: "Continue" }).click();
  const sections = page.getByRole("navigation", { name: "Console" }).getByRole("link");
  const addresses = await sections.evaluateAll((links) => links.map((each) => (each as { href?: string }).href!));
  await waitForTrends(
    page,
    addresses.find((address) => nameOf(address) === "lifecycle")!,
  );
  for (const address of addresses) await take(page, address, nameOf(address));
  // A customer of the band critical, first in the reverse order of health.
  await page.goto(
    `${addresses.find((address) => nameOf(address) === "customers")!}?health=critical&sort=health-reverse`,
  );
  const customer = await page
    .locator("tbody a")
    .first()
    .evaluate((each) => (each as { href?: string }).href!);
  await take(page, customer, "customer");
}

/** Waits until the trends are complete; a job counts them every minute. */
async function waitForTrends(page: Page, address: string): Promise<void> {
  await page.goto(address);
  while (await page.getByText("still being counted").isVisible()) {
    await page.waitForTimeout(2000);
    await page.reload();
  }
}

function nameOf(address: string): string {
  return path.posix.basename(new URL(address).pathname);
}

async function take(page: Page, address: string, name: string): Promise<void> {
  await page.goto(address);
  for (const [size, viewport] of Object.entries(SIZES)) {
    await page.setViewportSize(viewport);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      const isShown = SHOWN.includes(name) && size === "wide" && colorScheme === "light";
      const directory = all ?? (isShown ? "docs/screenshots" : undefined);
      if (directory === undefined) continue;
      await mkdir(directory, { recursive: true });
      const file = all === undefined ? `${name}.png` : `${name}-${size}-${colorScheme}.png`;
      await page.screenshot({ path: path.join(directory, file) });
      console.log(path.join(directory, file));
    }
  }
}
