import { decodeHTML } from "entities";
import { beforeAll, describe, expect, it } from "vitest";
import { happened, snapshotOf, type StepParts } from "../engine/support/builders.js";
import { useSpec } from "../spec/support/fixture.js";
import type { Browser } from "../support/browser.js";
import { browserOf } from "./support/session.js";
import { textOf } from "../support/browser.js";

const fixture = useSpec();
const BASE = "/console/acme/app/test";
const NAMES = ["signed_up", "invited", "called", "imported", "paid"];
const step = (id: string, event: string): StepParts => [id, happened(event)];
const journey = { start: happened("signed_up"), expiresAfter: "30d" };
const modelOf = (onboarding: StepParts[]) =>
  snapshotOf({
    events: Object.fromEntries(NAMES.map((name) => [name, { properties: {} }])),
    journeys: {
      onboarding: { ...journey, steps: onboarding },
      setup: { ...journey, steps: [step("import", "imported"), step("invite", "invited")], anyOrder: true },
      renewal: { start: happened("paid"), steps: [step("again", "signed_up")] },
    },
  });
const MODEL = modelOf([step("invite", "invited"), step("import", "imported"), step("pay", "paid")]);

const NOW = Date.now();
const HOUR_MS = 3_600_000;
const event = (customerId: string, event: string, days: number, hours = 0) => ({
  customerId,
  event,
  timestamp: new Date(NOW - days * 24 * HOUR_MS + hours * HOUR_MS).toISOString(),
});
const EVENTS = [
  event("globex", "signed_up", 20),
  event("globex", "invited", 20, 2),
  event("globex", "imported", 20, 5),
  event("globex", "paid", 20, 10),
  event("initech", "signed_up", 10),
  event("initech", "invited", 10, 4),
  event("umbrella", "signed_up", 5),
  event("soylent", "signed_up", 60),
  event("soylent", "invited", 60, 6),
  event("hooli", "signed_up", 200),
];

let owner: Browser;
const page = (path: string) => owner.get(`${BASE}/${path}`);
/** The cells of each row of the table. */
const rows = (html: string) =>
  (html.split("<tbody>")[1] ?? "")
    .split("</tbody>")[0]!
    .split("<tr>")
    .slice(1)
    .map((row) =>
      row
        .split(/<td[^>]*>/)
        .slice(1)
        .map((cell) => textOf(cell).trim()),
    );
/** All links to runs, with the number that each link shows. */
const numbers = (html: string) =>
  [...html.matchAll(/href="(journey-runs\?[^"]*)">([\d,]+)</g)].map(([, href, number]) => ({
    href: decodeHTML(href!),
    number: Number(number),
  }));

beforeAll(async () => {
  await fixture.deploy(MODEL);
  await fixture.batch(EVENTS);
  await fixture.evaluate();
  owner = await browserOf(fixture.service, "owner@acme.example");
});

describe("the journeys", () => {
  it("show how many customers started each one within 90 days, and the results", async () => {
    const { status, html } = await page("journeys");
    expect(status).toBe(200);
    expect(rows(html).slice(0, 2)).toEqual([
      ["onboarding", "4", "2", "1", "1", "50 %"],
      ["setup", "4", "2", "1", "1", "50 %"],
    ]);
  });

  it("are counted for another period, too, without a rate while most are under way", async () => {
    expect(rows((await page("journeys?since=30d")).html)[0]).toEqual(["onboarding", "3", "2", "1", "0", ""]);
    expect(rows((await page("journeys?since=all")).html)[0]).toEqual(["onboarding", "5", "2", "1", "2", "33.3 %"]);
  });
});

describe("a journey", () => {
  it("shows how many reached and completed each step, wait or expired there, and how long it took", async () => {
    const { status, html, text } = await page("journey?id=onboarding");
    expect(status).toBe(200);
    expect(rows(html)).toEqual([
      ["invite", "4", "100 % reached it", "3", "1", "0", "4 hours"],
      ["import", "3", "75 % reached it", "1", "1", "1", "3 hours"],
      ["pay", "1", "25 % reached it", "1", "0", "0", "5 hours"],
    ]);
    expect(text).toContain("Complete 1 in 10 hours (median)");
    expect(text).toContain("Times are medians of 4 runs.");
  });

  it("with steps in any order shows how many completed each step", async () => {
    expect(rows((await page("journey?id=setup")).html)).toEqual([
      ["import", "25 % completed it", "1", "2", "1", "3 hours"],
      ["invite", "75 % completed it", "3", "0", "0", "4 hours"],
    ]);
  });

  it("links each number to a list with that many runs", async () => {
    for (const path of ["journeys", "journeys?since=all", "journey?id=onboarding", "journey?id=setup&since=all"]) {
      const links = numbers((await page(path)).html);
      expect(links.length).toBeGreaterThan(4);
      for (const { href, number } of links) {
        const list = await page(href);
        expect([href, list.status, rows(list.html).length]).toEqual([href, 200, number]);
      }
    }
  });

  it("counts steps that a deploy adds as completed only by the runs that completed them", async () => {
    const steps = [step("invite", "invited"), step("call", "called"), step("import", "imported"), step("pay", "paid")];
    await fixture.deploy(modelOf(steps));
    await fixture.evaluate();
    const path = "journey?id=onboarding&since=all";
    expect(rows((await page(path)).html)[1]).toEqual(["call", "3", "60 % reached it", "0", "0", "0", ""]);
    for (const { href, number } of numbers((await page(path)).html)) {
      const list = await page(href);
      expect([href, rows(list.html).length]).toEqual([href, number]);
    }
    await fixture.deploy(MODEL);
  });

  it("that nobody began says so", async () => {
    expect((await page("journey?id=renewal&since=1d")).text).toContain("No customer started it within this time");
  });

  it("with a thousand and more runs shows the times of all; with more those of a sample, and says so", async () => {
    const { sql } = fixture.service.db;
    const add = (from: number, to: number) => sql`
      insert into svc.journey_runs (environment_id, customer_id, journey_id, run, status, current_step, steps, started_at)
      select environment_id, 'many ' || n, 'onboarding', 1, 'active', 'import', steps, started_at
      from svc.journey_runs, generate_series(${from}::int, ${to}::int) as n where customer_id = 'initech' and journey_id = 'onboarding'`;
    await add(1, 1500);
    const all = await page("journey?id=onboarding");
    expect(rows(all.html)[0]).toEqual(["invite", "1,504", "100 % reached it", "1,503", "1", "0", "4 hours"]);
    expect(all.text).toContain("Times are medians of 1,504 runs.");
    expect(rows(all.html)[2]![2]).toBe("0.1 % reached it");

    await add(1501, 10_000);
    const { html, text } = await page("journey?id=onboarding");
    expect(rows(html)[0]).toEqual(["invite", "10,004", "100 % reached it", "10,003", "1", "0", "about 4 hours"]);
    const [, timed] = /Times are medians of ([\d,]+) of the 10,004 runs, those of an even sample of customers/.exec(
      text,
    )!;
    expect(Number(timed!.replace(",", ""))).toBeGreaterThan(1800);
    expect(Number(timed!.replace(",", ""))).toBeLessThan(2200);
    await sql`delete from svc.journey_runs where customer_id like 'many %'`;
  });

  it("shows no shares of runs started if the sample has none of its few customers", async () => {
    const { sql } = fixture.service.db;
    // Of 4,000 runs of a single customer, those of half of all customers are read.
    await sql`
      insert into svc.journey_runs (environment_id, customer_id, journey_id, run, status, current_step, steps, started_at)
      select environment_id, c.id, 'setup', n, 'active', 'import', '{}', now()
      from svc.environments, generate_series(1, 4000) as n, (
        select 'solo ' || k as id from generate_series(1, 50) as k where not svc.is_sampled('solo ' || k, 0.6) limit 1
      ) as c
      where name = 'test'`;
    const { html } = await page("journey?id=setup&since=1d");
    expect(rows(html)).toEqual([
      ["import", "", "", "4,000", "0", ""],
      ["invite", "", "", "0", "0", ""],
    ]);
    await sql`delete from svc.journey_runs where customer_id like 'solo %'`;
  });
});
