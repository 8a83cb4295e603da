import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startSession } from "../console/support/session.js";
import { useSpec } from "../spec/support/fixture.js";
import { launchChromium } from "../support/chromium.js";
import { INSTALL_MS_MAX } from "../support/debian.js";
import { snapshot } from "../support/service.js";

const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const LONG = `${"long_".repeat(50)}🦊`;

const fixture = useSpec();
let launched: Browser | string;
let page: Page;
const errors: string[] = [];

beforeAll(async () => {
  const paying = { kind: "trait", trait: "plan", operator: "eq", value: "pro" } as const;
  const login = { kind: "event", of: { event: "login" } } as const;
  await fixture.deploy(
    snapshot({
      segments: [
        { id: "paying", when: { kind: "all", conditions: [paying, { kind: "activeWithin", duration: "7d" }] } },
        { id: "chosen" },
      ],
      signals: [
        { id: "leaving", severity: "critical", message: LONG, when: paying },
        { id: "asked", severity: "warning" },
      ],
      rules: [
        { id: "ask", on: login, when: paying, then: { kind: "raiseSignal", signal: "asked" } },
        { id: "greet", on: login, once: true, then: { kind: "emit", type: "account.greeted" } },
      ],
      health: {
        components: [{ id: "plan", weight: 1, score: { kind: "map", trait: "plan", values: { pro: 100 } } }],
        bands: [
          { id: "good", from: 50 },
          { id: "bad", from: 0 },
        ],
      },
    }),
  );
  await fixture.batch([
    { type: "identify", customerId: LONG, traits: { plan: "pro" } },
    { customerId: LONG, event: "login", properties: { seats: 1 } },
    { customerId: "globex", event: "login", properties: { seats: 1 } },
  ]);
  await fixture.evaluate();
  launched = await launchChromium();
  if (typeof launched === "string") return;
  const { url, db } = fixture.service;
  const context = await launched.newContext();
  await context.addCookies([{ name: "svc_session", value: await startSession(db.sql, "owner@acme.example"), url }]);
  page = await context.newPage();
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
}, INSTALL_MS_MAX);
beforeEach(({ skip }) => {
  if (typeof launched === "string") return skip(launched);
});
afterAll(async () => {
  if (typeof launched !== "string") await launched.close();
});

/** What axe finds fault with, what the browser complained of, and whether the page has to be scrolled sideways. */
async function faults(): Promise<string[]> {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate<AxeResults>("axe.run()");
  const isTooWide = await page.evaluate<boolean>("document.documentElement.scrollWidth > window.innerWidth");
  return [
    ...violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`)),
    ...errors.splice(0),
    ...(isTooWide ? ["too wide"] : []),
  ];
}

describe.each([1280, 390])("the pages of the model's parts, %i pixels wide", (width) => {
  it.each([
    "segments",
    "segment?id=paying",
    "health",
    "rules",
    "rule?id=greet",
    "signals",
    "signals?severity=critical",
    "signals?since=soon",
  ])("%s has no barrier, light or dark", async (path) => {
    await page.setViewportSize({ width, height: 900 });
    await page.goto(`${fixture.service.url}/console/acme/app/test/${path}`);
    // Refused as it should be.
    if (path.includes("soon")) errors.splice(0);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await faults(), colorScheme).toEqual([]);
    }
    await page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })");
    expect(await faults(), "opened").toEqual([]);
  });
});

it("a segment's members are reached by keyboard from its row", async () => {
  await page.goto(`${fixture.service.url}/console/acme/app/test/segments`);
  await page.getByRole("link", { name: "paying" }).focus();
  await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
  expect(page.url()).toMatch(/segment\?id=paying$/);
  await page.getByRole("combobox", { name: "Over the last" }).selectOption("7");
  await page.getByRole("button", { name: "Show" }).focus();
  await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
  expect(page.url()).toMatch(/segment\?id=paying&days=7$/);
});
