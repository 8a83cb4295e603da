import { beforeAll, expect, it } from "vitest";
import { useSpec } from "../spec/support/fixture.js";
import { faultsOf } from "../support/axe.js";
import { snapshot } from "../support/service.js";
import { useConsole } from "./support/page.js";

const HOSTILE = `<img src=x onerror=alert(1)> ‮evil 🦊 ${"ä".repeat(200)}`;
const of = { event: "login" };
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

const fixture = useSpec();
beforeAll(async () => {
  await fixture.deploy(
    snapshot({
      health: {
        components: [
          {
            id: "usage",
            weight: 1,
            score: { kind: "scale", of: { kind: "count", of, within: "30d" }, from: 0, to: 4 },
          },
        ],
        bands: [
          { id: "good", from: 50 },
          { id: "poor", from: 0 },
        ],
      },
      signals: [
        { id: "lost", severity: "critical", message: "Call them", when: { kind: "healthBand", bands: ["poor"] } },
      ],
    }),
  );
  await fixture.batch([
    { type: "identify", customerId: "globex", traits: { plan: "pro" } },
    ...[9, 6, 3].map((days) => ({
      customerId: "globex",
      event: "login",
      properties: { seats: days },
      timestamp: daysAgo(days),
    })),
    { customerId: HOSTILE, event: "login", properties: { seats: 1 }, timestamp: daysAgo(20) },
  ]);
  await fixture.evaluate();
  await fixture.service.db.sql`update svc.projects set name = ${"w".repeat(100)}`;
});
const browser = useConsole(fixture);

const at = (path: string) => `${fixture.service.url}/console/acme/app/test/${path}`;

it.each([
  ["today", "today", "Today"],
  ["customers", "customers", "Customers"],
  ["customers, filtered", "customers?health=good&sort=health", "Customers"],
  ["a customer", "customer?id=globex", "globex"],
  ["a customer as of a day", "customer?id=globex&at=5d", "globex"],
  [
    "a customer of a hostile id",
    `customer?${new URLSearchParams({ id: HOSTILE }).toString()}`,
    HOSTILE.replace("‮", "\\u202e"),
  ],
  ["today without data", "../live/today", "Today"],
  ["customers without data", "../live/customers", "Customers"],
])(
  "is accessible: %s, wide or narrow, light or dark, and requests nothing from other hosts",
  async (_name, path, heading) => {
    const { page, complaints } = browser;
    await page.goto(at(path));
    expect(await page.getByRole("heading", { level: 1 }).innerText()).toBe(heading);
    expect(await faultsOf(page)).toEqual([]);
    expect(complaints).toEqual([]);
  },
);

it("shows by keyboard who needs a call, and why", async () => {
  const { page } = browser;
  const press = async (key: string) => Promise.all([page.waitForEvent("load"), page.keyboard.press(key)]);
  await page.goto(at("today"));
  await page.keyboard.press("Tab");
  expect(await page.evaluate("document.activeElement.textContent")).toBe("Skip to the content");
  const called = page.getByRole("region", { name: "List of raised signals" }).getByRole("link").first();
  await called.focus();
  await press("Enter");
  expect(await page.getByRole("heading", { level: 1 }).innerText()).toContain("evil");
  const why = page.getByRole("region", { name: "Why" });
  expect(await why.innerText()).toMatch(/usage scores 25, which counts 100 %: count of "login" within 30d was 1/);
  expect(await why.innerText()).toMatch(/Signal lost: raised/);
  expect(await page.getByRole("region", { name: "What happened" }).innerText()).toMatch(/signal\.raised .*"lost"/);
});

it("finds a customer, looks at it as of a day, and comes back", async () => {
  const { page, complaints } = browser;
  await page.goto(at("customers"));
  await page.getByRole("searchbox", { name: "Name or id" }).fill("GLOB");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "globex" }).click();
  await page.getByLabel("As it stood on").fill("7d");
  await page.keyboard.press("Enter");
  expect(await page.getByRole("status").innerText()).toContain("by a replay under v1");
  expect(await page.getByRole("region", { name: "Health" }).innerText()).toContain("25");
  await page.getByRole("link", { name: "Now", exact: true }).click();
  expect(await page.getByRole("region", { name: "Health" }).innerText()).toContain("75");
  expect(complaints).toEqual([]);
});
