import { beforeAll, expect, it } from "vitest";
import { dayIn } from "../../src/console/span.js";
import { happened, trait } from "../engine/support/builders.js";
import { useSpec } from "../spec/support/fixture.js";
import { type Browser, textOf } from "../support/browser.js";
import { snapshot } from "../support/service.js";
import { browserOf } from "./support/session.js";

const fixture = useSpec();
const BASE = "/console/acme/app/test";
const ZONE = "Pacific/Kiritimati";
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The organization's time zone, whose days begin fourteen hours before those of UTC. */
const day = dayIn(Date.now() - 3 * DAY_MS, ZONE);
const begin = Date.parse(day) - 14 * HOUR_MS;
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
      signals: [
        { id: "seen", severity: "info", when: happened("login") },
        { id: "leaving", severity: "critical", message: "Call them", when: trait("plan", "eq", "pro") },
      ],
      display: { name: "company", owner: "csm", renewal: "renewsOn" },
    }),
  );
  const logins = { before: begin - HOUR_MS, within: begin + HOUR_MS };
  const renewsOn = new Date(Date.now() + 40.5 * DAY_MS).toISOString();
  await fixture.batch([
    ...Object.entries(logins).map(([customerId, at]) => ({
      ...{ customerId, event: "login", properties: { seats: 1 } },
      timestamp: new Date(at).toISOString(),
    })),
    { type: "identify", customerId: "c1", traits: { plan: "pro", company: "Globex", csm: "<b>Ada</b>", renewsOn } },
    { type: "identify", customerId: "c2", traits: { plan: "pro" } },
  ]);
  await fixture.evaluate();
  expect((await fixture.admin("PATCH", "/organization", { body: { timeZone: ZONE } })).status).toBe(200);
});

const namedOn = async (path: string) => {
  const { status, html } = await owner.get(`${BASE}/${path}`);
  expect(status).toBe(200);
  return ["before", "within"].filter((id) => html.includes(`href="customer?id=${id}"`));
};

it.each(["events", "signals"])(
  "filters since the start of the day in the organization's time zone: %s",
  async (path) => {
    expect(await namedOn(`${path}?since=${day}`)).toEqual(["within"]);
    expect(await namedOn(`${path}?since=${new Date(begin - 2 * HOUR_MS).toISOString()}`)).toEqual(["before", "within"]);
    expect((await owner.get(`${BASE}/${path}?since=${day}`)).html).toContain(`name="since" value="${day}"`);
  },
);

it("shows a customer's past state at the start of the day", async () => {
  const { status, html, text } = await owner.get(`${BASE}/customer?id=before&at=${day}`);
  expect(status).toBe(200);
  expect(html).toContain(`As of <time datetime="${new Date(begin).toISOString()}"`);
  expect(text).toMatch(/As of \d+ \w+ \d{4}, 00:00 ,/);
  // Relative to that instant, not to now.
  expect(text).toMatch(/Last event 1 hour ago /);
  expect(text).toMatch(/seen info, 1 hour ago /);
});

it("uses UTC days in the API", async () => {
  const { body } = await fixture.admin("GET", `/projects/app/events?since=${day}`);
  expect(body).toMatchObject({ data: [] });
});

it("display traits such as owner and renewal date are shown with a customer on every page for deciding whom to call", async () => {
  const today = await owner.get(`${BASE}/today`);
  expect(today.text).toMatch(
    /Signal Customer Since Owner Renewal Message .*Globex c1 (now|\d+ seconds? ago) <b>Ada<\/b> in 40 days Call/,
  );
  expect(today.text).toMatch(/leaving critical c2 (now|\d+ seconds? ago) none none Call them/);
  const customers = (await owner.get(`${BASE}/customers`)).text;
  expect(customers).toMatch(/Last event Owner Renewal .*Globex c1 .* <b>Ada<\/b> in 40 days/);
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
