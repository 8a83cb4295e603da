import { beforeAll, expect, it } from "vitest";
import { useSpec } from "../spec/support/fixture.js";
import { faultsOf, unfold } from "../support/axe.js";
import { snapshot } from "../support/service.js";
import { useConsole } from "./support/page.js";

const LONG = `${"long_".repeat(50)}🦊`;

const fixture = useSpec();
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
});
const browser = useConsole(fixture);

it.each([
  "segments",
  "segment?id=paying",
  "health",
  "rules",
  "rule?id=greet",
  "signals",
  "signals?severity=critical",
  "signals?since=soon",
])("%s is accessible, wide or narrow, light or dark, with everything unfolded too", async (path) => {
  const { page, complaints } = browser;
  await page.goto(`${fixture.service.url}/console/acme/app/test/${path}`);
  // This page is expected to answer an error.
  if (path.includes("soon")) complaints.length = 0;
  await unfold(page);
  expect(await faultsOf(page)).toEqual([]);
  expect(complaints).toEqual([]);
});

it("a segment's members are reached by keyboard from its row", async () => {
  const { page } = browser;
  await page.goto(`${fixture.service.url}/console/acme/app/test/segments`);
  await page.getByRole("link", { name: "paying" }).focus();
  await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
  expect(page.url()).toMatch(/segment\?id=paying$/);
  await page.getByRole("combobox", { name: "Over the last" }).selectOption("7");
  await page.getByRole("button", { name: "Show" }).focus();
  await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
  expect(page.url()).toMatch(/segment\?id=paying&days=7$/);
});
