import { beforeAll, describe, expect, it } from "vitest";
import { eventIdOf, useSpec } from "../spec/support/fixture.js";
import type { Browser } from "../support/browser.js";
import { snapshot } from "../support/service.js";
import { browserOf } from "./support/session.js";

const fixture = useSpec();
const BASE = "/console/acme/app/test";
const HOSTILE = `<b>"evil"‮</b> 🦊`;
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
    ["initech", HOSTILE],
  ] as const) {
    events[customerId] = eventIdOf(await fixture.batch([{ customerId, event, properties: { seats: HOSTILE } }]));
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

  it("say what is wrong with a filter, and keep the other filters", async () => {
    const { status, html, text } = await page("events?since=soon&type=login");
    expect([status, text]).toEqual([400, expect.stringContaining("is neither a duration nor a date")]);
    expect(html).toMatch(/name="type" [^>]*value="login"/);
  });

  it("reload as a live tail, which keeps the filters and can be stopped", async () => {
    const still = await page("events?type=login");
    expect(still.headers.get("Refresh")).toBeNull();
    expect(still.html).toContain('href="events?type=login&amp;tail=1"');
    const tail = await page("events?type=login&tail=1");
    expect(tail.headers.get("Refresh")).toBe("5");
    expect(tail.html).toMatch(/<a href="events\?type=login">Stop<\/a>/);
  });

  it("show how to send one if there are none", async () => {
    const { text } = await owner.get("/console/acme/app/live/events");
    expect(text).toContain("There are no events yet");
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

  it("escapes a hostile name", async () => {
    const { html } = await page(`event?id=${events["initech"]}`);
    expect(html).not.toContain("<b>");
    expect(html).not.toContain("‮");
    expect(html).toContain("&lt;b>");
  });

  it("that is not there is said to be missing", async () => {
    const { status, text } = await page("event?id=evt_0000000000000400");
    expect([status, text]).toEqual([404, expect.stringContaining('There is no event "evt_0000000000000400"')]);
  });
});

it("schema violations are listed by event, with the latest operation", async () => {
  const { status, html, text } = await page("violations");
  expect(status).toBe(200);
  expect(text).toMatch(/login properties\.seats \w+ 1 .* of globex .* v1/);
  expect(html).toContain(`href="event?id=${events["globex"]}"`);
  expect(html).not.toContain("<b>");
  expect((await owner.get("/console/acme/app/live/violations")).text).toContain(
    "All accepted operations match the model",
  );
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

  it("say what is wrong with a filter, and explain emissions if there are none", async () => {
    expect((await page("emissions?source=nothing")).status).toBe(400);
    expect((await owner.get("/console/acme/app/live/emissions")).text).toContain("Nothing has been emitted yet");
  });

  it("link to the rule run with its conditions, to the cause and to the deliveries", async () => {
    const [id] = idsOf((await page("emissions?source=rule")).html, "emission");
    const { status, html, text } = await page(`emission?id=${id}`);
    expect(status).toBe(200);
    expect(text).toContain("Made by the rule greet");
    expect(text).toMatch(/plan is "pro" it is pro/);
    expect(html).toContain(`href="event?id=${events["globex"]}"`);
    expect(html).toContain(`href="delivery?webhook=${webhook}&amp;id=${id}"`);
    expect((await page("emission?id=emi_0000000000000400")).status).toBe(404);
  });
});
