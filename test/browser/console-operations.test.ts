import { afterAll, beforeAll, expect, it } from "vitest";
import { useSpec } from "../spec/support/fixture.js";
import { faultsOf, unfold } from "../support/axe.js";
import { snapshot } from "../support/service.js";
import { JobRunner } from "../tasks/support/recompute.js";
import { useConsole } from "./support/page.js";

const LONG = `${"long_".repeat(50)}🦊`;

const fixture = useSpec();
let worker: JobRunner;
beforeAll(async () => {
  worker = new JobRunner(fixture.service.db);
  await fixture.deploy(snapshot());
  await fixture.batch([
    { type: "identify", customerId: LONG, traits: { plan: "pro" } },
    { customerId: "globex", event: "login", properties: { seats: 1 } },
  ]);
  await fixture.evaluate();
  const vip = { id: "vip", when: { kind: "trait", trait: "plan", operator: "eq", value: "pro" } } as const;
  await fixture.deploy(snapshot({ segments: [vip] }));
  await fixture.admin("POST", "/projects/app/recomputes?env=test", { body: { customerId: LONG, dryRun: true } });
});
afterAll(() => worker.end());
const browser = useConsole(fixture);

const addressOf = (path: string) => `${fixture.service.url}/console/acme/app/${path}`;

it.each(["test/operations", "live/operations", "test/recomputes", "live/recomputes", "test/audit-log"])(
  "%s has no barrier, wide or narrow, light or dark, also where all is unfolded",
  async (path) => {
    const { page, complaints } = browser;
    await page.goto(addressOf(path));
    await unfold(page);
    expect(await faultsOf(page)).toEqual([]);
    expect(complaints).toEqual([]);
  },
);

it("a version is previewed by keyboard, and its page is accessible while it runs and when it is done", async () => {
  const { page, complaints } = browser;
  const press = () => Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
  await page.goto(addressOf("test/version?id=v1"));
  await page.getByRole("combobox", { name: "What it would change in test" }).selectOption("all");
  await page.getByRole("button", { name: "Preview it" }).focus();
  await press();
  expect(await page.getByRole("main").innerText()).toContain("waiting for its turn");
  expect(await faultsOf(page)).toEqual([]);
  await worker.runNext(new URL(page.url()).searchParams.get("id")!);
  await page.getByText("completed").waitFor({ timeout: 15_000 });
  expect(await page.getByRole("region", { name: "Customers that change" }).innerText()).toContain("−vip");
  expect(await faultsOf(page)).toEqual([]);
  await page.getByRole("link", { name: "Back to v1" }).focus();
  await press();
  expect(page.url()).toBe(addressOf("test/version?id=v1"));
  expect(complaints).toEqual([]);
});

it("a dry run is found from the operations page by keyboard, and becomes a recompute", async () => {
  const { page } = browser;
  const press = () => Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
  await worker.runNext();
  await page.goto(addressOf("test/operations"));
  await page.getByRole("link", { name: "Dry run", exact: true }).focus();
  await press();
  expect(await faultsOf(page)).toEqual([]);
  await page.getByRole("link", { name: "Start this recompute" }).focus();
  await press();
  expect(await faultsOf(page)).toEqual([]);
  await page.getByRole("button", { name: "Recompute in test" }).focus();
  await press();
  expect(await page.getByRole("heading", { level: 1 }).innerText()).toBe("Recompute");
});
