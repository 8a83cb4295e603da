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

/** The canned server gives this in the same answer. */
const NOTHING_WAITS = { pending: 0, ahead: 0, setAside: null };

const NO_EXPLANATION = {
  configVersion: "v3",
  activeVersion: "v3",
  flipsKnown: true,
  unavailable: null,
  lifecycle: null,
  journeys: [],
  segments: [],
  health: null,
  signals: [],
};

/** Reads from a service that gives every request the same answer, but for what asks why. */
async function read(argv: string[], document: unknown, explanation: unknown = NO_EXPLANATION) {
  const { url } = await cannedServer({
    ...json(document),
    respond: ({ url: asked }) => json(asked.includes("/explanation") ? explanation : document),
  });
  return svc([...argv, "--project", "shop"], { at: url });
}

test("a customer's state is shown with instants in the local zone and their distance from now", async () => {
  const { stdout } = await read(["customers", "inspect", "cus_42"], { ...CUSTOMER, ...NOTHING_WAITS });
  expect(stdout).toMatchInlineSnapshot(`
    "cus_42 in test

    Lifecycle          activated since 2026-03-02 11:00:00 +01:00 (12 days ago)
    Segments           payers, power_users
    Journeys           conversion complete, onboarding active at invite_team
    Health             62.5 at_risk (adoption 25, engagement 100)
    Signals            going_quiet (warning)
    Last event         2026-03-14 10:59:59 +01:00 (now)
    First seen         2026-01-10 09:00:00 +01:00 (63 days ago)
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

test("a customer of whom little is known", async () => {
  const unknown = {
    lastEventAt: null,
    evaluatedThrough: null,
    configVersion: null,
    nextDueAt: null,
    traits: {},
    segments: [],
    journeys: [],
    health: null,
    signals: [],
  };
  const { stdout } = await read(["customers", "inspect", "x"], {
    ...CUSTOMER,
    ...NOTHING_WAITS,
    ...unknown,
    lifecycle: null,
    lifecycleEnteredAt: null,
  });
  expect(stdout).toMatchInlineSnapshot(`
    "cus_42 in test

    Lifecycle          none
    Segments           none
    Journeys           none
    Health             no score
    Signals            none
    Last event         none
    First seen         2026-01-10 09:00:00 +01:00 (63 days ago)
    Evaluated through  not evaluated yet
    Next due           nothing is due
    Model              none
    "
  `);
});

test("what waits for a customer's evaluation is told after its state", async () => {
  const { stdout } = await read(["customers", "inspect", "x"], { ...CUSTOMER, pending: 3, ahead: 1, setAside: null });
  expect(stdout).toContain("\n\n3 operations waiting to be evaluated, 1 of them because their time has not come.\n");
});

test("a customer that was set aside is shown with the reason and the way out", async () => {
  const setAside = { at: "2026-03-14T09:00:00.000Z", error: "Error: no such thing" };
  const { stdout } = await read(["customers", "inspect", "x"], { ...CUSTOMER, pending: 1, ahead: 0, setAside });
  expect(stdout.slice(stdout.indexOf("Set aside"))).toMatchInlineSnapshot(`
    "Set aside since 2026-03-14 10:00:00 +01:00, 1 operation waiting:
      Error: no such thing
    Once the cause is mended, release it: svc customers release --customer x --project shop
    "
  `);
  const list = await read(["customers", "list", "--set-aside"], {
    data: [{ ...CUSTOMER, setAside }],
    nextCursor: null,
  });
  expect(list.stdout).toContain("Error: no such thing");
});

test("customers are listed", async () => {
  const { stdout } = await read(["customers", "list"], { data: [CUSTOMER], nextCursor: null });
  expect(stdout).toMatchInlineSnapshot(`
    "Customer  Lifecycle  Since        Health        Segments             Last event
    cus_42    activated  12 days ago  62.5 at_risk  payers, power_users  now
    "
  `);
});

test("a timeline shows changes and their causes", async () => {
  const data = [
    {
      at: "2026-03-02T10:00:00.000Z",
      type: "customer.activated",
      source: "lifecycle",
      metadata: { previous_lifecycle: "trial", new_lifecycle: "activated" },
      cause: { type: "event", id: "evt_0000000000000400" },
    },
    {
      at: "2026-03-29T01:30:00.000Z",
      type: "segment.exited",
      source: "segment",
      metadata: { segment: "payers", days: 3 },
      cause: { type: "timer", id: null },
    },
  ];
  const { stdout } = await read(["customers", "timeline", "cus_42"], { data, nextCursor: null });
  expect(stdout).toMatchInlineSnapshot(`
    "At                          Type                What                    Cause
    2026-03-02 11:00:00 +01:00  customer.activated  trial → activated       event evt_0000000000000400
    2026-03-29 03:30:00 +02:00  segment.exited      segment=payers, days=3  timer
    "
  `);
});

test("deliveries are shown with the last answer and what comes next", async () => {
  const delivery = { type: "customer.activated", customerId: "cus_42" };
  const data = [
    {
      ...delivery,
      id: "emi_0000000000020000",
      status: "pending",
      attempts: 2,
      nextAttemptAt: "2026-03-14T10:05:00.000Z",
      finishedAt: null,
      lastAttempt: { at: "2026-03-14T10:00:00.000Z", latencyMs: 15_000, statusCode: null, error: "timed out" },
    },
    {
      ...delivery,
      id: "emi_0000000000010000",
      status: "delivered",
      attempts: 1,
      nextAttemptAt: null,
      finishedAt: "2026-03-14T09:00:00.000Z",
      lastAttempt: { at: "2026-03-14T09:00:00.000Z", latencyMs: 12, statusCode: 204, error: null },
    },
  ];
  const { stdout } = await read(["webhooks", "deliveries", "whk_1"], { data, nextCursor: null });
  expect(stdout).toMatchInlineSnapshot(`
    "Event                 Type                Customer  Status     Tries  Answer                 At
    emi_0000000000020000  customer.activated  cus_42    pending        2  timed out in 15000 ms  due 2026-03-14 11:05:00 +01:00
    emi_0000000000010000  customer.activated  cus_42    delivered      1  204 in 12 ms           2026-03-14 10:00:00 +01:00
    "
  `);
});

/** Releases customers at a service that says how many it released. */
async function release(argv: string[], released = 1) {
  const { url, seen } = await cannedServer(json({ released }));
  const result = await svc(["customers", "release", ...argv, "--project", "shop"], { at: url });
  return { ...result, asked: seen.map(({ method, url: path }) => `${method} ${path}`) };
}

test("one customer is released", async () => {
  const { code, stdout, asked } = await release(["--customer", "a/b", "--yes", "--env", "live"]);
  expect({ code, stdout, asked }).toEqual({
    code: 0,
    stdout: "Released a/b.\n",
    asked: ["POST /projects/shop/customers/a%2Fb/release?env=live"],
  });
});

test("all customers are released", async () => {
  const { stdout, asked } = await release(["--all", "--yes"], 1_200);
  expect({ stdout, asked }).toEqual({
    stdout: "Released 1,200 of them.\n",
    asked: ["POST /projects/shop/customers/release?env=test"],
  });
});

test("that there was nothing to release is told, and is no failure", async () => {
  expect(await release(["--customer", "c", "--yes"], 0)).toMatchObject({ code: 0, stdout: "c was not set aside.\n" });
  expect(await release(["--all", "--yes"], 0)).toMatchObject({ code: 0, stdout: "No customer was set aside.\n" });
});
