import { expect, it } from "vitest";
import { useSpec } from "../spec/support/fixture.js";
import { faultsOf } from "../support/axe.js";
import { usePage } from "./support/page.js";

const fixture = useSpec();
const browser = usePage();

it.each([
  "/docs",
  "/docs/search?q=idempotency+key",
  "/docs/search?q=xqzzyv",
  "/docs/tutorial",
  "/docs/formats",
  "/docs/operations/monitoring",
])("%s is accessible, wide or narrow, light or dark", async (path) => {
  const { page, complaints } = browser;
  await page.goto(fixture.service.url + path);
  expect(await faultsOf(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

it("leads from the search to the section by keyboard", async () => {
  const { page } = browser;
  await page.goto(`${fixture.service.url}/docs/webhooks`);
  await page.getByRole("searchbox").focus();
  await page.keyboard.type("verifying a signature");
  await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
  expect(await page.getByRole("searchbox").inputValue()).toBe("verifying a signature");
  await page.getByRole("link", { name: "Receiving webhooks: Verifying" }).focus();
  await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
  expect(page.url()).toBe(`${fixture.service.url}/docs/webhooks#verifying`);
  await expect.poll(() => page.getByRole("heading", { name: "Verifying" }).isVisible()).toBe(true);
});
