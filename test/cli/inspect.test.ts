import { expect, test } from "vitest";

import { cannedServer, json } from "./support/canned-server.js";
import { svc } from "./support/run-svc.js";

const CUSTOMER = {
  customerId: "cus_42",
  environment: "test",
  createdAt: "2026-01-10T08:00:00.000Z",
  lastEventAt: "2026-03-14T09:59:59.500Z",
  evaluatedThrough: "2026-03-14T09:00:00.000Z",
  configVersion: "v3",
  traits: { plan: "pro", seats: 5, tags: ["a", "b"] },
  lifecycle: "activated",
  lifecycleEnteredAt: "2026-03-02T10:00:00.000Z",
  segments: ["payers", "power_users"],
  health: { overall: 62.5, components: { adoption: 25, engagement: 100 }, band: "at_risk" },
  journeys: [
    { journeyId: "conversion", status: "complete", currentStep: "payment" },
    { journeyId: "onboarding", status: "active", currentStep: "invite_team" },
  ],
  signals: [{ signalId: "going_quiet", severity: "warning", message: null }],
  nextDueAt: "2026-03-29T01:30:00.000Z",
};

/** Part of the canned server's single answer. */
const NOTHING_WAITS = { pending: 0, ahead: 0, setAside: null };

const NO_EXPLANATION = {
  ...{ configVersion: "v3", activeVersion: "v3", flipsKnown: true, unavailable: null },
  ...{ lifecycle: null, journeys: [], segments: [], health: null, signals: [] },
};

/** Runs a command at a service that gives every request the same answer, except for explanations. */
async function read(line: string, document: unknown) {
  const { url } = await cannedServer(({ url: path }) =>
    json(path.includes("/explanation") ? NO_EXPLANATION : path.includes("/diagnostics") ? { data: [] } : document),
  );
  return (await svc([...line.split(" "), "--project", "shop"], { at: url })).stdout;
}

test("a customer's state is shown with instants in the local zone and their distance from now", async () => {
  expect(await read("customers inspect cus_42", { ...CUSTOMER, ...NOTHING_WAITS })).toMatchInlineSnapshot(`
    "cus_42 in test

    Lifecycle          activated since 2026-03-02 11:00:00 +01:00 (12 days ago)
    Segments           payers, power_users
    Journeys           conversion complete, onboarding active at invite_team
    Health             62.5 at_risk (adoption 25, engagement 100)
    Signals            going_quiet (warning)
    Last event         2026-03-14 10:59:59 +01:00 (now)
    Known since        2026-01-10 09:00:00 +01:00 (63 days ago)
    Evaluated through  2026-03-14 10:00:00 +01:00 (1 hour ago)
    Next due           2026-03-29 03:30:00 +02:00 (in 14 days)
    Model              v3

    Traits
      plan   "pro"
      seats  5
      tags   ["a","b"]
    "
  `);
});

test("a customer about whom little is known", async () => {
  const unknown = {
    ...{ lastEventAt: null, evaluatedThrough: null, configVersion: null, nextDueAt: null, lifecycle: null },
    ...{ lifecycleEnteredAt: null, traits: {}, segments: [], journeys: [], health: null, signals: [] },
  };
  expect(await read("customers inspect x", { ...CUSTOMER, ...NOTHING_WAITS, ...unknown })).toMatchInlineSnapshot(`
    "cus_42 in test

    Lifecycle          none
    Segments           none
    Journeys           none
    Health             no score
    Signals            none
    Last event         none
    Known since        2026-01-10 09:00:00 +01:00 (63 days ago)
    Evaluated through  not evaluated yet
    Next due           nothing is due
    Model              none
    "
  `);
});

test("pending operations of a customer are shown after its state, with the reason and the fix if it was set aside", async () => {
  expect(await read("customers inspect x", { ...CUSTOMER, pending: 3, ahead: 1, setAside: null })).toContain(
    "\n\n3 operations waiting to be evaluated, 1 of them dated in the future.\n",
  );
  const setAside = { at: "2026-03-14T09:00:00.000Z", error: "Error: no such thing" };
  const stdout = await read("customers inspect x", { ...CUSTOMER, pending: 1, ahead: 0, setAside });
  expect(stdout.slice(stdout.indexOf("Set aside"))).toMatchInlineSnapshot(`
    "Set aside since 2026-03-14 10:00:00 +01:00, 1 operation waiting:
      Error: no such thing
    Once the cause is fixed, release it: svc customers release --customer x --project shop
    "
  `);
  const list = { data: [{ ...CUSTOMER, setAside }], nextCursor: null };
  expect(await read("customers list --set-aside", list)).toContain("Error: no such thing");
});

test("a customer's state at an instant is marked as such, with what is missing of its history, and without pending operations", async () => {
  const then = { ...CUSTOMER, at: "2026-03-01T00:00:00.000Z", exactFrom: "2026-02-01T00:00:00.000Z" };
  const stdout = await read("customers inspect cus_42 --at 2026-03-01 --version v3", { ...then, pending: 3, ahead: 0 });
  expect(stdout).toMatch(/^As of 2026-03-01 01:00:00 \+01:00, by a replay under v3 with today's traits\.\n/);
  expect(stdout).toContain(
    "\nEvents before 2026-02-01 01:00:00 +01:00 may have been removed: their effects are missing.\n",
  );
  expect(stdout).not.toContain("waiting");
  const lastEventAt = "2026-02-19T00:00:00.000Z";
  const ages = await read("customers inspect cus_42 --at 2026-03-01", { ...then, lastEventAt, pending: 0, ahead: 0 });
  expect(ages).toMatch(/^Last event +2026-02-19 .* \(10 days ago\)$/m);
});

test("a timeline at an instant says under which version it is computed, and how many entries precede it", async () => {
  const item = {
    eventType: "customer.active",
    timestamp: "2026-02-02T09:00:00.000Z",
    cause: { type: "timer", id: null },
  };
  const at = { at: "2026-03-01T00:00:00.000Z", exactFrom: null, configVersion: "v2" };
  const list = { data: [{ ...item, metadata: {} }], nextCursor: null, omitted: 1_200, ...at };
  const { url, seen } = await cannedServer(json(list));
  const command = "customers timeline cus_42 --at 2026-03-01 --version v2 --project shop";
  const { stdout, stderr } = await svc(command.split(" "), { at: url });
  expect(stdout).toMatch(/^As of .*, by a replay under v2 with today's traits\.\n\nAt .*\n2026-02-02 /);
  expect(stderr).toBe("1,200 earlier ones left out: add --limit, or name an earlier --at\n");
  expect(seen[0]!.url).toContain("&at=2026-03-01&version=v2");
});

test("customers are listed", async () => {
  expect(await read("customers list", { data: [CUSTOMER], nextCursor: null })).toMatchInlineSnapshot(`
    "Customer  Lifecycle  Since        Health        Segments             Last event
    cus_42    activated  12 days ago  62.5 at_risk  payers, power_users  now
    "
  `);
});

test("the overview counts pending operations and customers set aside", async () => {
  const overview = {
    ...{ environment: "test", configVersion: null, customers: 4, customersSetAside: 1_200 },
    ...{ lifecycle: [], segments: [] },
    ...{ events: { accepted: 5, pending: 3, ahead: 2 }, emissions: { "customer.new": 4, "segment.entered": 6 } },
    webhooks: { delivered: 7, pending: 8, failed: 9 },
  };
  expect(await read("overview", overview)).toMatchInlineSnapshot(`
    "Project    shop, test
    Model      none deployed yet
    Customers  4, 1,200 set aside (svc customers list --set-aside --project shop)
    Events     5 accepted, 3 pending, 2 of them dated in the future
    Emissions  10
    Webhooks   7 delivered, 8 pending, 9 failed
    "
  `);
});

test("a timeline shows changes with their causes", async () => {
  const data = [
    {
      ...{ timestamp: "2026-03-02T10:00:00.000Z", eventType: "customer.activated", source: "lifecycle" },
      metadata: { previous_lifecycle: "trial", new_lifecycle: "activated" },
      cause: { type: "event", id: "evt_0000000000000400" },
    },
    {
      ...{ timestamp: "2026-03-29T01:30:00.000Z", eventType: "segment.exited", source: "segment" },
      metadata: { segment: "payers", days: 3 },
      cause: { type: "timer", id: null },
    },
  ];
  expect(await read("customers timeline cus_42", { data, nextCursor: null })).toMatchInlineSnapshot(`
    "At                          Type                What                    Cause
    2026-03-02 11:00:00 +01:00  customer.activated  trial → activated       event evt_0000000000000400
    2026-03-29 03:30:00 +02:00  segment.exited      segment=payers, days=3  timer
    "
  `);
});

test("deliveries are shown with the last answer and the next step", async () => {
  const delivery = { type: "customer.activated", customerId: "cus_42" };
  const data = [
    {
      ...{ ...delivery, id: "emi_0000000000020000", status: "pending", attempts: 2 },
      nextAttemptAt: "2026-03-14T10:05:00.000Z",
      finishedAt: null,
      lastAttempt: { at: "2026-03-14T10:00:00.000Z", latencyMs: 15_000, statusCode: null, error: "timed out" },
    },
    {
      ...{ ...delivery, id: "emi_0000000000010000", status: "delivered", attempts: 1 },
      nextAttemptAt: null,
      finishedAt: "2026-03-14T09:00:00.000Z",
      lastAttempt: { at: "2026-03-14T09:00:00.000Z", latencyMs: 12, statusCode: 204, error: null },
    },
  ];
  expect(await read("webhooks deliveries whk_1", { data, nextCursor: null })).toMatchInlineSnapshot(`
    "Event                 Type                Customer  Status     Tries  Answer                 At
    emi_0000000000020000  customer.activated  cus_42    pending        2  timed out in 15000 ms  due 2026-03-14 11:05:00 +01:00
    emi_0000000000010000  customer.activated  cus_42    delivered      1  204 in 12 ms           2026-03-14 10:00:00 +01:00
    "
  `);
});

test.each([
  ["--customer a/b --env live", 1, "Released a/b.", "a%2Fb/release?env=live"],
  ["--all", 1_200, "Released 1,200 of them.", "release?env=test"],
  ["--customer c", 0, "c was not set aside.", "c/release?env=test"],
  ["--all", 0, "No customer was set aside.", "release?env=test"],
])("customers are released with %s: %i", async (options, released, output, path) => {
  const { url, seen } = await cannedServer(json({ released }));
  const argv = ["customers", "release", ...options.split(" "), "--yes", "--project", "shop"];
  expect(await svc(argv, { at: url })).toMatchObject({ code: 0, stdout: `${output}\n` });
  expect(seen).toMatchObject([{ method: "POST", url: `/projects/shop/customers/${path}` }]);
});

const TRENDS = {
  ...{ environment: "test", what: "segments", every: "week", timeZone: "Europe/Berlin", complete: false },
  periods: ["2026-01-05", "2026-01-12", "2026-01-19", "2026-01-26", "2026-02-02", "2026-02-09"],
  series: [
    { metric: "members", segment: "payers", values: [10, 12, 20, 1400, 1350.5, 1350] },
    { metric: "exited", segment: 'a, "b"', values: [0, 0, 0, 0, 50, null] },
    { metric: "transitions", from: null, to: "new", values: [7, 7, 7, 7, 7, 7] },
    { metric: "lowerQuartile", values: [null, null, null, null, null, 3] },
  ],
};

test("trends are drawn line by line, flat ones too, and a table has all figures", async () => {
  expect(await read("trends segments --every week", TRENDS)).toMatchInlineSnapshot(`
    "Segments in test by week, 2026-01-05 to 2026-02-09 (Europe/Berlin)

    payers members
            ▲
        1400┤                                                   ┏━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
            │                                                   ┃
            │                                                   ┃
            │                                                   ┃
            │                                                   ┃
            │                                                   ┃
          10┤━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┛
            └┬───────────────────────────────────────────────────┬──────────────────────────────────┬▶
    2026-01-05                                          2026-01-26                         2026-02-09

    a, "b" exited
            ▲
          50┤                                                                                      ┏━
            │                                                                                      ┃
            │                                                                                      ┃
            │                                                                                      ┃
            │                                                                                      ┃
            │                                                                                      ┃
           0┤━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┛
            └┬────────────────────────────────────────────────────────────────┬──────────────────────▶
    2026-01-05                                                       2026-01-26

    (first) → new
            ▲
            │
            │
            │
           7┤━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
            │
            │
            │
            └┬───────────────────────────────────────────────────┬──────────────────────────────────┬▶
    2026-01-05                                          2026-01-26                         2026-02-09

    Segments        First   Last  Lowest  Highest
    payers members     10  1,350      10    1,400
    a, "b" exited       0   none       0       50
    (first) → new       7      7       7        7
    lower quartile   none      3       3        3
    "
  `);
});

test("trends are printed as CSV, a line for each period", async () => {
  expect(await read("trends segments --csv", TRENDS)).toMatchInlineSnapshot(`
    "week,payers members,"a, ""b"" exited",(first) → new,lower quartile
    2026-01-05,10,0,7,
    2026-01-12,12,0,7,
    2026-01-19,20,0,7,
    2026-01-26,1400,0,7,
    2026-02-02,1350.5,50,7,
    2026-02-09,1350,,7,3
    "
  `);
});

test("the trend of health says, also with CSV, what a recompute has left of it", async () => {
  const document = { ...TRENDS, what: "health", complete: true, recomputedAt: "2026-03-14T09:00:00.000Z" };
  const { url } = await cannedServer(json(document));
  const noteOf = async (...more: string[]) =>
    (await svc(["trends", "health", ...more, "--project", "shop"], { at: url })).stderr;
  const note =
    /recompute that ran until 2026-03-14 10:00:00 \+01:00 kept one record of each customer's health: earlier ones/;
  expect(await noteOf()).toMatch(note);
  expect(await noteOf("--csv")).toMatch(note);
  expect(await noteOf("--json")).toBe("");
});
