import type { Condition, Health, Score } from "../../../src/model/snapshot/types.js";

/** Whether an event ever happened, at least so often. */
export const happened = (event: string, times = 1): Condition => ({
  kind: "count",
  of: { event },
  operator: "gte",
  value: times,
});

/** Health of components of one weight, and of one band. */
export const healthOf = (components: Record<string, Score>): Health => ({
  components: Object.entries(components).map(([id, score]) => ({ id, weight: 1, score })),
  bands: [{ id: "all", from: 0 }],
});
