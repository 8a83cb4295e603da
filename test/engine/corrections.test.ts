import { expect, it } from "vitest";
import { untoldExpirations } from "../../src/engine/state/corrections.js";

const run = (startedAt: number, expiredAt: number | null) => ({ journey: "onboarding", startedAt, expiredAt });

it("an expiration that was told at the start of the next run is the run's before, not that one's", () => {
  const told = new Map([["onboarding", [10]]]);
  const effects = untoldExpirations([run(0, 10), run(10, 20)], told, "rec_1");
  expect(effects).toMatchObject([{ kind: "emission", type: "journey.expired", at: 20 }]);
});
