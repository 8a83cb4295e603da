import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startSession } from "../console/support/session.js";
import { eventIdOf, startSpec, type SpecFixture } from "../spec/support/fixture.js";
import { launchChromium } from "../support/chromium.js";
import { INSTALL_MS_MAX } from "../support/debian.js";
import { snapshot } from "../support/service.js";

const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** Of 256 characters, without a place where it could be broken. */
const LONG = `<script>${"x".repeat(248)}`;

let launched: Browser | string;
let fixture: SpecFixture;
let page: Page;
const errors: string[] = [];
/** What the addresses of pages name. */
const named = { webhook: "", delivery: "", event: "" };
beforeAll(async () => {
  launched = await launchChromium();
  fixture = await startSpec();
  const { service } = fixture;
  await fixture.deploy(snapshot({ strictSchema: false }));
  const url = `https://example.com/${"hooks-".repeat(30)}`;
  const made = await fixture.admin("POST", "/projects/app/webhooks?env=test", { body: { url, eventTypes: ["*"] } });
  named.webhook = (made.body as { id: string }).id;
  named.event = eventIdOf(await fixture.batch([{ customerId: LONG, event: "login", properties: { seats: LONG } }]));
  await fixture.evaluate();
  const attempt = { attempt: 1, attemptedAt: new Date().toISOString(), latencyMs: 5, statusCode: 200, response: LONG };
  const [delivery] = await service.db.sql<[{ id: string; environmentId: number; emissionSeq: string }]>`
    select svc.emission_id(emission_seq) as id, environment_id as "environmentId", emission_seq as "emissionSeq" from svc.deliveries`;
  const { id, environmentId, emissionSeq } = delivery;
  named.delivery = id;
  const results = JSON.stringify([{ ...attempt, environmentId, webhookId: named.webhook, emissionSeq }]);
  await service.db.sql`select svc_api.record_attempts(${results}::text::jsonb)`;
  if (typeof launched === "string") return;
  const context = await launched.newContext();
  const value = await startSession(service.db.sql, "owner@acme.example");
  await context.addCookies([{ name: "svc_session", value, url: service.url }]);
  page = await context.newPage();
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
}, INSTALL_MS_MAX);
beforeEach(({ skip }) => {
  if (typeof launched === "string") return skip(launched);
});
afterAll(async () => {
  if (typeof launched !== "string") await launched.close();
  await fixture.service.stop();
});

const addressOf = (path: string, env: string) => `${fixture.service.url}/console/acme/app/${env}/${path}`;

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

describe.each([1280, 390])("the console, %i pixels wide", (width) => {
  it.each<[string, () => string]>([
    ["deliveries", () => "deliveries"],
    ["a webhook", () => `webhook?id=${named.webhook}`],
    ["a delivery", () => `delivery?webhook=${named.webhook}&id=${named.delivery}`],
    ["sending again", () => `resend?webhook=${named.webhook}&id=${named.delivery}`],
    ["events", () => "events"],
    ["a live tail", () => "events?tail=1"],
    ["an event", () => `event?id=${named.event}`],
    ["schema violations", () => "violations"],
    ["emissions", () => "emissions"],
    ["an emission", () => `emission?id=${named.delivery}`],
  ])("%s: no barrier, light or dark, with data and without", async (_, path) => {
    await page.setViewportSize({ width, height: 900 });
    for (const env of path().includes("id=") ? ["test"] : ["test", "live"]) {
      await page.goto(addressOf(path(), env));
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await faults(), `${env} ${colorScheme}`).toEqual([]);
      }
    }
    expect(errors).toEqual([]);
  });
});

it("a live tail shows what came in since", async () => {
  await page.goto(addressOf("events?tail=1", "test"));
  await fixture.batch([{ customerId: "newcomer", event: "login" }]);
  await page.getByRole("link", { name: "newcomer" }).waitFor({ timeout: 15_000 });
  await page.getByRole("link", { name: "Stop" }).click();
  expect(page.url()).toBe(addressOf("events", "test"));
});

it("a delivery is sent again by keyboard", async () => {
  await page.goto(addressOf(`delivery?webhook=${named.webhook}&id=${named.delivery}`, "test"));
  await page.getByRole("link", { name: "Send it again" }).focus();
  await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
  await page.getByRole("button", { name: "Send it again" }).focus();
  await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
  await page.getByText("next attempt").waitFor();
});
