import { expect, test } from "vitest";
import type { Overview } from "../../../src/http/admin/answers.js";
import { ReceiptTally } from "../../../src/demo/receiver.js";
import { chooseStory, demoReport, type DemoResults } from "../../../src/demo/report/report.js";
import { styleFor } from "../../../src/demo/report/style.js";

const overview: Overview = {
  environment: "test",
  configVersion: "v1",
  customers: 1_500,
  customersDue: 0,
  customersSetAside: 0,
  events: { accepted: 76_328, pending: 0, ahead: 0 },
  lifecycle: [
    { state: "trial", customers: 500, everEntered: 1_500 },
    { state: "churned", customers: 1, everEntered: 1 },
    { state: "never_seen", customers: 0, everEntered: 0 },
  ],
  segments: [
    { segment: "power_users", members: 150 },
    { segment: "a_segment_with_a_name_that_is_much_longer_than_any_table_can_show_it", members: 0 },
  ],
  webhooks: { delivered: 3, pending: 0, failed: 0 },
  emissions: { "customer.created": 1, "segment.entered": 2 },
};

function results(): DemoResults {
  const tally = new ReceiptTally();
  for (const [index, type] of ["segment.entered", "customer.created", "segment.entered"].entries()) {
    tally.add({ id: `emi_${index}`, type, customerId: "c", subject: "x" }, index);
  }
  return {
    input: {
      title: "simulated history, seed 1",
      operations: 77_655,
      events: 76_328,
      distinctEvents: 76_328,
      customers: 1_500,
      span: { first: Date.UTC(2026, 0, 1, 9), last: Date.UTC(2026, 3, 30, 18) },
      read: () => [],
    },
    model: "examples/saas",
    overview,
    tally,
    story: {
      customer: {
        customerId: "harbor-labs",
        lifecycle: "activated",
        traits: { plan: "pro", seats: 12, addOns: ["sso"] },
        segments: ["power_users"],
      },
      timeline: [
        ["2026-01-05T09:00:00.000Z", "customer.created", { previous_lifecycle: null, new_lifecycle: "new" }, "event"],
        [
          "2026-01-19T09:00:00.000Z",
          "customer.at_risk",
          { previous_lifecycle: "trial", new_lifecycle: "at_risk" },
          "timer",
        ],
        ["2026-02-01T09:00:00.000Z", "segment.entered", { segment: "power_users" }, "event"],
      ].map(([at, type, metadata, cause]) => ({ at, type, source: "x", metadata, cause: { type: cause } })) as never,
    },
    rates: { events: 76_328, ingestSeconds: 4, evaluateSeconds: 8.25, deliverySeconds: 2, retries: 2, restarts: 1 },
  };
}

test("a report for a file is plain, aligned and complete", () => {
  expect(demoReport(styleFor(false), results())).toMatchInlineSnapshot(`
    "
    What ran
    input          simulated history, seed 1
    model          examples/saas (v1 in test)
    customers      1,500
    events         76,328
    trait updates  1,327
    span           2026-01-01 to 2026-04-30, 120 days

    Where customers stand
    lifecycle   now   ever
    trial       500  1,500  ############################
    churned       1      1  #
    never_seen    0      0

    Who needs attention
    segment                                       members   share
    power_users                                       150  10.0 %  ############################
    a_segment_with_a_name_that_is_much_longer_t…        0   0.0 %

    Webhook deliveries
    type              delivered and verified
    customer.created                       1
    segment.entered                        2
    total                                  3

    One customer's story: harbor-labs
    plan pro, seats 12, addOns ["sso"]
    2026-01-05  first seen: new
    2026-01-19  trial → at_risk (by time alone)
    2026-02-01    joins power_users
    today       activated; in power_users

    Rates reached
    rate                 per second  seconds
    events ingested          19,082      4.0
    events evaluated          9,252      8.3
    webhooks delivered            2      2.0
    service restarts              1
    requests sent again           2

    "
  `);
});

test("a report for a terminal has boxes and bars, and is at most 100 characters wide", () => {
  const text = demoReport(styleFor(true), results());
  expect(text).toContain("┌");
  expect(text).toContain("█");
  // oxlint-disable-next-line no-control-regex -- colour codes have no width
  const lines = text.replace(/\u001b\[\d+m/g, "").split("\n");
  expect(Math.max(...lines.map((line) => Array.from(line).length))).toBeLessThanOrEqual(100);
});

test("a model without lifecycle and segments has no empty tables", () => {
  const bare = results();
  bare.overview = { ...overview, lifecycle: [], segments: [] };
  bare.story = null;
  const text = demoReport(styleFor(false), bare);
  expect(text).not.toContain("Where customers stand");
  expect(text).not.toContain("Who needs attention");
  expect(text).not.toContain("One customer's story");
});

type Emissions = Record<string, number>;

test.each<[what: string, chosen: string, customers: Record<string, Emissions>]>([
  [
    "returned to a state, rather than one with more emissions",
    "back",
    {
      busy: { "customer.trial trial": 1, "segment.entered a": 6, "segment.exited a": 6 },
      back: { "customer.active active": 2, "customer.at_risk at_risk": 1 },
    },
  ],
  [
    "has the most emissions among those that fit a screen",
    "long",
    {
      endless: { "customer.active active": 20, "customer.at_risk at_risk": 20 },
      long: { "customer.active active": 3, "customer.at_risk at_risk": 3 },
      short: { "customer.active active": 2 },
    },
  ],
  [
    "has the first id of several alike",
    "a",
    { b: { "customer.active active": 2 }, a: { "customer.active active": 2 }, c: { "customer.active active": 2 } },
  ],
])("the customer whose story is shown %s, in any order of deliveries", (_, chosen, customers) => {
  const emitted = Object.entries(customers).map(([id, kinds]) => [id, new Map(Object.entries(kinds))] as const);
  expect(chooseStory(new Map(emitted))).toBe(chosen);
  expect(chooseStory(new Map(emitted.toReversed()))).toBe(chosen);
});

test("there is no story if nothing was emitted", () => {
  expect(chooseStory(new Map())).toBeNull();
});
