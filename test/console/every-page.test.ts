import { beforeAll, describe, expect, it } from "vitest";
import { addTo, counted, emit, happened, healthOf, rule, snapshotOf, trait } from "../engine/support/builders.js";
import { useSpec } from "../spec/support/fixture.js";
import type { Browser } from "../support/browser.js";
import { browserOf } from "./support/session.js";

// What holds for all pages of the console alike; the other files of this folder look at what each one shows.

const HOSTILE = `<script>alert(1)</script> & "x" ‮evil‬ 🦊`;
const SHOWN = '<script>alert(1)</script> & "x" \\u202eevil\\u202c 🦊';
const query = (name: string) => new URLSearchParams({ id: name }).toString();

const fixture = useSpec();
let owner: Browser;
/** Ids in the addresses of pages. */
const ids: Record<string, string> = {};

const page = (path: string, env = "test") =>
  owner.get(`/console/acme/app/${env}/${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name]!)}`);

beforeAll(async () => {
  const isPro = trait("plan", "eq", "pro");
  await fixture.deploy({
    ...snapshotOf({
      events: Object.fromEntries(["login", HOSTILE].map((name) => [name, { properties: {} }])),
      traits: { plan: { type: "string", enum: ["free", "pro"] } },
      states: { new: [["active", happened(HOSTILE)]], active: [] },
      journeys: { onboarding: { start: happened(HOSTILE), steps: [["log_in", happened("login")]] } },
      segments: { paying: isPro, chosen: null },
      health: healthOf({ usage: counted("login", 4) }, { good: 50, poor: 0 }),
      signals: { lost: { message: HOSTILE, when: isPro } },
      rules: { greet: rule(HOSTILE, emit("account.greeted")), choose: rule("login", addTo("chosen")) },
    }),
    display: { owner: "plan" },
    strictSchema: false,
  });
  const body = { url: "https://example.com/hook", eventTypes: ["account.greeted"] };
  ids["webhook"] = (
    (await fixture.admin("POST", "/projects/app/webhooks?env=test", { body })).body as { id: string }
  ).id;
  await fixture.batch([
    { type: "identify", customerId: HOSTILE, traits: { plan: "pro" } },
    { customerId: HOSTILE, event: HOSTILE, properties: { [HOSTILE]: HOSTILE } },
  ]);
  await fixture.evaluate();
  for (const kind of ["key", "recompute"]) {
    const { body } = await fixture.admin("POST", `/projects/app/${kind}s?env=test`, {
      body: kind === "key" ? { name: "backend" } : { dryRun: true },
    });
    ids[kind] = (body as { id: string; key?: { id: string } }).key?.id ?? (body as { id: string }).id;
  }
  const [row] = await fixture.service.db.sql<[{ event: string; emission: string }]>`
    select e.event_id as event, svc.emission_id(d.emission_seq) as emission
    from svc_inspect.events as e, svc.deliveries as d`;
  Object.assign(ids, row);
  owner = await browserOf(fixture.service, "owner@acme.example");
});

it.each([
  ...["customers", `customer?${query(HOSTILE)}`, "transitions", "journey-runs?id=onboarding", "segment?id=paying"],
  ...["signals", "rule?id=greet", "events", "event?id={event}", "violations"],
  ...["emissions", "emission?id={emission}", "webhook?id={webhook}", "delivery?webhook={webhook}&id={emission}"],
  ...["today", "model", `rule?${query(HOSTILE)}`, `segment?${query(HOSTILE)}`, `customer?${query(`${HOSTILE}!`)}`],
])("hostile names are escaped, and what cannot be seen is shown: %s", async (path) => {
  const { html, text } = await page(path);
  expect(html).not.toContain("<script");
  expect(html.replaceAll(/="[^"]*"/g, "")).not.toMatch(/[‮‬]/);
  expect(text.replaceAll("\\u003c", "<")).toContain(SHOWN);
});

it.each([
  ...["lifecycle", "segments", "rules", "signals", "health", "journeys", "today"].map((path) => [
    path,
    "No model is deployed yet",
  ]),
  ["customers", "There are no customers yet"],
  ["events", "There are no events yet"],
  ["violations", "All accepted operations match the model"],
  ["emissions", "Nothing has been emitted yet"],
  ["deliveries", "There is no webhook yet"],
])("without data, %s says: %s", async (path, says) => {
  const { status, text } = await page(path, "live");
  expect([status, text]).toEqual([200, expect.stringContaining(says)]);
});

describe("an outdated address of a later page of a list", () => {
  it("does not say that there is nothing at all", async () => {
    await fixture.batch([{ type: "identify", customerId: "zz", traits: {} }]);
    await fixture.evaluate();
    const { body } = await fixture.admin("GET", "/projects/app/customers?env=test&limit=1");
    const { nextCursor } = body as { nextCursor: string | null };
    expect(nextCursor).not.toBeNull();
    expect((await fixture.admin("DELETE", "/projects/app/customers/zz?env=test")).status).toBe(200);
    const { status, text, html } = await page(`customers?cursor=${nextCursor}`);
    expect([status, text]).toEqual([200, expect.stringContaining("There is nothing more in this list.")]);
    expect(html).toContain('<a href="customers">First page</a>');
  });

  it.each(["keys?cursor=x", "recomputes?cursor=x&status=dead_letter", "model?backtests=x"])(
    "leads to the first page: %s",
    async (path) => {
      const { status, html, text } = await page(path);
      expect([status, text]).toEqual([400, expect.stringContaining("begin with the first page of the list")]);
      const first = path.replace(/(cursor|backtests)=x&?/, "").replace(/\?$/, "");
      expect(html).toContain(`<a href="${first}">First page</a>`);
    },
  );

  it("is not carried into the other environment", async () => {
    expect((await page("customers?search=glo&cursor=x")).html).toContain('href="../live/customers?search=glo"');
    // Nor that operations were released.
    const released = await page("quarantine?event=a&released=5&stay=1");
    expect(released.html).toContain('href="../live/quarantine?event=a"');
  });
});

it.each([
  ["webhook?id={webhook}", "deliveries"],
  ["delivery?webhook={webhook}&id={emission}", "deliveries"],
  ["resend?webhook={webhook}&id={emission}", "deliveries"],
  ["event?id={event}", "events"],
  ["emission?id={emission}", "emissions"],
  ["key?id={key}&cursor=", "keys"],
  ["recompute?id={recompute}", "recomputes"],
  ["begin-recompute?from={recompute}", "recomputes"],
  ["recompute?id=rec_0", "recomputes"],
  ["preview?id=prv_0", "model"],
  ["backtest?id=bkt_0", "model"],
  ["quarantined?id=qua_0", "quarantine"],
  // Both environments may have these.
  ["customer?id=globex", "customer?id=globex"],
  ["version?id=v1", "version?id=v1"],
])("%s leads to %s in the other environment", async (path, list) => {
  expect((await page(path)).html).toContain(`<a href="../live/${list}"`);
});

describe("a bad filter is reported", () => {
  const NO_TIME = "is neither a duration nor a date";
  const NO_CURSOR = "cursor is not one of this list";
  const NO_STATE = "The active version has no state of this name";
  it.each<[path: string, says: string, kept?: [name: string, value: string]]>([
    ["customers?lifecycle=nope&search=glo", NO_STATE, ["search", "glo"]],
    ["customers?inactive=soon&search=glo", "is not a duration", ["search", "glo"]],
    ["customers?cursor=x&search=glo", NO_CURSOR, ["search", "glo"]],
    ["customers.csv?inactive=soon", "inactive"],
    ["customers.csv?value=pro", "trait"],
    [`customer?${query(HOSTILE)}&at=2026-13-01`, NO_TIME, ["at", "2026-13-01"]],
    [`customer?${query(HOSTILE)}&at=2999-01-01`, "is in the future"],
    [`customer?${query(HOSTILE)}&at=9999d`, "than the longest duration, 3650d."],
    ["today?since=soon", NO_TIME, ["since", "soon"]],
    ["lifecycle?from=soon", "`from` is not a day. Write for example 2026-03-01.", ["from", "soon"]],
    ["lifecycle?from=2999-01-01", "`from` is in the future.", ["from", "2999-01-01"]],
    ["lifecycle?from=2026-03-02&to=2026-03-01", "The span ends before it begins.", ["from", "2026-03-02"]],
    ["lifecycle?from=2001-01-01", "more than 1,100 days", ["from", "2001-01-01"]],
    ["lifecycle?every=hour", "every"],
    ["transitions?entered=nope", NO_STATE],
    ["journeys?since=soon", NO_TIME],
    ["journey?id=onboarding&since=soon", NO_TIME],
    ["journey-runs?id=onboarding&since=soon", NO_TIME],
    ["segment?id=paying&cursor=x", NO_CURSOR],
    ["signals?since=soon&severity=info", NO_TIME, ["since", "soon"]],
    ["signals?signal=nope", "signal"],
    ["rule?id=greet&result=nope", "result"],
    ["events?since=soon&type=login", NO_TIME, ["type", "login"]],
    ["emissions?source=nothing", "source"],
    ["webhook?id={webhook}&status=lost&eventType=some.type", "status", ["eventType", "some.type"]],
    ["webhook?id={webhook}&cursor=x", "cursor"],
    ["version?id=nope", "version"],
    ["audit-log?since=soon", NO_TIME],
    ["audit-log?cursor=nope", "cursor"],
  ])("%s", async (path, says, kept) => {
    const { status, html, text } = await page(path);
    expect([status, text]).toEqual([400, expect.stringContaining(says)]);
    if (kept !== undefined) expect(html).toMatch(new RegExp(`name="${kept[0]}" (?:[^>]* )?value="${kept[1]}"`));
  });
});

it.each([
  ["rule?id=nope", 'no rule " nope "', "rules"],
  ["segment?id=nope", 'The active model has no segment " nope "', "segments"],
  ["journey?id=nope", "nope", "journeys"],
  ["journey-runs?id=nope", 'There is no journey "nope" in this environment', "journey?id=nope&amp;since=90d"],
  ["customer?id=nobody", 'There is no customer " nobody " in this environment', "customers?search=nobody"],
  ["event?id=evt_0000000000000400", 'There is no event "evt_0000000000000400"', "today"],
  ["emission?id=emi_0000000000000400", "emi_0000000000000400", "today"],
  ["webhook?id=whk_1", "whk_1", "today"],
  ["delivery?webhook={webhook}&id=emi_0000000000000000", "emi_0000000000000000", "today"],
  ["version?id=v9", "v9", "today"],
  ...["recompute?id=rec_0", "recompute", "preview?id=prv_0", "preview", "begin-recompute?from=x"].map((path) => [
    path,
    "",
    "today",
  ]),
  ...["backtest?id=bkt_0", "backtest"].map((path) => [path, "", "today"]),
  ["member?id=usr_0", "There is no such", "members"],
  ["invitation?id=inv_0", "There is no such", "members"],
  ["key?id=key_0", "There is no such", "keys"],
  ["key", "There is no such", "keys"],
  ["token?id=tok_0", "There is no such", "tokens"],
])("%s, which is not there, is said to be missing, with a way on", async (path, says, link) => {
  const { status, html, text } = await page(path);
  expect([status, text]).toEqual([404, expect.stringContaining(says)]);
  expect(/<main.*<\/main>/s.exec(html)![0]).toContain(`<a href="${link}"`);
});

it("long ids, and long names of many traits, are shown however long they are as JSON", async () => {
  const long = (index: number) => `${'"'.repeat(250)}${index}`;
  const several = Array.from({ length: 50 }, (_, index) => long(index));
  const traits = { plan: "free", ...Object.fromEntries(several.map((name) => [name, 1 / 3])) };
  await fixture.batch(several.map((customerId) => ({ type: "identify", customerId, traits: { plan: "free" } })));
  await fixture.batch([{ type: "identify", customerId: long(0), traits }]);
  await fixture.evaluate();
  const list = await page("customers");
  expect([list.status, list.html.split("<bdi>free</bdi>").length > 40]).toEqual([200, true]);
  const { status, text } = await page(`customer?${query(long(0))}`);
  expect([status, text.split("0.3333333333333333").length > 50]).toEqual([200, true]);
});
