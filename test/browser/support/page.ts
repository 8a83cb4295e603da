import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { launchChromium } from "../../support/chromium.js";
import { INSTALL_MS_MAX } from "../../support/debian.js";

const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "localhost"]);

interface Opened {
  readonly page: Page;
  /** Script errors, policy violations and requests to other hosts that the browser reported in this test. */
  readonly complaints: string[];
}

/**
 * A page for all tests of the file, which are skipped if there is no browser.
 *
 * @param prepare prepares the browser context; it runs after the `beforeAll` hooks that precede this call
 */
export function usePage(prepare: (context: BrowserContext) => Promise<void> = async () => undefined): Opened {
  let launched: Browser | string;
  const opened: { page: Page | undefined; complaints: string[] } = { page: undefined, complaints: [] };
  beforeAll(async () => {
    launched = await launchChromium();
    if (typeof launched === "string") return;
    const context = await launched.newContext();
    await prepare(context);
    opened.page = await context.newPage();
    opened.page.on("console", (message) => message.type() === "error" && opened.complaints.push(message.text()));
    opened.page.on("pageerror", (error) => opened.complaints.push(error.message));
    opened.page.on("request", (request) => {
      if (!LOOPBACK.has(new URL(request.url()).hostname)) opened.complaints.push(request.url());
    });
  }, INSTALL_MS_MAX);
  beforeEach(({ skip }) => {
    if (typeof launched === "string") return skip(launched);
    opened.complaints.length = 0;
  });
  afterAll(async () => {
    if (typeof launched !== "string") await launched.close();
  });
  return opened as Opened;
}
