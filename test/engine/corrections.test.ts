import { expect, it } from "vitest";
import { newCustomer } from "../../src/engine/index.js";
import { corrections, unemittedExpirations } from "../../src/engine/state/corrections.js";

const run = (startedAt: number, expiredAt: number | null) => ({ journey: "onboarding", startedAt, expiredAt });

it("an expiration emitted at the start of the next run belongs to the run before it", () => {
  const emitted = new Map([["onboarding", [10]]]);
  const effects = unemittedExpirations([run(0, 10), run(10, 20)], emitted, "rec_1");
  expect(effects).toMatchObject([{ kind: "emission", type: "journey.expired", at: 20 }]);
});

it("a customer from before the first model is corrected by customer.created, as in live evaluation", () => {
  const before = newCustomer("ann", 0);
  const after = { ...before, lifecycle: { state: "trial", enteredAt: 0, cause: null } };
  const metadata = { previous_lifecycle: null, new_lifecycle: "trial" };
  expect(corrections(before, after, { at: 5, jobId: "rec_1" })).toMatchObject([{ type: "customer.created", metadata }]);
});

it("a customer who has no score any more is corrected by health.changed to no band, as in live evaluation", () => {
  const after = newCustomer("ann", 0);
  const before = { ...after, health: { overall: 80, components: { usage: 80 }, band: "healthy" } };
  const metadata = { previous_band: "healthy", new_band: null, overall: null };
  expect(corrections(before, after, { at: 5, jobId: "rec_1" })).toMatchObject([{ type: "health.changed", metadata }]);
  expect(corrections(after, after, { at: 5, jobId: "rec_1" })).toEqual([]);
});
