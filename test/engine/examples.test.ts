import { describe, expect, it } from "vitest";

import { examples as health } from "./support/examples/health.js";
import { examples as journeys } from "./support/examples/journeys.js";
import { examples as lifecycle } from "./support/examples/lifecycle.js";
import { examples as order } from "./support/examples/order.js";
import { examples as replays } from "./support/examples/replays.js";
import { examples as rules } from "./support/examples/rules.js";
import { examples as windows } from "./support/examples/windows.js";
import { LiveCustomer, type Outcome, type ReplayOutcome } from "./support/live.js";
import { underEngine } from "./support/subject-engine.js";
import { underReference } from "./support/subject-reference.js";

const examples = [...windows, ...lifecycle, ...journeys, ...rules, ...health, ...order, ...replays];

describe.each([
  { judge: "the engine", create: underEngine },
  { judge: "the reference", create: underReference },
])("worked examples under $judge", ({ create }) => {
  it.each(examples)("$name", ({ snapshot, steps, looks = {}, end, replays = [] }) => {
    const customer = new LiveCustomer(create, snapshot, steps);
    for (const [name, expected] of Object.entries(looks)) {
      expect(customer.looks[name], name).toEqual(complete(expected));
    }
    expect(customer.outcome()).toEqual(complete(end));
    expect(customer.replays).toEqual(replays.map(completeReplay));
  });
});

it("the worked examples are 34", () => {
  expect(new Set(examples.map(({ name }) => name)).size).toBe(34);
});

const empty = {
  transitions: [],
  blocked: [],
  journeys: [],
  segments: [],
  health: [],
  rules: [],
  signals: [],
  traits: {},
};

function complete(outcome: Outcome): Required<Outcome> {
  return { ...empty, emissions: [], ...outcome };
}

function completeReplay(outcome: ReplayOutcome): Required<ReplayOutcome> {
  return { ...empty, corrections: [], ...outcome };
}
