import { afterAll, beforeAll, expect, it } from "vitest";
import { foreseeing, pastOf } from "../console/support/backtest.js";
import { useSpec } from "../spec/support/fixture.js";
import { faultsOf, unfold } from "../support/axe.js";
import { JobRunner } from "../tasks/support/recompute.js";
import { useConsole } from "./support/page.js";

const LONG = `${"long_".repeat(50)}🦊`;

const fixture = useSpec();
let worker: JobRunner;
beforeAll(async () => {
  worker = new JobRunner(fixture.service.db);
  for (const weight of [1, 0]) await fixture.deploy(foreseeing(LONG, weight));
  await fixture.batch(pastOf(Date.now()));
  await fixture.evaluate();
});
afterAll(() => worker.end());
const browser = useConsole(fixture);

const addressOf = (path: string) => `${fixture.service.url}/console/acme/app/test/${path}`;

it("a version is backtested against the active one by keyboard, and its page is accessible while it runs and when it is done", async () => {
  const { page, complaints } = browser;
  const press = () => Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
  await page.goto(addressOf("version?id=v1"));
  await page.getByRole("combobox", { name: "What v1 should foresee in test" }).selectOption("event:login");
  await page.getByRole("combobox", { name: "Within" }).selectOption("30d");
  expect(await faultsOf(page)).toEqual([]);
  await page.getByRole("button", { name: "Backtest it and compare with v2" }).focus();
  await press();
  expect(await page.getByRole("main").innerText()).toContain("waiting for its turn");
  expect(await faultsOf(page)).toEqual([]);
  await worker.runNext();
  await page.getByText("completed").waitFor({ timeout: 15_000 });
  await unfold(page);
  expect(await page.getByRole("img").count()).toBe(4);
  expect(await faultsOf(page)).toEqual([]);
  await page.getByRole("link", { name: "Before you believe it" }).focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(/#notes$/);
  expect(complaints).toEqual([]);
});

it("the model's page lists backtests, starts one for a long name, and is accessible", async () => {
  const { page, complaints } = browser;
  await page.goto(addressOf("model"));
  expect(await page.getByRole("region", { name: "Backtests" }).innerText()).toContain("v1 compared with v2");
  expect(await faultsOf(page)).toEqual([]);
  await page.getByRole("combobox", { name: "What v2 should foresee in test" }).selectOption(`event:${LONG}`);
  await page.getByRole("button", { name: "Backtest it" }).click();
  await page.getByText("waiting for its turn").waitFor();
  await worker.runNext();
  await page.getByText("completed").waitFor({ timeout: 15_000 });
  await unfold(page);
  expect(await faultsOf(page)).toEqual([]);
  await page.goto(addressOf("model"));
  expect(await faultsOf(page)).toEqual([]);
  expect(complaints).toEqual([]);
});
