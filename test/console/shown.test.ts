import { beforeAll, expect, it } from "vitest";
import { dayIn } from "../../src/console/span.js";
import { useSpec } from "../spec/support/fixture.js";
import { type Browser, textOf } from "../support/browser.js";
import { snapshot } from "../support/service.js";
import { browserOf } from "./support/session.js";

const fixture = useSpec();
const BASE = "/console/acme/app/test";
const isPro = { kind: "trait", trait: "plan", operator: "eq", value: "pro" } as const;
const DAY_MS = 86_400_000;

let owner: Browser;
beforeAll(async () => {
  owner = await browserOf(fixture.service, "owner@acme.example");
  await fixture.deploy(
    snapshot({
      traits: {
        plan: { type: "string", enum: ["free", "pro"] },
        company: { type: "string", optional: true },
        csm: { type: "string", optional: true },
        renewsOn: { type: "date", optional: true },
      },
      segments: [],
      signals: [{ id: "leaving", severity: "critical", message: "Call them", when: isPro }],
      display: { name: "company", owner: "csm", renewal: "renewsOn" },
    }),
  );
  const renewsOn = new Date(Date.now() + 40.5 * DAY_MS).toISOString();
  await fixture.batch([
    { type: "identify", customerId: "c1", traits: { plan: "pro", company: "Globex", csm: "<b>Ada</b>", renewsOn } },
    { type: "identify", customerId: "c2", traits: { plan: "pro" } },
  ]);
  await fixture.evaluate();
});

it("display traits such as owner and renewal date are shown with a customer on every page for deciding whom to call", async () => {
  const today = await owner.get(`${BASE}/today`);
  expect(today.text).toMatch(/Signal Customer Since Owner Renewal Message .*Globex c1 now <b>Ada<\/b> in 40 days Call/);
  expect(today.text).toMatch(/leaving critical c2 now none none Call them/);
  const customers = (await owner.get(`${BASE}/customers`)).text;
  expect(customers).toMatch(/Last event Owner Renewal Globex c1 .* <b>Ada<\/b> in 40 days/);
});

it("a date without a time is shown as the day that was sent, in every time zone", async () => {
  const change = await fixture.admin("PATCH", "/organization", { body: { timeZone: "Pacific/Pago_Pago" } });
  expect(change.status).toBe(200);
  const today = dayIn(Date.now(), "Pacific/Pago_Pago");
  const later = new Date(Date.parse(today) + 9 * DAY_MS).toISOString().slice(0, 10);
  await fixture.batch(
    Object.entries({ c3: "2027-01-01", c4: today, c5: later }).map(([customerId, renewsOn]) => ({
      type: "identify",
      customerId,
      traits: { plan: "pro", renewsOn },
    })),
  );
  await fixture.evaluate();
  const factOf = async (id: string) => {
    const { html } = await owner.get(`${BASE}/customer?id=${id}`);
    return textOf(/<dt><bdi>renewsOn<\/bdi><\/dt><dd>(.*?)<\/dd>/.exec(html)?.[1] ?? "");
  };
  expect(await factOf("c3")).toMatch(/^1 Jan 2027 (in \d+ days?|today|\d+ days? ago)$/);
  expect(await factOf("c4")).toMatch(/ \d{4} today$/);
  expect(await factOf("c5")).toMatch(/ \d{4} in 9 days$/);
  const { html } = await owner.get(`${BASE}/today`);
  expect(html).toContain('<time datetime="2027-01-01" title="1 Jan 2027">');
});
