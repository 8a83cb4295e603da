import { afterAll, beforeAll, expect, it } from "vitest";
import { compileProject } from "../../src/dsl-compiler/index.js";
import { TestClock } from "../../src/local/clock.js";
import { LocalEngine } from "../../src/local/engine.js";
import { startLocalServer, type LocalServer } from "../../src/local/server.js";
import { faultsOf } from "../support/axe.js";
import { usePage } from "./support/page.js";

const START = Date.parse("2026-03-01T09:00:00Z");
const DAY = 86_400_000;

let server: LocalServer;
beforeAll(async () => {
  const compiled = await compileProject("examples/saas", { onOutput: () => undefined });
  if (!compiled.ok) throw new Error("the example does not compile");
  const { snapshot, hash } = compiled;
  const clock = new TestClock(START);
  const engine = new LocalEngine(
    { snapshot, hash },
    { clock, environment: "test", settleMs: 30_000, configVersion: null },
  );
  server = await startLocalServer({ engine, port: 0, observe: () => undefined, timersFired: () => undefined });
});
afterAll(() => server.stop());
const browser = usePage();

/** Moves the slider by keyboard to a day since the start, and submits it. */
async function goTo(day: number): Promise<void> {
  const { page } = browser;
  const slider = page.getByRole("slider");
  await slider.fill(String(START + day * DAY));
  expect(await page.locator("#clock-shown").innerText()).toBe(
    new Date(START + day * DAY).toISOString().slice(0, 16).replace("T", " "),
  );
  await slider.focus();
  await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
}

const state = () =>
  browser.page.getByRole("region", { name: "State", exact: true }).getByRole("link").first().innerText();

it("an author follows an account from sign-up to churn with the slider, and looks back", async () => {
  const { page, complaints } = browser;
  const events = [
    { customerId: "globex", event: "signed_up", properties: { source: "self_serve" } },
    { customerId: "globex", event: "project_created", properties: { source: "web", seats: 3 } },
    { customerId: "globex", event: "member_invited", properties: { role: "editor" } },
  ];
  const sent = await fetch(`${server.url}/events/batch`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ events }),
  });
  expect(sent.status).toBe(202);

  await page.goto(`${server.url}/`);
  expect(new URL(page.url()).pathname).toBe("/console/today");
  await page.goto(`${server.url}/console/customer?id=globex`);
  expect(await state()).toBe("activated");
  await goTo(13);
  expect(await state()).toBe("activated");
  await goTo(15);
  expect(await state()).toBe("at_risk");
  expect(await page.getByRole("region", { name: "Why" }).innerText()).toMatch(/60d.*comes by itself in 59 days/s);
  await goTo(75);
  expect(await state()).toBe("churned");
  expect(await faultsOf(page)).toEqual([]);

  await goTo(20);
  expect(await state()).toBe("at_risk");
  await Promise.all([page.waitForEvent("load"), page.getByRole("button", { name: "Back to now" }).click()]);
  expect(await state()).toBe("churned");
  expect(complaints).toEqual([]);
});
