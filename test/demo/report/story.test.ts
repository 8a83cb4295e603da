import { describe, expect, test } from "vitest";
import { chooseStory } from "../../../src/demo/report/story.js";

const customers = (all: Record<string, Record<string, number>>) =>
  new Map(Object.entries(all).map(([id, kinds]) => [id, new Map(Object.entries(kinds))]));

describe("the customer whose story is told", () => {
  test("is one that came back to a state, rather than one with more emissions", () => {
    expect(
      chooseStory(
        customers({
          busy: { "customer.trial trial": 1, "segment.entered a": 6, "segment.exited a": 6 },
          back: { "customer.active active": 2, "customer.at_risk at_risk": 1 },
        }),
      ),
    ).toBe("back");
  });

  test("has the most emissions among those that fit a screen", () => {
    expect(
      chooseStory(
        customers({
          endless: { "customer.active active": 20, "customer.at_risk at_risk": 20 },
          long: { "customer.active active": 3, "customer.at_risk at_risk": 3 },
          short: { "customer.active active": 2 },
        }),
      ),
    ).toBe("long");
  });

  test("does not depend on the order in which deliveries came", () => {
    const one = { "customer.active active": 2 };
    expect(chooseStory(customers({ b: one, a: one, c: one }))).toBe("a");
    expect(chooseStory(customers({ c: one, b: one, a: one }))).toBe("a");
  });

  test("is nobody where nothing was emitted", () => {
    expect(chooseStory(new Map())).toBeNull();
  });
});
