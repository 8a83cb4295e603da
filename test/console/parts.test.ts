import { beforeAll, describe, expect, it } from "vitest";
import { tickFormat } from "../../src/console/charts/axis.js";
import type { Snapshot } from "../../src/model/snapshot/types.js";
import {
  addTo,
  all,
  counted,
  emit,
  happened,
  healthOf,
  raise,
  rule,
  snapshotOf,
  trait,
} from "../engine/support/builders.js";
import { useSpec } from "../spec/support/fixture.js";
import type { Browser } from "../support/browser.js";
import { environmentId } from "../support/service.js";
import { browserOf } from "./support/session.js";

const fixture = useSpec();
let browser: Browser;

const page = (path: string) => browser.get(`/console/acme/app/test/${path}`);
const rowsOf = (html: string) => (html.match(/<tr/g)?.length ?? 0) - 1;
const customersIn = (html: string) => [...html.matchAll(/href="customer\?id=(\w+)"/g)].map(([, id]) => id);

const isPro = trait("plan", "eq", "pro");
const isFree = trait("plan", "eq", "free");
const MODEL: Snapshot = snapshotOf({
  events: { login: { properties: {} } },
  traits: { plan: { type: "string", enum: ["free", "pro"] } },
  states: { new: [["active", happened("login")]], active: [] },
  segments: { paying: isPro, busy: all(isPro, happened("login")), chosen: null },
  signals: {
    quiet: { severity: "info", when: isFree },
    leaving: { severity: "critical", message: "Call <b>now</b>", when: isFree },
    asked: { severity: "warning", for: "7d" },
  },
  rules: {
    greet: rule("login", emit("account.greeted"), { once: true }),
    choose: rule("login", addTo("chosen"), { when: isPro, cooldown: "7d" }),
    never: rule({ kind: "stateExited", state: "active" }, emit("account.told")),
    ask: rule("login", raise("asked"), { when: isPro }),
  },
  health: healthOf(
    {
      usage: [3, counted("login", 2)],
      contract: [1, { kind: "map", trait: "plan", values: { pro: 100, free: 20 } }],
    },
    { good: 60, bad: 0 },
  ),
});

beforeAll(async () => {
  await fixture.deploy(MODEL);
  browser = await browserOf(fixture.service, "owner@acme.example");
});

it("an environment without customers shows empty segments", async () => {
  const { status, html } = await page("segments");
  expect([status, html.match(/href="customers\?segment=\w+">0</g)?.length]).toEqual([200, 3]);
});

describe("with customers", () => {
  beforeAll(async () => {
    const plans = { globex: "pro", acme: "pro", initech: "free", hooli: "free" };
    await fixture.batch([
      ...Object.entries(plans).map(([customerId, plan]) => ({ type: "identify", customerId, traits: { plan } })),
      ...["globex", "globex", "umbrella"].map((customerId) => ({ customerId, event: "login" })),
    ]);
    await fixture.evaluate();
    const { sql } = fixture.service.db;
    // A run from an earlier history, long ago, and one that failed.
    await sql`
      insert into svc.rule_executions (
        environment_id, customer_id, rule_id, result, triggered_by, conditions, action, error, executed_at, cause_type, generation
      )
      select ${await environmentId(sql, "app", "test")}, 'globex', 'greet', r.result, 'event:login', '{}', '{}', r.error, now() - r.ago, 'event', r.generation
      from (
        values ('pass', null, interval '1 hour', 1), ('pass', null, '60 days', 0), ('error', 'unknown <i>segment</i>', '1 hour', 0)
      ) as r (result, error, ago, generation)`;
  });

  it("rules are described in words, with how often each acted, failed and was not met", async () => {
    const { status, text } = await page("rules");
    expect(status).toBe(200);
    expect(text).toMatch(/greet 2 1 0 1 On "login" ?: emit "account.greeted" , once for each customer/);
    expect(text).toMatch(
      /choose 1 0 1 1 On "login", if plan is "pro" ?: add to segment "chosen" , then not again for 7d/,
    );
    expect(text).toMatch(/never 0 0 0 0 On state "active" exited ?: emit "account.told"/);
    expect((await page("rule?id=never")).text).toContain("It has no such runs in this period.");
  });

  it("each number of a rule's runs is linked to that many", async () => {
    const { html } = await page("rules?days=90");
    const links = [...html.matchAll(/href="(rule\?[^"]*result=[^"]*)">(\d+)</g)];
    expect(links.map(([, , runs]) => runs).slice(0, 6)).toEqual(["3", "1", "1", "1", "1", "1"]);
    for (const [, href, runs] of links) {
      expect(rowsOf((await page(href!.replaceAll("&amp;", "&"))).html)).toBe(Number(runs));
    }
  });

  it("a rule shows its latest runs with the customer and the emission, and errors as such", async () => {
    const { status, text, html } = await page("rule?id=greet");
    expect([status, rowsOf(html)]).toEqual([200, 4]);
    expect(text).toMatch(/globex failed : unknown <i>segment<\/i>/);
    const [, href, emission] = /href="(customer\?id=globex&amp;kind=emission)#(emi_\w+)"/.exec(html)!;
    expect((await page(href!.replaceAll("&amp;", "&"))).html).toContain(`id="${emission}"`);
  });

  it("segments are shown with their meaning and size, which matches the linked list", async () => {
    const { text, html } = await page("segments");
    expect(text).toContain('plan is "pro" and count of "login" at least 1');
    expect(text).toMatch(/Rules decide: choose adds customers/);
    for (const [segment, size] of Object.entries({ paying: 2, busy: 1, chosen: 1 })) {
      expect(html).toContain(`href="customers?segment=${segment}">${size}</a>`);
      expect(rowsOf((await page(`customers?segment=${segment}`)).html)).toBe(size);
    }
  });

  it("a segment shows its members with their state, and who entered and left", async () => {
    const { status, html, text } = await page("segment?id=busy&days=7");
    expect(status).toBe(200);
    expect(text).toMatch(/all of these: plan is "pro" count of "login" at least 1/);
    expect(html).toContain('href="customers?segment=busy&amp;lifecycle=active">1</a>');
    expect(html).toContain('href="customer?id=globex"');
    expect(text).toContain("Customers that entered and left over the last 7 days");
    expect(html.match(/<tr/g)!.length).toBeGreaterThan(14);
  });

  it("signals are shown by severity, worst first, each with its customers, message, meaning and count", async () => {
    const { status, text, html } = await page("signals");
    expect(status).toBe(200);
    expect(customersIn(html)).toEqual(["initech", "hooli", "globex", "initech", "hooli"]);
    expect(text.indexOf("Critical")).toBeLessThan(text.indexOf("Warning"));
    expect(text).toContain("Call <b>now</b>");
    expect(text).toContain('plan is "free"');
    expect(text).toMatch(/Rules decide: ask raises it ?; it clears itself after 7d/);
    expect(html).toContain('href="signals?signal=leaving">2</a>');
  });

  it.each([
    ["severity=warning", ["globex"]],
    ["signal=leaving", ["initech", "hooli"]],
    ["signal=quiet&since=1d", ["initech", "hooli"]],
    ["since=2099-01-01", []],
  ])("signals are filtered by %s", async (query, expected) => {
    expect(customersIn((await page(`signals?${query}`)).html)).toEqual(expected);
  });

  it("health shows the size of each band, which matches the linked list, the components and the quartiles over time", async () => {
    const { status, text, html } = await page("health?days=7");
    expect(status).toBe(200);
    expect(text).toMatch(/good 60 to 100 1 20 % bad from 0, below 60 4 80 %/);
    expect(html).toContain('href="customers?health=bad">4</a>');
    expect(customersIn((await page("customers?health=bad")).html)).toHaveLength(4);
    expect(text).toMatch(/usage 3 75 % count of "login": 0 points at 0, 100 points at 2/);
    expect(text).toContain("plan: 100 points for pro, 20 for free, else 0");
    expect(text).toContain("Median and quartiles of the scores over the last 7 days, median now");
    expect(text).not.toContain("recompute that ran until");
    const { sql } = fixture.service.db;
    await sql`
      insert into svc.recomputes (
        environment_id, recompute_id, kind, pinned_at, status, customers_total, customers_done, requested_by, started_at, finished_at
      )
      select environment_id, 'rec_1', 'recompute', now(), 'completed', 5, 5, 'ada', now(), now()
      from svc.environments where name = 'test'`;
    expect((await page("health?days=7")).text).toMatch(
      /A recompute that ran until .* kept one record of each customer's health: earlier ones are missing here/,
    );
    await sql`delete from svc.recomputes`;
  });

  it("after a deploy customers are still in the bands of the previous version, and in segments that are gone, and pages say so", async () => {
    const before = "computed under another version than the active";
    const derived = {
      lifecycle: "states",
      journeys: "journeys",
      segments: "segments",
      "segment?id=paying": "segments",
      health: "bands",
      signals: "signals",
    };
    for (const path of Object.keys(derived)) expect((await page(path)).text).not.toContain(before);
    const health = { ...MODEL.health!, bands: MODEL.health!.bands.map((band) => ({ ...band, from: band.from / 2 })) };
    await fixture.deploy({ ...MODEL, health, segments: [], rules: [] });
    for (const [path, kept] of Object.entries(derived)) {
      const { text, html } = await page(path);
      expect(text).toContain(`The state of 5 customers was ${before} v2. They keep the ${kept} of that version until`);
      expect(html).toContain('<a href="recomputes">a recompute</a>');
    }
    expect((await page("segment?id=unknown")).text).not.toContain(before);
    const segments = await page("segments");
    expect(segments.text).toContain("The active model no longer has this segment.");
    expect(segments.html).toContain('href="segment?id=paying"');
  });
});

it("ticks of an axis that are midnights in UTC are named by their days and months in every zone", () => {
  const tick = new Date("2026-03-01T00:00:00Z");
  const nameOf = (days: number) => tickFormat(days * 86_400_000, "America/New_York").format(tick);
  expect([1, 30, 400].map(nameOf)).toEqual(["19:00", "1 Mar", "Mar 2026"]);
});
