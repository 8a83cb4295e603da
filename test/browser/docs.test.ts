import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { faultsOf } from "../support/axe.js";
import { launchChromium } from "../support/chromium.js";
import { INSTALL_MS_MAX } from "../support/debian.js";
import { startService, type Service } from "../support/service.js";

let launched: Browser | string;
let service: Service;
let page: Page;
beforeAll(async () => {
  launched = await launchChromium();
  service = await startService();
  if (typeof launched !== "string") page = await launched.newPage();
}, INSTALL_MS_MAX);
beforeEach(({ skip }) => {
  if (typeof launched === "string") return skip(launched);
});
afterAll(async () => {
  if (typeof launched !== "string") await launched.close();
  await service.stop();
});

describe.each([1280, 390])("the documentation, %i pixels wide", (width) => {
  it.each([
    "/docs",
    "/docs/search?q=idempotency+key",
    "/docs/search?q=xqzzyv",
    "/docs/tutorial",
    "/docs/webhooks",
    "/docs/formats",
    "/docs/operations/monitoring",
  ])("%s has no barrier, light or dark", async (path) => {
    await page.setViewportSize({ width, height: 900 });
    await page.goto(service.url + path);
    expect(await faultsOf(page)).toEqual([]);
  });
});

it("leads a reader with a keyboard from the search to the section", async () => {
  await page.goto(`${service.url}/docs/webhooks`);
  await page.getByRole("searchbox").focus();
  await page.keyboard.type("verifying a signature");
  await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
  expect(await page.getByRole("searchbox").inputValue()).toBe("verifying a signature");
  await page.getByRole("link", { name: "Receiving webhooks: Verifying" }).focus();
  await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
  expect(page.url()).toBe(`${service.url}/docs/webhooks#verifying`);
  await expect.poll(() => page.getByRole("heading", { name: "Verifying" }).isVisible()).toBe(true);
});
