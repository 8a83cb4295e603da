import { describe, expect, test } from "vitest";
import type { ProjectOverview } from "../../src/demo/api.js";
import { settle } from "../../src/demo/settle.js";

function overview(pending: number, customersDue: number, deliveries: number): ProjectOverview {
  return {
    environment: "test",
    configVersion: "v1",
    customers: 1,
    customersDue,
    events: { accepted: 10, pending },
    lifecycle: [],
    segments: [],
    webhooks: { delivered: 0, pending: deliveries, failed: 0 },
    emissions: {},
  };
}

describe("waiting for the service", () => {
  test("ends only when no event is pending, nothing is due and no delivery waits", async () => {
    const figures = [overview(5, 1, 0), overview(0, 1, 2), overview(0, 0, 2), overview(0, 0, 0), overview(9, 9, 9)];
    const seen: ProjectOverview[] = [];
    const settled = await settle({
      overview: async () => figures.shift()!,
      onOverview: (one) => seen.push(one),
      pollMs: 1,
    });
    expect(settled.overview).toEqual(overview(0, 0, 0));
    expect(seen.length).toBe(4);
  });

  test("fails when nothing moves, and says what is left", async () => {
    const stuck = settle({ overview: async () => overview(3, 2, 1), pollMs: 1, stallMs: 20 });
    await expect(stuck).rejects.toThrow("3 events pending, 2 customers due, 1 deliveries pending");
  });
});
