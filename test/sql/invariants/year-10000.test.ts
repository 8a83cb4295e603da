import { expect, it } from "vitest";
import { healthOf, inBand, lately, snapshotOf } from "../../engine/support/builders.js";
import { useSpec } from "../../spec/support/fixture.js";
import { violations } from "../../support/invariants.js";

const fixture = useSpec();

it("a score that would change in the year 10000 or later never does, neither in the state nor in the table", async () => {
  const health = healthOf({ recency: lately("a", [200_000_000, 100]) }, { green: 50, red: 0 });
  for (const segments of [{}, { at_risk: inBand("red") }]) {
    await fixture.deploy(snapshotOf({ events: { a: { properties: {} } }, health, segments }));
    expect(await fixture.batch([{ customerId: "globex", event: "a" }])).toMatchObject({ status: 202 });
    await fixture.evaluate();
    expect(await fixture.customer("globex")).toMatchObject({ health: { band: "green" }, nextDueAt: null });
    expect(await violations(fixture.service.db.sql)).toEqual([]);
  }
});
