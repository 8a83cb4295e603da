import { beforeAll, expect, it } from "vitest";
import { happened, inactiveFor, snapshotOf, type StepParts } from "../engine/support/builders.js";
import { useSpec } from "../spec/support/fixture.js";
import { faultsOf, unfold } from "../support/axe.js";
import { useConsole } from "./support/page.js";

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
beforeAll(async () => {
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
});
const browser = useConsole(fixture);

const addressOf = (path: string) => `${fixture.service.url}/console/acme/app/${path}`;

it.each([
  "test/lifecycle",
  "test/lifecycle?every=week",
  "test/transitions?entered=new",
  "test/journeys",
  "test/journey?id=onboarding",
  "test/journey-runs?id=onboarding",
  "live/lifecycle",
  "live/journeys",
])("%s is accessible, wide or narrow, light or dark, with everything unfolded too", async (path) => {
  const { page, complaints } = browser;
  await page.goto(addressOf(path));
  await unfold(page);
  expect(await faultsOf(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

it("the keyboard leads from an arrow of the lifecycle to the customers who made that transition", async () => {
  const { page } = browser;
  await page.goto(addressOf("test/lifecycle"));
  const arrow = page.getByRole("link", { name: "new to customer_with_a_rather_long_name: 5" });
  await arrow.focus();
  await Promise.all([page.waitForURL(/transitions/), page.keyboard.press("Enter")]);
  await expect.poll(() => page.locator("tbody tr").count()).toBe(5);
});
