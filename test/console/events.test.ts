import { beforeAll, describe, expect, it } from "vitest";
import { eventIdOf, useSpec } from "../spec/support/fixture.js";
import { batchOf } from "../http/ingest/fixture.js";
import type { Browser } from "../support/browser.js";
import { snapshot } from "../support/service.js";
import { browserOf } from "./support/session.js";

const fixture = useSpec();
const BASE = "/console/acme/app/test";
const page = (path: string) => owner.get(`${BASE}/${path}`);
const idsOf = (html: string, kind: "event" | "emission") =>
  [...html.matchAll(new RegExp(`<td><a href="${kind}\\?id=(\\w+)"`, "g"))].map(([, id]) => id!);

let owner: Browser;
/** The id of each customer's only event. */
const events: Record<string, string> = {};
let webhook: string;

beforeAll(async () => {
  await fixture.deploy(
    snapshot({
      strictSchema: false,
      rules: [
        {
          id: "greet",
          on: { kind: "event", of: { event: "login" } },
          when: { kind: "trait", trait: "plan", operator: "eq", value: "pro" },
          then: { kind: "emit", type: "account.greeted" },
        },
      ],
    }),
  );
  const body = { url: "https://example.com/hook", eventTypes: ["account.greeted"] };
  webhook = ((await fixture.admin("POST", "/projects/app/webhooks?env=test", { body })).body as { id: string }).id;
  await fixture.batch([{ type: "identify", customerId: "globex", traits: { plan: "pro" } }]);
  for (const [customerId, event] of [
    ["globex", "login"],
    ["initech", "unheard_of"],
  ] as const) {
    events[customerId] = eventIdOf(await fixture.batch([{ customerId, event, properties: { seats: "many" } }]));
    await fixture.evaluate();
  }
  events["umbrella"] = eventIdOf(await fixture.batch([{ customerId: "umbrella", event: "login" }]));
  owner = await browserOf(fixture.service, "owner@acme.example");
});

describe("the events", () => {
  it.each([
    ["", ["umbrella", "initech", "globex"]],
    ["type=login", ["umbrella", "globex"]],
    ["customer=globex", ["globex"]],
    ["status=pending", ["umbrella"]],
    ["since=1h&status=processed", ["initech", "globex"]],
    ["type=nothing", []],
  ])("are listed, newest first, filtered by %s", async (query, expected) => {
    const { status, html } = await page(`events?${query}`);
    expect([status, idsOf(html, "event")]).toEqual([200, expected.map((customer) => events[customer])]);
  });

  it("reload as a live tail, which keeps the filters and can be stopped", async () => {
    const still = await page("events?type=login");
    expect(still.headers.get("Refresh")).toBeNull();
    expect(still.html).toContain('href="events?type=login&amp;tail=1"');
    const tail = await page("events?type=login&tail=1");
    expect(tail.headers.get("Refresh")).toBe("5");
    expect(tail.html).toMatch(/<a href="events\?type=login">Stop<\/a>/);
  });
});

describe("an event", () => {
  it("shows its properties and everything that it caused", async () => {
    const { status, html, text } = await page(`event?id=${events["globex"]}`);
    expect(status).toBe(200);
    expect(text).toMatch(/State new → active .* Rule greet acted/);
    expect(text).toContain("account.greeted");
    expect(html).toMatch(new RegExp(`href="delivery\\?webhook=${webhook}&amp;id=emi_\\w+"`));
    expect(html).toMatch(new RegExp(`href="customer\\?id=globex[^"]*#${events["globex"]}"`));
  });

  it("that is pending says so", async () => {
    const { text } = await page(`event?id=${events["umbrella"]}`);
    expect(text).toContain("It is waiting to be evaluated");
  });
});

it("schema violations are listed by event, with the latest operation", async () => {
  const { status, html, text } = await page("violations");
  expect(status).toBe(200);
  expect(text).toMatch(/login properties\.seats \w+ 1 .* of globex .* v1/);
  expect(html).toContain(`href="event?id=${events["globex"]}"`);
});

describe("the emissions", () => {
  it.each([
    ["eventType=account.greeted", 1],
    ["source=rule", 1],
    ["source=rule&customer=initech", 0],
    ["customer=globex&since=1h", 4],
  ])("are listed, filtered by %s", async (query, count) => {
    const { status, html } = await page(`emissions?${query}`);
    expect([status, idsOf(html, "emission").length]).toEqual([200, count]);
  });

  it("link to the rule run with its conditions, to the cause and to the deliveries", async () => {
    const [id] = idsOf((await page("emissions?source=rule")).html, "emission");
    const { status, html, text } = await page(`emission?id=${id}`);
    expect(status).toBe(200);
    expect(text).toContain("Made by the rule greet");
    expect(text).toMatch(/plan is "pro" it is pro/);
    expect(html).toContain(`href="event?id=${events["globex"]}"`);
    expect(html).toContain(`href="delivery?webhook=${webhook}&amp;id=${id}"`);
  });
});

it("numbers with many digits are shown as sent where they are traits, and marked elsewhere", async () => {
  const operations = [
    `{"type":"identify","customerId":"exact","traits":{"account":12345678901234567890,"seats":5,"large":1e300}}`,
    `{"customerId":"exact","event":"login","properties":{"order":98765432109876543210}}`,
  ];
  const headers = { Authorization: `Bearer ${fixture.keys.test}`, "Content-Type": "application/json" };
  const sent = { headers, body: batchOf(...operations) };
  const id = eventIdOf(await fixture.service.request("POST", "/v1/events/batch", sent));
  await fixture.evaluate();
  expect((await page("customer?id=exact")).text).toMatch(/account 12345678901234567890 large 1e\+300 seats 5 /);
  expect((await page(`event?id=${id}`)).text).toContain("Numbers of more than 15 digits may be rounded here");
  expect((await page(`event?id=${events["globex"]}`)).text).not.toContain("rounded");
  const MARKED = /order: 98765432109876540000 \(long numbers may be rounded\)/;
  expect((await page("customer?id=exact")).text).toMatch(MARKED);
  expect((await page("events?customer=exact")).text).toMatch(MARKED);
  for (const path of ["customer?id=globex", "events?customer=globex"])
    expect((await page(path)).text).not.toContain("rounded");
});

it("events are filtered by an id and a name that begin or end with a space, and pasted spaces are hinted at", async () => {
  const name = { customerId: " lead", event: "trail " };
  const id = eventIdOf(await fixture.batch([name]));
  await fixture.evaluate();
  const { html } = await page(`event?id=${id}`);
  const link = /href="(events\?type=[^"]*customer=[^"]*)"/.exec(html)![1]!.replace("&amp;", "&");
  expect(idsOf((await page(link)).html, "event")).toEqual([id]);
  expect((await page("events?customer=globex+")).text).toContain("A filter begins or ends with a space, which counts.");
  expect((await page("events?customer=nobody")).text).not.toContain("ends with a space");
});
