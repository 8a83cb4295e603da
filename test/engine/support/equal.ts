import type fc from "fast-check";
import { expect } from "vitest";

import { stateDocument, type Effect } from "../../../src/engine/index.js";
import type { JourneyRun } from "../../../src/engine/state/types.js";
import type { Coverage } from "./coverage.js";
import { documentOf } from "./reference/document.js";
import type { Reference } from "./reference/reference.js";
import { check, runs, type Run } from "./runner.js";
import { viewOfState } from "./subject-engine.js";
import { viewOfReference } from "./subject-reference.js";

/**
 * Checks that the engine's customer equals the reference's: document, derived state, due instant and effects in order.
 * Effects that were already compared are skipped.
 */
export function expectEqual(run: Run, reference: Reference): void {
  const view = viewOfReference(reference);
  expect(viewOfState(run.state)).toEqual(view);
  const document = stateDocument(run.state, { environment: "test", configVersion: null });
  const expected = documentOf(view, "c1", run.state.createdAt);
  expect(document).toEqual(expected);
  // Steps and components are in the author's order.
  expect(JSON.stringify([document.journeys, document.health])).toBe(
    JSON.stringify([expected.journeys, expected.health]),
  );
  const effects = newEffects(run, run.effects);
  const expectedEffects = newEffects(reference, reference.customer.effects);
  expect(inOrder(effects)).toEqual(inOrder(expectedEffects));
  expect(lastRuns(effects)).toEqual(lastRuns(expectedEffects));
}

/** The number of effects of a run or a reference that were already compared. */
const compared = new WeakMap<object, number>();

function newEffects(of: object, effects: readonly Effect[]): readonly Effect[] {
  const before = compared.get(of) ?? 0;
  compared.set(of, effects.length);
  return effects.slice(before);
}

/** Effects without the explanations of rules' conditions. A journey's are compared by the last one, and by the emissions between. */
export function inOrder(effects: readonly Effect[]): Effect[] {
  return effects
    .filter(({ kind }) => kind !== "journey")
    .map((effect) => (effect.kind === "ruleExecuted" ? { ...effect, conditions: {} } : effect));
}

/** Each run of each journey, as in its last effect. */
export function lastRuns(effects: readonly Effect[]): Map<string, JourneyRun> {
  const runs = new Map<string, JourneyRun>();
  for (const effect of effects)
    if (effect.kind === "journey") runs.set(`${effect.journey} ${effect.run.run}`, effect.run);
  return runs;
}

/** The cases that every property over random models must have covered. */
export const CLASSES = [
  ...["track", "late", "same instant", "future", "identify", "identify that removes"],
  ...["event", "timer", "identify"].flatMap((cause) =>
    ["transition", "journey", "segmentEntered", "segmentExited", "health", "signalRaised"].map(
      (effect) => `${effect} by ${cause}`,
    ),
  ),
  ...["blocked by event", "signalCleared by event", "signalCleared by timer", "journey again"],
  ...[
    ...["event", "traits", "lifecycle.entered", "lifecycle.exited"],
    ...["journey.started", "journey.step_completed", "journey.completed", "journey.expired"],
    ...["segment.entered", "segment.exited", "health.entered", "health.exited", "signal.raised", "signal.cleared"],
  ].map((trigger) => `rule pass by ${trigger}`),
  ...["rule fail by event", "rule skip by event", "since state", "since journey", "since previousStep", "anyOrder"],
  ...[
    ...["count", "aggregate", "distinct", "latest", "latestExists", "daysSince", "sequence", "ratio", "difference"],
  ].map((kind) => `kind ${kind}`),
  "previous",
  ...["absent skips", "absent scores", "health ceases"],
];

/** With fewer runs a property can easily miss a case. */
const ENOUGH_RUNS = 1000;

/** About one round in ten misses a rare case; this many rounds never all do. */
const ROUNDS = 10;

/** Checks a property in rounds of the usual runs until it has covered all cases; prints the coverage. */
export function checkUntilMet<T extends [unknown, ...unknown[]]>(
  title: string,
  { coverage, classes }: { coverage: Coverage; classes: readonly string[] },
  property: fc.IProperty<T>,
): void {
  check(property);
  if (runs < ENOUGH_RUNS) return console.info(`${title}: ${coverage}`);
  for (let round = 1; round < ROUNDS && coverage.missing(classes).length > 0; round++) check(property);
  console.info(`${title}: ${coverage}`);
  expect(coverage.missing(classes), `never met by "${title}"`).toEqual([]);
}

/** Whether a value is plain JSON, so that storing it as text loses nothing. */
export function isPlainJson(value: unknown): boolean {
  if (value === null || typeof value === "boolean" || typeof value === "string") return true;
  if (typeof value === "number") return Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isPlainJson);
  const isRecord = typeof value === "object" && [Object.prototype, null].includes(Object.getPrototypeOf(value));
  return isRecord && Object.values(value).every(isPlainJson);
}
