import { beforeAll, expect, it } from "vitest";
import { useSpec } from "../spec/support/fixture.js";
import type { Browser } from "../support/browser.js";
import { snapshot } from "../support/service.js";
import { browserOf } from "./support/session.js";
import { textOf } from "../support/browser.js";

const fixture = useSpec();
const PAGE = "/console/acme/app/test/today";
let owner: Browser;

const sectionOf = (html: string, name: string) =>
  textOf(new RegExp(`<section[^>]*><h2[^>]*>${name}</h2>.*?</section>`).exec(html)?.[0] ?? "");

beforeAll(async () => {
  const free = { kind: "trait", trait: "plan", operator: "eq", value: "free" } as const;
  const of = { event: "login" };
  await fixture.deploy(
    snapshot({
      display: { name: "plan" },
      signals: [
        { id: "odd", severity: "info", when: { kind: "trait", trait: "plan", operator: "eq", value: "pro" } },
        { id: "lost", severity: "critical", message: "Call them", when: free },
      ],
      rules: [{ id: "greet", on: { kind: "event", of }, then: { kind: "emit", type: "user.greeted" } }],
      lifecycle: {
        initial: "new",
        states: [
          {
            name: "new",
            transitions: [
              { to: "active", when: { kind: "count", of, operator: "gte", value: 1 } },
              { to: "gone", when: { kind: "inactiveFor", duration: "30d" } },
            ],
          },
          { name: "active", terminal: true, transitions: [] },
          { name: "gone", terminal: true, transitions: [] },
        ],
      },
    }),
  );
  await fixture.batch([
    { type: "identify", customerId: "globex", traits: { plan: "pro" } },
    { customerId: "globex", event: "login", properties: { seats: 1 } },
    { customerId: "hooli", event: "login", properties: { seats: 1 } },
    { type: "identify", customerId: "initech", traits: { plan: "free" } },
  ]);
  await fixture.evaluate();
  owner = await browserOf(fixture.service, "owner@acme.example");
});

it("shows the raised signals, most severe first, with the customer's name and since when", async () => {
  const { html } = await owner.get(PAGE);
  const text = sectionOf(html, "Raised signals");
  expect(text).toMatch(/lost critical free initech (now|\d+ seconds? ago) Call them odd info pro globex/);
  expect(html).toContain('href="customer?id=initech"');
});

it("shows entered states and segments and rules that acted, each with its number and the linked list", async () => {
  const { html } = await owner.get(PAGE);
  expect(sectionOf(html, "States")).toMatch(/new customers 3 .*to active 2 /);
  expect(sectionOf(html, "Segments")).toMatch(/paying entered 1 pro/);
  expect(sectionOf(html, "Rules that acted")).toMatch(/greet 2 (pro , hooli|hooli , pro)/);
  expect(html).toContain('href="emissions?eventType=customer.active&amp;since=1d"');
  expect(html).toContain('href="rule?id=greet&amp;result=pass&amp;since=1d"');
});

it("shows a critical signal first, however many others are newer", async () => {
  const { sql } = fixture.service.db;
  await sql`
    insert into svc.signals
    select (jsonb_populate_record(s, jsonb_build_object('signal_id', 'n' || n, 'severity', 'warning', 'raised_at', now()))).*
    from svc.signals as s cross join generate_series(1, 2500) as n where s.signal_id = 'odd'`;
  const [today, signals] = await Promise.all([owner.get(PAGE), owner.get(PAGE.replace("today", "signals"))]);
  const chosen = await owner.get(PAGE.replace("today", "signals?signal=lost"));
  await sql`delete from svc.signals where signal_id ~ '^n[0-9]'`;
  expect(sectionOf(today.html, "Raised signals")).toMatch(/Message lost critical free initech .* All raised signals$/);
  expect(sectionOf(signals.html, "Critical")).toMatch(/ free initech lost /);
  expect(sectionOf(signals.html, "Info")).toMatch(/ pro globex odd /);
  expect(sectionOf(chosen.html, "Raised now")).toMatch(/ free initech lost critical /);
});

it("shows who changed, however much rules emitted since", async () => {
  const { sql } = fixture.service.db;
  const [last] = await sql`select max(emission_seq) as seq from svc.emissions`;
  await sql`
    insert into svc.emissions
    select (jsonb_populate_record(e, jsonb_build_object('emission_seq', e.emission_seq + n, 'source', 'rule', 'event_type', 'user.greeted'))).*
    from svc.emissions as e cross join generate_series(1, 2500) as n where e.emission_seq = ${last!["seq"]}`;
  const { html } = await owner.get(PAGE);
  await sql`delete from svc.emissions where emission_seq > ${last!["seq"]}`;
  expect(sectionOf(html, "States")).toMatch(/new customers 3 .*to active 2 /);
});

it("shows whom time alone changes next", async () => {
  expect(sectionOf((await owner.get(PAGE)).html, "Next changes by time alone")).toMatch(/free initech in 29 days/);
});

it("shows failing webhooks, and none if all deliveries succeed", async () => {
  const created = await fixture.admin("POST", "/projects/app/webhooks?env=test", {
    body: { url: "https://example.com/hook", eventTypes: ["*"] },
  });
  expect(created.status).toBe(201);
  expect(sectionOf((await owner.get(PAGE)).html, "Webhooks with problems")).toBe("");
  await fixture.service.db.sql`update svc.webhooks set failing_since = now() - interval '2 hours'`;
  expect(sectionOf((await owner.get(PAGE)).html, "Webhooks with problems")).toContain(
    "https://example.com/hook has failed since",
  );
});

it("can start at any day", async () => {
  const then = new Date(Date.now() - 3 * 86_400_000);
  await fixture.service.db.sql`update svc.emission_batches set created_at = ${then}`;
  await fixture.service.db.sql`update svc.emissions set created_at = ${then}`;
  expect(sectionOf((await owner.get(PAGE)).html, "States")).toContain("No customer changed state.");
  expect(sectionOf((await owner.get(`${PAGE}?since=7d`)).html, "States")).toMatch(/to active 2/);
  // What rules acted on is older than what is found out about it, where a history was imported.
  await fixture.service.db.sql`update svc.rule_executions set executed_at = executed_at - interval '3 days'`;
  expect(sectionOf((await owner.get(PAGE)).html, "Rules that acted")).toContain(
    "No rule acted on what happened since then.",
  );
});

it("counts the runs of a rule that its link lists", async () => {
  const timestamp = new Date(Date.now() - 40 * 86_400_000).toISOString();
  await fixture.batch([{ customerId: "umbrella", event: "login", properties: { seats: 1 }, timestamp }]);
  await fixture.evaluate();
  for (const [since, runs] of [
    ["7d", 2],
    ["50d", 3],
  ] as const) {
    const { html } = await owner.get(`${PAGE}?since=${since}`);
    expect(sectionOf(html, "Rules that acted")).toMatch(new RegExp(`greet ${runs} `));
    const href = /href="(rule\?id=greet[^"]*)"/.exec(html)![1]!.replaceAll("&amp;", "&");
    const list = await owner.get(PAGE.replace("today", href));
    expect(list.html.match(/>acted<\/span>/g)).toHaveLength(runs);
    expect(list.html).toContain(`name="since" value="${since}"`);
  }
  expect((await owner.get(PAGE.replace("today", "rule?id=greet&since=soon"))).status).toBe(400);
});
