import { beforeAll, expect, it } from "vitest";
import { eventIdOf, useSpec } from "../spec/support/fixture.js";
import { faultsOf } from "../support/axe.js";
import { snapshot } from "../support/service.js";
import { useConsole } from "./support/page.js";

/** 256 characters that a browser cannot wrap. */
const LONG = `<script>${"x".repeat(248)}`;

const fixture = useSpec();
/** Ids in the addresses of pages. */
const ids = { webhook: "", delivery: "", event: "" };
beforeAll(async () => {
  const { service } = fixture;
  await fixture.deploy(snapshot({ strictSchema: false }));
  const url = `https://example.com/${"hooks-".repeat(30)}`;
  const created = await fixture.admin("POST", "/projects/app/webhooks?env=test", { body: { url, eventTypes: ["*"] } });
  ids.webhook = (created.body as { id: string }).id;
  ids.event = eventIdOf(await fixture.batch([{ customerId: LONG, event: "login", properties: { seats: LONG } }]));
  await fixture.evaluate();
  const attempt = { attempt: 1, attemptedAt: new Date().toISOString(), latencyMs: 5, statusCode: 200, response: LONG };
  const [delivery] = await service.db.sql<[{ id: string; environmentId: number; emissionSeq: string }]>`
    select svc.emission_id(emission_seq) as id, environment_id as "environmentId", emission_seq as "emissionSeq" from svc.deliveries`;
  const { id, environmentId, emissionSeq } = delivery;
  ids.delivery = id;
  const results = JSON.stringify([{ ...attempt, environmentId, webhookId: ids.webhook, emissionSeq }]);
  await service.db.sql`select svc_api.record_attempts(${results}::text::jsonb)`;
});
const browser = useConsole(fixture);

const addressOf = (path: string, env: string) => `${fixture.service.url}/console/acme/app/${env}/${path}`;

it.each<[string, () => string]>([
  ["deliveries", () => "deliveries"],
  ["a webhook", () => `webhook?id=${ids.webhook}`],
  ["a delivery", () => `delivery?webhook=${ids.webhook}&id=${ids.delivery}`],
  ["sending again", () => `resend?webhook=${ids.webhook}&id=${ids.delivery}`],
  ["events", () => "events"],
  ["a live tail", () => "events?tail=1"],
  ["an event", () => `event?id=${ids.event}`],
  ["schema violations", () => "violations"],
  ["emissions", () => "emissions"],
  ["an emission", () => `emission?id=${ids.delivery}`],
])("%s: accessible, wide or narrow, light or dark, with data and without", async (_, path) => {
  const { page, complaints } = browser;
  for (const env of path().includes("id=") ? ["test"] : ["test", "live"]) {
    await page.goto(addressOf(path(), env));
    expect(await faultsOf(page), env).toEqual([]);
  }
  expect(complaints).toEqual([]);
});

it("a live tail shows events that arrive after it was opened", async () => {
  const { page } = browser;
  await page.goto(addressOf("events?tail=1", "test"));
  await fixture.batch([{ customerId: "newcomer", event: "login" }]);
  await page.getByRole("link", { name: "newcomer" }).waitFor({ timeout: 15_000 });
  await page.getByRole("link", { name: "Stop" }).click();
  expect(page.url()).toBe(addressOf("events", "test"));
});

it("a delivery is resent by keyboard", async () => {
  const { page } = browser;
  await page.goto(addressOf(`delivery?webhook=${ids.webhook}&id=${ids.delivery}`, "test"));
  await page.getByRole("link", { name: "Send it again" }).focus();
  await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
  await page.getByRole("button", { name: "Send it again" }).focus();
  await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
  await page.getByText("next attempt").waitFor();
});
