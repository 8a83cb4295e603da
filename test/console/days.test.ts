import { beforeAll, expect, it } from "vitest";
import { dayIn } from "../../src/console/span.js";
import { useSpec } from "../spec/support/fixture.js";
import { type Browser } from "../support/browser.js";
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
      signals: [
        { id: "seen", severity: "info", when: { kind: "count", of: { event: "login" }, operator: "gte", value: 1 } },
      ],
    }),
  );
  const logins = { before: begin - HOUR_MS, within: begin + HOUR_MS };
  await fixture.batch(
    Object.entries(logins).map(([customerId, at]) => ({
      customerId,
      event: "login",
      properties: { seats: 1 },
      timestamp: new Date(at).toISOString(),
    })),
  );
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

it("reports an invalid date next to the form, which keeps the input", async () => {
  const { status, html, text } = await owner.get(`${BASE}/customer?id=before&at=2026-13-01`);
  expect([status, text]).toEqual([400, expect.stringContaining("is neither a duration nor a date")]);
  expect(html).toContain('name="at" value="2026-13-01"');
  expect(html).toContain('href="customer?id=before"');
  const ahead = await owner.get(`${BASE}/customer?id=before&at=2999-01-01`);
  expect(ahead.text).toContain("is in the future");
  expect((await owner.get(`${BASE}/customer?id=before&at=9999d`)).text).toContain("than the longest duration, 3650d.");
});

it("uses UTC days in the API", async () => {
  const { body } = await fixture.admin("GET", `/projects/app/events?since=${day}`);
  expect(body).toMatchObject({ data: [] });
});
