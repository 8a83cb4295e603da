import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ingest, startAcme, untilQuiet } from "../cli/support/shop.js";
import { svc } from "../cli/support/run-svc.js";
import { startSession } from "../console/support/session.js";
import { startReceiver, type Receiver } from "../webhooks/support/receiver.js";
import { usePage } from "./support/page.js";

// The state at the end of docs/tutorial.md in the console: who is stuck, why, whether the webhook arrived, what the second deploy changed.
// Everything is reached by the keys Tab, Shift and Enter.

const OWNER = "ada@example.com";
const DAY_MS = 86_400_000;
const STUCK = `
  import { all, emit, inState, rule, segment } from "svc-success";
  import { projectCreated } from "./events.js";
  import { stages } from "./lifecycle.js";
  export const stuckInTrial = segment("stuck_in_trial", {
    when: all(stages.is("trial"), inState().atLeast("3d"), projectCreated.never()),
  });
  export const helpThem = rule("help_them", { on: stuckInTrial.entered(), then: emit("success.call") });`;

let acme: Awaited<ReturnType<typeof startAcme>>;
let receiver: Receiver;

/** Runs a command as the owner; it must succeed. */
async function run<T>(...argv: string[]): Promise<T> {
  const { code, stdout, stderr } = await svc([...argv, "--json"], { cwd: acme.directory, env: acme.env });
  if (code !== 0) throw new Error(`svc ${argv.join(" ")}: ${stderr}${stdout}`);
  return JSON.parse(stdout) as T;
}

beforeAll(async () => {
  [acme, receiver] = await Promise.all([startAcme(OWNER), startReceiver()]);
  const { keys } = await run<{ keys: { test: string } }>("init", "--name", "Shop", "--yes");
  const file = (name: string) => path.join(acme.directory, "model", name);
  const append = async (name: string, text: string) =>
    writeFile(file(name), (await readFile(file(name), "utf8")) + text);
  await writeFile(file("stuck.ts"), STUCK);
  await append("segments.ts", 'export { stuckInTrial } from "./stuck.js";\n');
  await append("rules.ts", 'export { helpThem } from "./stuck.js";\n');
  await run("deploy", "--yes");
  await run("webhooks", "create", "--url", receiver.url, "--event-type", "success.*", "--yes");
  const signedUp = (customerId: string, daysAgo: number) => ({
    ...{ customerId, event: "signed_up", properties: { source: "website" } },
    timestamp: new Date(Date.now() - daysAgo * DAY_MS).toISOString(),
  });
  await ingest(acme.url, keys.test, [signedUp("globex", 4), signedUp("initech", 8)]);
  await untilQuiet(acme.db);
  await writeFile(file("stuck.ts"), STUCK.replace("3d", "5d"));
  await run("deploy", "--yes");
  const { id } = await run<{ id: string }>("recompute", "--all", "--dry-run");
  await run("recompute", "--from", id, "--yes");
  await untilQuiet(acme.db);
});
afterAll(async () => {
  await acme.stop();
  await receiver.close();
});
const browser = usePage(async (context) => {
  const value = await startSession(acme.db.sql, OWNER);
  await context.addCookies([{ name: "svc_session", value, url: acme.url }]);
});

const FOCUSED = `(() => {
  const { tagName, innerText } = document.activeElement;
  return tagName === "A" ? innerText.trim() : null;
})()`;

/** Presses Tab until the link with this text has the focus, and follows it. */
async function follow(text: string): Promise<void> {
  const { page } = browser;
  for (let keys = 0; keys < 100; keys++) {
    await page.keyboard.press("Tab");
    if ((await page.evaluate(FOCUSED)) !== text) continue;
    await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
    return;
  }
  throw new Error(`no link ${text} is reached with Tab at ${page.url()}`);
}

const mainText = () => browser.page.getByRole("main").innerText();

it("the keyboard suffices to find who is stuck, why, whether the webhook arrived, and what the second deploy changed", async () => {
  const { page, complaints } = browser;
  await page.goto(`${acme.url}/console`);

  await follow("Segments");
  await follow("stuck_in_trial");
  expect(await mainText()).toMatch(/initech/);
  expect(await mainText()).not.toMatch(/globex/);

  await follow("initech");
  expect(await page.getByRole("region", { name: "Why" }).innerText()).toMatch(
    /Segment stuck_in_trial: a member[^]*in the lifecycle state for at least 5d[^]*count of "project_created" is 0/,
  );

  await follow("Deliveries");
  await follow(receiver.url);
  expect(await mainText()).toMatch(/success\.call\s+initech\s+delivered/);
  await follow("success.call");
  expect(await mainText()).toMatch(/Status\s+delivered[^]*Attempts[^]*HTTP 2\d\d/);

  await follow("Model");
  await follow("v2");
  expect(await mainText()).toMatch(/What is different from v1[^]*stuck_in_trial[^]*at least 3d → [^]*at least 5d/);

  await follow("Operations");
  await follow("Recompute");
  expect(await mainText()).toMatch(/Customers\s+2 changed[^]*globex\s+−stuck_in_trial/);
  await follow("globex");
  expect(await page.getByRole("region", { name: "Segments" }).innerText()).toContain("in none");
  expect(complaints).toEqual([]);
});
