import { hashSnapshot } from "../../../src/model/snapshot/canonical.js";
import { EMPTY_SNAPSHOT, type Condition, type Snapshot } from "../../../src/model/snapshot/types.js";
import { TestClock } from "../../../src/local/clock.js";
import { LocalEngine, type LocalEngineOptions } from "../../../src/local/engine.js";

export const START = Date.parse("2026-01-01T00:00:00Z");
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export const iso = (instant: number): string => new Date(instant).toISOString();

export const atLeast = (event: string, value: number, within?: string): Condition => ({
  kind: "count",
  of: { event },
  operator: "gte",
  value,
  ...(within === undefined ? {} : { within }),
});

/** Customers sign up, work, and go quiet; builders work a lot; the onboarding journey lasts thirty days. */
export const MODEL: Snapshot = {
  ...EMPTY_SNAPSHOT,
  strictSchema: true,
  events: {
    project_created: { properties: { seats: { type: "number" } } },
    signed_up: { properties: { source: { type: "string", enum: ["ads", "sales"], optional: true } } },
  },
  traits: { plan: { type: "string", enum: ["free", "pro"] } },
  lifecycle: {
    initial: "new",
    states: [
      { name: "new", transitions: [{ to: "trial", when: atLeast("signed_up", 1) }] },
      {
        name: "trial",
        transitions: [
          { to: "activated", when: atLeast("project_created", 2) },
          { to: "quiet", when: { kind: "inactiveFor", duration: "21d" } },
        ],
      },
      { name: "activated", transitions: [{ to: "quiet", when: { kind: "inactiveFor", duration: "21d" } }] },
      { name: "quiet", transitions: [] },
    ],
  },
  journeys: [
    {
      id: "onboarding",
      start: atLeast("signed_up", 1),
      steps: [
        { id: "create", when: atLeast("project_created", 1) },
        { id: "grow", when: atLeast("project_created", 3) },
      ],
      expiresAfter: "30d",
    },
  ],
  segments: [
    { id: "builders", when: atLeast("project_created", 2, "14d") },
    { id: "paying", when: { kind: "trait", trait: "plan", operator: "eq", value: "pro" } },
  ],
};

/** An engine with a manual clock at START. */
export function localEngine(
  snapshot: Snapshot = MODEL,
  options: Partial<LocalEngineOptions> = {},
): { engine: LocalEngine; clock: TestClock } {
  const clock = new TestClock(START);
  const engine = new LocalEngine(localModel(snapshot), {
    clock,
    environment: "test",
    configVersion: null,
    settleMs: 30 * SECOND,
    ...options,
  });
  return { engine, clock };
}

export function localModel(snapshot: Snapshot): { snapshot: Snapshot; hash: string } {
  return { snapshot, hash: hashSnapshot(snapshot) };
}
