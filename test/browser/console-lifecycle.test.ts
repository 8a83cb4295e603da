import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startSession } from "../console/support/session.js";
import { happened, inactiveFor, snapshotOf, type StepParts } from "../engine/support/builders.js";
import { useSpec } from "../spec/support/fixture.js";
import { launchChromium } from "../support/chromium.js";
import { INSTALL_MS_MAX } from "../support/debian.js";

const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const names = ["signed_up", "invited", "paid"];
const steps: StepParts[] = [
  ["invite", happened("invited")],
  ["pay", happened("paid")],
];
const MODEL = snapshotOf({
  events: Object.fromEntries(names.map((name) => [name, { properties: {} }])),
  states: {
    new: [["customer_with_a_rather_long_name", happened("paid")]],
    customer_with_a_rather_long_name: [["gone", inactiveFor("10d")]],
    gone: [["customer_with_a_rather_long_name", happened("invited")]],
  },
  journeys: { onboarding: { start: happened("signed_up"), steps, expiresAfter: "30d" } },
});

const fixture = useSpec();
let launched: Browser | string;
let page: Page;
/** What the browser complains about: failures of scripts, and what a page's policy forbade. */
const complaints: string[] = [];
beforeAll(async () => {
  launched = await launchChromium();
  await fixture.deploy(MODEL);
  const event = (customerId: string, event: string, days: number) => ({
    ...{ customerId, event },
    timestamp: new Date(Date.now() - days * 86_400_000).toISOString(),
  });
  await fixture.batch([
    ...Array.from({ length: 12 }, (_, n) => event(`c${n}`, "signed_up", 2 * n)),
    ...Array.from({ length: 8 }, (_, n) => event(`c${n}`, "invited", n)),
    ...Array.from({ length: 5 }, (_, n) => event(`c${n}`, "paid", n)),
  ]);
  await fixture.evaluate();
  if (typeof launched === "string") return;
  const context = await launched.newContext();
  const value = await startSession(fixture.service.db.sql, "owner@acme.example");
  await context.addCookies([{ name: "svc_session", value, url: fixture.service.url }]);
  page = await context.newPage();
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
}, INSTALL_MS_MAX);
beforeEach(({ skip }) => {
  if (typeof launched === "string") return skip(launched);
});
afterAll(async () => {
  if (typeof launched !== "string") await launched.close();
});

const addressOf = (path: string) => `${fixture.service.url}/console/acme/app/${path}`;

/** What axe finds fault with, and whether the page has to be scrolled sideways. */
async function faults(): Promise<string[]> {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate<AxeResults>("axe.run()");
  const isTooWide = await page.evaluate<boolean>("document.documentElement.scrollWidth > window.innerWidth");
  return [
    ...violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`)),
    ...(isTooWide ? ["too wide"] : []),
  ];
}

describe.each([1280, 390])("%i pixels wide", (width) => {
  it.each([
    "test/lifecycle",
    "test/lifecycle?every=week",
    "test/transitions?entered=new",
    "test/journeys",
    "test/journey?id=onboarding",
    "test/journey-runs?id=onboarding",
    "live/lifecycle",
    "live/journeys",
  ])("%s has no barrier, light or dark, also where all is unfolded", async (path) => {
    await page.setViewportSize({ width, height: 900 });
    await page.goto(addressOf(path));
    await page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })");
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await faults(), colorScheme).toEqual([]);
    }
    expect(complaints).toEqual([]);
  });
});

it("with a keyboard one goes from an arrow of the lifecycle to the customers who went that way", async () => {
  await page.goto(addressOf("test/lifecycle"));
  const arrow = page.getByRole("link", { name: "new to customer_with_a_rather_long_name: 5" });
  await arrow.focus();
  await Promise.all([page.waitForURL(/transitions/), page.keyboard.press("Enter")]);
  await expect.poll(() => page.locator("tbody tr").count()).toBe(5);
});
