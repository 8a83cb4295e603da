import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";

import { emissionTypes } from "../../src/cli/commands/webhooks/emission-types.js";
import { type Condition, EMPTY_SNAPSHOT, type Snapshot } from "../../src/model/snapshot/types.js";

const when: Condition = { kind: "inactiveFor", duration: "1d" };

const WHOLE: Snapshot = {
  ...EMPTY_SNAPSHOT,
  lifecycle: { initial: "new", states: [{ name: "new", transitions: [] }] },
  journeys: [{ id: "j", start: when, steps: [{ id: "s", when }] }],
  segments: [{ id: "s" }],
  health: { components: [], bands: [{ id: "b", from: 0 }] },
  signals: [{ id: "s", severity: "info" }],
  rules: [{ id: "r", on: { kind: "traitsChanged" }, then: { kind: "emit", type: "own" } }],
};

test("a model with every part emits what docs/webhooks.md lists", async () => {
  const guide = await readFile(new URL("../../docs/webhooks.md", import.meta.url), "utf8");
  const listed = [...guide.matchAll(/^\| (?:`([\w.<>]+)`|your own, as `emit` says) +\| `(?:\w+)` +\|/gm)];
  const types = listed.map(([, type]) => type?.replace("<state>", "new") ?? "own");
  expect(emissionTypes(WHOLE)).toEqual(new Set(types));
});

test("a model without a part emits nothing of it", () => {
  expect(emissionTypes(EMPTY_SNAPSHOT)).toEqual(new Set(["webhook.test"]));
});
