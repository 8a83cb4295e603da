import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

import { startShop, untilQuiet, type Shop } from "./support/shop.js";

let shop: Shop;
beforeAll(async () => {
  shop = await startShop();
});
afterAll(() => shop.stop());

test("svc overview shows the funnel, the segments and the totals", async () => {
  expect(await shop.run(["overview"])).toMatchInlineSnapshot(`
    Project    shop, test
    Model      v1
    Customers  3
    Events     13 accepted, 0 pending
    Emissions  22
    Webhooks   22 delivered, 0 pending, 0 failed

    Lifecycle  Now   Share  Ever
    new          0   0.0 %     3
    trial        2  66.7 %     3
    activated    1  33.3 %     1
    at_risk      0   0.0 %     0
    churned      0   0.0 %     0

    Segment       Members   Share
    power_users         1  33.3 %
    big_spenders        1  33.3 %
    expansion           1  33.3 %
  `);
  expect(JSON.parse((await shop.run(["overview", "--json"])).stdout)).toEqual({
    ...{ environment: "test", configVersion: "v1", customers: 3, customersDue: 0, customersSetAside: 0 },
    events: { accepted: 13, pending: 0, ahead: 0 },
    lifecycle: [
      { state: "new", customers: 0, everEntered: 3 },
      { state: "trial", customers: 2, everEntered: 3 },
      { state: "activated", customers: 1, everEntered: 1 },
      { state: "at_risk", customers: 0, everEntered: 0 },
      { state: "churned", customers: 0, everEntered: 0 },
    ],
    segments: ["power_users", "big_spenders", "expansion"].map((segment) => ({ segment, members: 1 })),
    webhooks: { delivered: 22, pending: 0, failed: 0 },
    emissions: {
      ...{ "customer.activated": 1, "customer.created": 3, "customer.trial": 3, "health.changed": 4 },
      ...{ "journey.completed": 1, "journey.started": 3, "journey.step_completed": 3 },
      ...{ "segment.entered": 3, "signal.raised": 1 },
    },
  });
});

test("svc customers timeline tells what happened, each with its cause", async () => {
  expect(await shop.run(["customers", "timeline", "initech"])).toMatchInlineSnapshot(`
    At                          Type                    What                                                                      Cause
    <time>  customer.created        new                                                                       event evt_<id>
    <time>  customer.trial          new → trial                                                               event evt_<id>
    <time>  journey.started         journey=onboarding                                                        event evt_<id>
    <time>  health.changed          critical, overall=12                                                      event evt_<id>
    <time>  journey.step_completed  step=create_project, journey=onboarding                                   event evt_<id>
    <time>  signal.raised           signal=escalation, message=A severe ticket was opened, severity=critical  event evt_<id>
  `);
  const { stdout } = await shop.run(["customers", "timeline", "initech", "--limit", "2", "--json"]);
  const both = { id: "emi_<id>", at: "<instant>", source: "lifecycle", configVersion: "v1" };
  const cause = { type: "event", id: "evt_<id>" };
  expect(JSON.parse(stdout)).toEqual({
    data: [
      { ...both, type: "customer.created", metadata: { previous_lifecycle: null, new_lifecycle: "new" }, cause },
      { ...both, type: "customer.trial", metadata: { previous_lifecycle: "new", new_lifecycle: "trial" }, cause },
    ],
    nextCursor: "<cursor>",
  });
});

test("lists fit eighty columns with whole ids, whatever has to go for them", async () => {
  await shop.run(["recompute", "--all", "--dry-run"]);
  for (const argv of [
    ["recompute", "list"],
    ["webhooks", "deliveries", shop.webhookId],
    ["customers", "list"],
  ]) {
    const { code, stdout } = await shop.raw(argv, { terminal: true, columns: 80 });
    expect(code).toBe(0);
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => stripVTControlCharacters(line));
    expect(Math.max(...lines.map((line) => line.length)), lines.join("\n")).toBeLessThanOrEqual(80);
    expect(
      lines.filter((line) => /^\w+…/.test(line)),
      argv.join(" "),
    ).toEqual([]);
  }
});

test("a recompute of a customer who is not there says so", async () => {
  const { code, stdout } = await shop.run(["recompute", "--customer", "nobody", "--yes"]);
  expect(code).toBe(0);
  expect(stdout).toContain("Done       nothing: there was no such customer when it was queued\n");
});

test("svc customers inspect shows a trait with all the digits that it has", async () => {
  const response = await fetch(`${shop.url}/v1/events/batch`, {
    method: "POST",
    headers: { authorization: `Bearer ${shop.keys.live}`, "content-type": "application/json" },
    body: '{"events":[{"type":"identify","customerId":"large","traits":{"contract":12345678901234567891}}]}',
  });
  expect(response.status).toBe(202);
  await untilQuiet(shop.db);
  const { stdout } = await shop.run(["customers", "inspect", "large", "--env", "live"]);
  expect(stdout).toContain("  contract  12345678901234567891\n");
});
