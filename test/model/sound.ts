import { type Condition, EMPTY_SNAPSHOT, type Journey, type Snapshot } from "../../src/model/snapshot/types.js";
import { parseSnapshot } from "../../src/model/validate/validate.js";
import { happened, healthOf, traitExists } from "../engine/support/builders.js";

/** A small snapshot that is sound, for tests to break. */
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

/** The sound snapshot with one of everything that it has not. */
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

/** What is said of a snapshot that is sound but for these parts: paths and codes. */
export function problemsOf(parts: object, from = sound): string[] {
  const result = parseSnapshot({ ...from, ...parts });
  return result.ok ? [] : result.problems.map(({ path, code }) => `${path} ${code}`);
}

/** The same, in words. */
export function messagesOf(parts: object, from = complete): string[] {
  const result = parseSnapshot({ ...from, ...parts });
  return result.ok ? [] : result.problems.map(({ message }) => message);
}
