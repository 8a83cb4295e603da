import { afterAll, beforeAll, expect, test } from "vitest";

import { cannedServer, json } from "./support/canned-server.js";
import { type RunOptions, svc } from "./support/run-svc.js";
import { type Shop, startShop } from "./support/shop.js";

let shop: Shop;
beforeAll(async () => {
  shop = await startShop();
});
afterAll(() => shop.stop());

const logs = (argv: string[] = [], options: RunOptions = {}) => shop.run(["rules", "logs", ...argv], options);

test("runs of rules are listed, the newest first", async () => {
  expect(await logs()).toMatchInlineSnapshot(`
    At                          Customer  Rule    Result  Triggered by         Model
    <time>  globex    upsell  pass    event:invoice_paid   v1
    <time>  initech   upsell  fail    event:invoice_paid   v1
    <time>  initech   severe  pass    event:ticket_opened  v1
  `);
});

test("with --detail each run tells why it ended so, and what the rule does", async () => {
  expect(await logs(["--detail"])).toMatchInlineSnapshot(`
    <time>  upsell for globex: pass, it acted
      triggered by event:invoice_paid (event evt_<id>), v1
      met   in segment "power_users"
      did: add to segment "expansion"

    <time>  upsell for initech: fail, its condition was unmet
      triggered by event:invoice_paid (event evt_<id>), v1
      unmet in segment "power_users"
      would: add to segment "expansion"

    <time>  severe for initech: pass, it acted
      triggered by event:ticket_opened (event evt_<id>), v1
      did: raise signal "escalation"
  `);
});

test("on a terminal signs in colour stand for met and unmet", async () => {
  expect((await logs(["--detail", "--result", "fail"], { terminal: true })).stdout).toMatchInlineSnapshot(`
    "<time>  [1mupsell[22m for initech: [33mfail[39m, its condition was unmet
      [2mtriggered by event:invoice_paid (event evt_<id>), v1[22m
      [31m✗[39m in segment "power_users"
      would: add to segment "expansion"
    "
  `);
});

test("filters by customer, result and since when; an empty log is said to be", async () => {
  const counted = async (...argv: string[]) => {
    const { stdout } = await logs(["--json", ...argv]);
    return (JSON.parse(stdout) as { data: unknown[] }).data.length;
  };
  expect([
    await counted("--customer", "initech"),
    await counted("--result", "pass"),
    await counted("--since", "10d"),
  ]).toEqual([2, 2, 1]);
  const none = { code: 0, stdout: "There is no such run of a rule.\n", stderr: "" };
  expect(await logs(["--result", "error"])).toEqual(none);
  const { code, stderr } = await logs(["--rule", "upsel", "--detail"]);
  expect([code, stderr]).toEqual([1, expect.stringContaining('Did you mean "upsell"?')]);
});

const leaf = { met: false, flipsAt: null };
const CONDITION = {
  kind: "all",
  text: "…",
  expected: 3,
  actual: 1,
  met: false,
  missing: ["…"],
  flipsAt: "2026-03-20T10:00:00.000Z",
  conditions: [
    { ...leaf, kind: "trait", text: 'plan is "pro"', expected: "pro", actual: "pro", met: true, missing: null },
    {
      kind: "any",
      text: "…",
      expected: 1,
      actual: 0,
      met: false,
      missing: ["…"],
      flipsAt: null,
      conditions: [
        {
          ...leaf,
          kind: "inactiveFor",
          text: "no event for 21d",
          expected: "no event for 21d",
          actual: "last event 2026-03-12T10:00:00.000Z",
          missing: "19d",
          flipsAt: "2026-04-02T10:00:00.000Z",
        },
        {
          ...leaf,
          kind: "traitDateWithin",
          text: "renews_on within 14d",
          expected: "within 14d",
          actual: "2026-05-01T00:00:00.000Z",
          missing: "within 14d",
          flipsAt: "2026-04-17T00:00:00.000Z",
        },
        {
          ...leaf,
          kind: "health",
          text: "health of adoption less than 40",
          expected: "less than 40",
          actual: 62.5,
          missing: "less than -22.5",
        },
        {
          ...leaf,
          kind: "count",
          text: 'count of "login" within 7d at most 2',
          expected: "at most 2",
          actual: "3 or more",
          missing: -1,
        },
        {
          ...leaf,
          kind: "latest",
          text: 'latest of note of "a" exists',
          expected: "exists",
          actual: null,
          missing: "exists",
        },
      ],
    },
    {
      kind: "not",
      text: "…",
      expected: false,
      actual: true,
      met: false,
      missing: "…",
      flipsAt: null,
      conditions: [
        {
          ...leaf,
          kind: "lifecycle",
          text: "lifecycle is one of trial, new",
          expected: ["trial", "new"],
          actual: "trial\u001b[2J",
          met: true,
          missing: null,
        },
      ],
    },
  ],
};

test("a condition of many parts is a tree, in which nothing that came from elsewhere reaches the terminal", async () => {
  const run = {
    customerId: "cus_42",
    ruleId: "upsell",
    result: "fail",
    triggeredBy: "event:invoice_paid",
    executedAt: "2026-03-14T09:00:00.000Z",
    cause: { type: "timer", id: null },
    configVersion: null,
    error: null,
    conditions: CONDITION,
    action: { type: "emit", eventType: "plan.reviewed" },
  };
  const failed = { ...run, result: "error", error: "RangeError: too much", conditions: {}, action: undefined };
  const { url } = await cannedServer(json({ data: [run, failed], nextCursor: null }));
  const detail = (options: RunOptions) =>
    svc(["rules", "logs", "--detail", "--no-color", "--project", "shop"], { at: url, ...options });
  expect((await detail({})).stdout).toMatchInlineSnapshot(`
    "2026-03-14 10:00:00 +01:00  upsell for cus_42: fail, its condition was unmet
      triggered by event:invoice_paid (timer)
      unmet all of 3, 1 of them met  comes by itself in 6 days (2026-03-20 11:00:00 +01:00)
        met   plan is "pro"  it is pro
        unmet any of 5, none is met
          unmet no event for 21d  last event 2026-03-12 11:00:00 +01:00 (2 days ago); comes by itself in 19 days (2026-04-02 12:00:00 +02:00)
          unmet renews_on within 14d  it is 2026-05-01 02:00:00 +02:00 (in 47 days); comes by itself in 33 days (2026-04-17 02:00:00 +02:00)
          unmet health of adoption less than 40  it is 62.5; more than 22.5 too high
          unmet count of "login" within 7d at most 2  it is 3 or more; 1 too many
          unmet latest of note of "a" exists  there is none
        unmet not
          met   lifecycle is one of trial, new  it is trial\\u001b[2J
      would: emit "plan.reviewed"

    2026-03-14 10:00:00 +01:00  upsell for cus_42: error, it could not be run
      triggered by event:invoice_paid (timer)
      RangeError: too much
    "
  `);
  expect((await detail({ terminal: true })).stdout.split("\n\n")[0]).toMatchInlineSnapshot(`
    "2026-03-14 10:00:00 +01:00  upsell for cus_42: fail, its condition was unmet
      triggered by event:invoice_paid (timer)
      unmet all of 3, 1 of them met
            comes by itself in 6 days (2026-03-20 11:00:00 +01:00)
        met   plan is "pro"  it is pro
        unmet any of 5, none is met
          unmet no event for 21d
                last event 2026-03-12 11:00:00 +01:00 (2 days ago)
                comes by itself in 19 days (2026-04-02 12:00:00 +02:00)
          unmet renews_on within 14d
                it is 2026-05-01 02:00:00 +02:00 (in 47 days)
                comes by itself in 33 days (2026-04-17 02:00:00 +02:00)
          unmet health of adoption less than 40  it is 62.5; more than 22.5 too high
          unmet count of "login" within 7d at most 2  it is 3 or more; 1 too many
          unmet latest of note of "a" exists  there is none
        unmet not
          met   lifecycle is one of trial, new  it is trial\\u001b[2J
      would: emit "plan.reviewed""
  `);
});
