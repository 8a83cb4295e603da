import { decodeHTML } from "entities";
import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import { beforeAll, describe, expect, it } from "vitest";
import type { Condition } from "../../src/model/snapshot/types.js";
import { StackedArea } from "../../src/console/charts/stacked-area.js";
import { happened, snapshotOf } from "../engine/support/builders.js";
import { useSpec } from "../spec/support/fixture.js";
import type { Browser } from "../support/browser.js";
import { browserOf } from "./support/session.js";

const fixture = useSpec();
const BASE = "/console/acme/app/test";
const MODEL = snapshotOf({
  events: { signed_up: { properties: {} }, paid: { properties: {} }, left: { properties: {} } },
  states: {
    new: [
      ["customer", happened("paid")],
      ["gone", happened("left")],
    ],
    customer: [["gone", happened("left")]],
    gone: [],
  },
});

const NOW = Date.now();
const DAY_MS = 86_400_000;
const daysAgo = (days: number) => new Date(NOW - days * DAY_MS).toISOString();
const dayAgo = (days: number) => daysAgo(days).slice(0, 10);
const event = (customerId: string, event: string, days: number) => ({
  customerId,
  event,
  timestamp: daysAgo(days),
});
const EVENTS = [
  event("globex", "signed_up", 60),
  event("globex", "paid", 20),
  event("initech", "signed_up", 10),
  event("initech", "paid", 5),
  event("initech", "left", 3),
  event("umbrella", "signed_up", 5),
  event("soylent", "signed_up", 5),
];

let owner: Browser;
const page = (path: string) => owner.get(`${BASE}/${path}`);
/** The numbers on the arrows, by the list that each links to; 0 has no link. */
const arrows = (html: string) =>
  Object.fromEntries(
    [...html.matchAll(/href="transitions\?([^"]*)"><title>[^<]*: (\d+)<\/title>/g)].map(([, query, number]) => [
      decodeHTML(query!),
      Number(number),
    ]),
  );
const rows = (html: string) => html.split("<tbody>")[1]!.split("</tbody>")[0]!.split("<tr>").length - 1;

beforeAll(async () => {
  await fixture.deploy(MODEL);
  await fixture.batch(EVENTS);
  await fixture.evaluate();
  owner = await browserOf(fixture.service, "owner@acme.example");
});

describe("the lifecycle", () => {
  it("shows the customers in each state, the transitions within 30 days, and the development", async () => {
    const { status, html, text } = await page("lifecycle");
    expect(status).toBe(200);
    expect(text).toContain("customers in each state now, 4 in all");
    for (const [state, customers] of [
      ["new", "2 customers"],
      ["customer", "1 customer"],
      ["gone", "1 customer"],
    ])
      expect(html).toContain(`<a href="customers?lifecycle=${state}"><title>${state}: ${customers}</title>`);
    const span = `&from=${dayAgo(29)}&to=${dayAgo(0)}`;
    expect(arrows(html)).toEqual({
      [`first=true&entered=new${span}`]: 3,
      [`left=new&entered=customer${span}`]: 2,
      [`left=customer&entered=gone${span}`]: 1,
    });
    expect(html).toContain("<title>new to gone: 0</title>");
    expect(text).toContain("Customers in each state over time");
  });

  it("gives each of many states a distinct look", () => {
    const layers = Array.from({ length: 24 }, (_, n) => ({ name: `s${n}`, href: null, values: [1, 2] }));
    const html = renderToString(h(StackedArea, { title: "Many", periods: ["2026-01-01", "2026-01-02"], layers }));
    const looks = [...html.matchAll(/<li>(<svg.*?<\/svg>)/g)].map(([, look]) => look);
    expect(new Set(looks).size).toBe(24);
    const [, fill] = /fill="url\(#(.*?)\)"/.exec(html)!;
    expect(html).toContain(`<pattern id="${fill}"`);
  });

  it("shows how long customers stayed in the states that they left", async () => {
    const { text } = await page("lifecycle");
    expect(text).toMatch(
      /How long customers stay .*Departures new 23 days 2 customer 2 days 1 Based on the 7 transitions that were stored last/,
    );
  });

  it("links each number to a list with that many rows", async () => {
    const { html } = await page("lifecycle");
    const lists = Object.entries(arrows(html));
    expect(lists).toHaveLength(3);
    for (const [query, number] of lists) {
      const list = await page(`transitions?${query}`);
      expect([query, list.status, rows(list.html)]).toEqual([query, 200, number]);
    }
    expect(rows((await page("customers?lifecycle=new")).html)).toBe(2);
  });

  it("shows another period as it was, without links to present lists", async () => {
    const { html, text } = await page(`lifecycle?from=${dayAgo(70)}&to=${dayAgo(30)}`);
    expect(text).toContain("1 in all");
    expect(html).toContain("<title>new: 1 customer</title>");
    expect(html).not.toContain('<a href="customers?lifecycle=new"><title>');
    expect(Object.values(arrows(html))).toEqual([1]);
  });

  it("can be shown by full weeks and months, and for a single day without a chart over time", async () => {
    for (const every of ["week", "month"]) {
      const { status, text } = await page(`lifecycle?every=${every}&from=${dayAgo(70)}`);
      expect([every, status, text]).toEqual([every, 200, expect.stringContaining("4 in all")]);
    }
    expect((await page(`lifecycle?from=${dayAgo(0)}`)).text).toContain(
      "There is only one figure for each state in this span",
    );
  });
});

describe("transitions", () => {
  it("show customer, time and cause", async () => {
    expect((await page("transitions?first=true&entered=new")).text).toMatch(/initech none new .* event/);
    expect((await page("transitions?entered=gone")).text).toMatch(/initech customer gone/);
  });

  it("are filtered by the states left and entered, or not at all", async () => {
    expect(rows((await page("transitions")).html)).toBe(7);
    expect(rows((await page("transitions?left=&entered=&from=&to=")).html)).toBe(7);
    expect(rows((await page("transitions?left=new")).html)).toBe(2);
    expect((await page("transitions?left=gone&entered=new")).text).toContain("No transitions match these filters");
  });
});

describe("a lifecycle too large for a diagram", () => {
  it("is shown in tables, as far as a page allows", async () => {
    const names = Array.from({ length: 60 }, (_, n) => `s${n}`);
    const others = (name: string) => names.filter((other) => other !== name);
    const ways = (name: string) => others(name).map((to): [string, Condition] => [to, happened("paid")]);
    const { events } = MODEL;
    await fixture.deploy(snapshotOf({ events, states: Object.fromEntries(names.map((name) => [name, ways(name)])) }));
    const { status, html, text } = await page("lifecycle");
    expect(status).toBe(200);
    expect(text).toMatch(/There is no diagram of 6\d states and 3,5\d\d transitions, because nobody could read it/);
    expect(html).toContain("<details open");
    expect(html.match(/<tr>/g)!.length).toBeLessThan(4_000);
    expect(text).toMatch(/87\d more are not shown; the API has all of them\./);
  });
});
