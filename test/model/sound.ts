import { type Condition, EMPTY_SNAPSHOT, type Journey, type Snapshot } from "../../src/model/snapshot/types.js";
import { parseSnapshot } from "../../src/model/validate/validate.js";
import { happened, healthOf, traitExists } from "../engine/support/builders.js";

/** A small valid snapshot for tests to break. */
export const sound: Snapshot = {
  ...EMPTY_SNAPSHOT,
  events: {
    "order placed": {
      properties: {
        total: { type: "number" },
        source: { type: "string", enum: ["web", "api"], optional: true },
        tags: { type: "array", items: { type: "string", enum: ["x"] } },
        gift: { type: "boolean" },
      },
    },
  },
  traits: { plan: { type: "string", enum: ["free", "pro"] }, renewsOn: { type: "date" }, seats: { type: "number" } },
  lifecycle: { initial: "a", states: [{ name: "a", transitions: [] }] },
  segments: [{ id: "chosen" }],
};

export const ordered: Condition = happened("order placed");

export const journey: Journey = {
  id: "onboarding",
  start: ordered,
  steps: [
    { id: "create", when: ordered },
    { id: "invite", when: traitExists("plan") },
  ],
};

export const health = healthOf(
  { orders: { kind: "scale", of: { kind: "trait", trait: "seats" }, from: 0, to: 5 } },
  { good: 50, bad: 0 },
);

/** The valid snapshot with one of every other part. */
export const complete: Snapshot = {
  ...sound,
  journeys: [journey],
  segments: [{ id: "chosen" }, { id: "buyers", when: ordered }],
  health,
  signals: [
    { id: "manual", severity: "info" },
    { id: "ordered", severity: "warning", when: ordered },
  ],
};

/** The problems of the valid snapshot with these parts replaced, as paths and codes. */
export function problemsOf(parts: object, from = sound): string[] {
  const result = parseSnapshot({ ...from, ...parts });
  return result.ok ? [] : result.problems.map(({ path, code }) => `${path} ${code}`);
}

/** The messages of the same problems. */
export function messagesOf(parts: object): string[] {
  const result = parseSnapshot({ ...complete, ...parts });
  return result.ok ? [] : result.problems.map(({ message }) => message);
}
