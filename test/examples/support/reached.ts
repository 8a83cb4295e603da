import { requestsOf } from "../../../examples/tools/walk.js";
import type { Effect } from "../../../src/engine/index.js";
import type { Snapshot } from "../../../src/model/snapshot/types.js";
import type { Played } from "./local.js";

/** Everything of a model that can be observed, one line each: `event login`, `transition trial → churned`, `step onboarding invite_team`, … */
export function declaredIn(snapshot: Snapshot): string[] {
  const { events, traits, lifecycle, journeys, segments, health, rules, signals } = snapshot;
  const properties = Object.entries(events).flatMap(([event, schema]) =>
    Object.keys(schema.properties).map((property) => `property ${event}.${property}`),
  );
  const states = lifecycle?.states ?? [];
  // A terminal state needs to be reached only once, from any state.
  const terminals = new Set(states.filter(({ terminal }) => terminal).map(({ name }) => name));
  return [
    ...Object.keys(events).map((event) => `event ${event}`),
    ...properties,
    ...Object.keys(traits).map((trait) => `trait ${trait}`),
    ...states.map(({ name }) => `state ${name}`),
    ...states.flatMap(({ name, transitions }) =>
      transitions.filter(({ to }) => !terminals.has(to)).map(({ to }) => `transition ${name} → ${to}`),
    ),
    ...journeys.flatMap(({ id, steps, expiresAfter }) => [
      ...steps.map((step) => `step ${id} ${step.id}`),
      `journey ${id} complete`,
      ...(expiresAfter === undefined ? [] : [`journey ${id} expired`]),
    ]),
    ...segments.map(({ id }) => `segment ${id}`),
    ...(health?.bands ?? []).map(({ id }) => `band ${id}`),
    ...rules.map(({ id }) => `rule ${id}`),
    ...signals.map(({ id }) => `signal ${id}`),
  ];
}

/** The lines that any customer reached at any time. */
export function reachedBy(data: string, { effects }: Played): Set<string> {
  const reached = new Set(effects.flatMap(shownBy));
  for (const { event, properties = {}, traits = {} } of requestsOf(data).flatMap(({ operations }) => operations)) {
    if (event !== undefined) reached.add(`event ${event}`);
    for (const property of Object.keys(properties)) reached.add(`property ${event}.${property}`);
    for (const trait of Object.keys(traits)) reached.add(`trait ${trait}`);
  }
  return reached;
}

function shownBy(effect: Effect): string[] {
  switch (effect.kind) {
    case "transition":
      return [`state ${effect.to}`, `transition ${effect.from} → ${effect.to}`];
    case "journey":
      return [
        `journey ${effect.journey} ${effect.run.status}`,
        ...Object.keys(effect.run.steps).map((step) => `step ${effect.journey} ${step}`),
      ];
    case "segmentEntered":
      return [`segment ${effect.segment}`];
    case "health":
      return [`band ${effect.band}`];
    case "ruleExecuted":
      return effect.result === "pass" ? [`rule ${effect.rule}`] : [];
    case "signalRaised":
      return [`signal ${effect.signal}`];
    default:
      return [];
  }
}
