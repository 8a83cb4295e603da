import { expect, it } from "vitest";
import { compareSnapshots } from "../../src/model/compare/compare.js";
import { groupByPart } from "../../src/words/changes.js";
import { snapshot } from "../support/service.js";

it("a change of a health band names the band", () => {
  const health = (bounds: Record<string, number>) => ({
    components: [
      { id: "plan", weight: 1, score: { kind: "map" as const, trait: "plan", values: { free: 0, pro: 100 } } },
    ],
    bands: Object.entries(bounds).map(([id, from]) => ({ id, from })),
  });
  const [before, after] = [
    { good: 60, poor: 0 },
    { good: 70, fair: 40, poor: 0 },
  ].map((bounds) => snapshot({ health: health(bounds) }));
  expect(groupByPart(compareSnapshots(before!, after!)).get("health")).toEqual([
    { kind: "changed", about: "band good", message: "from: 60 → 70" },
    { kind: "added", about: "band fair", message: "from 40" },
  ]);
});
