import type { Emission, ListedEmission, ListedEvent, Of, RuleRun, SchemaViolation } from "../../console/source.js";
import type { Effect } from "../../engine/index.js";
import { ApiError } from "../../http/errors.js";
import { eventDiagnostics, traitDiagnostics } from "../../model/payload.js";
import { instantOf, isoTime, type Stand } from "./stand.js";

/** Events, the newest occurrence first. What is accepted is evaluated at once. */
export function eventsOf({ engine, now }: Stand, of: Of): ListedEvent[] {
  const { customer, type, status } = of;
  const since = sinceOf(of, now);
  if (status === "pending") return [];
  return engine
    .operations(now)
    .flatMap(({ customerId, operation }): ListedEvent[] => {
      if (operation.kind !== "track") return [];
      const { eventId, event, properties, occurredAt, acceptedAt } = operation;
      if (customer !== undefined && customerId !== customer) return [];
      if ((type !== undefined && event !== type) || occurredAt < since) return [];
      const instants = { occurredAt: isoTime(occurredAt), acceptedAt: isoTime(acceptedAt) };
      return [{ eventId, customerId, event, properties, ...instants, status: "processed" }];
    })
    .toReversed()
    .toSorted((a, b) => (a.occurredAt < b.occurredAt ? 1 : a.occurredAt > b.occurredAt ? -1 : 0));
}

/** @throws {ApiError} 404 */
export function eventOf(stand: Stand, eventId: string | undefined): ListedEvent {
  const event = eventsOf(stand, {}).find((each) => each.eventId === eventId);
  if (event !== undefined) return event;
  throw new ApiError(404, "EVENT_NOT_FOUND", { message: `There is no event "${eventId ?? ""}".` });
}

/** How what was accepted violates the schemas of the present model, by event, code and path. */
export function violationsOf({ engine, now }: Stand): SchemaViolation[] {
  const violations = new Map<string, SchemaViolation>();
  for (const { customerId, operation } of engine.operations(now)) {
    const isEvent = operation.kind === "track";
    const found = isEvent
      ? eventDiagnostics(engine.snapshot, operation.event, operation.properties)
      : traitDiagnostics(engine.snapshot, operation.traits);
    const event = isEvent ? operation.event : null;
    const at = isoTime(operation.acceptedAt);
    const last = { lastSeenAt: at, lastEventId: isEvent ? operation.eventId : null, lastCustomerId: customerId };
    const places = new Map(found.map(({ code, path }) => [JSON.stringify([event ?? "", code, path]), { code, path }]));
    for (const [key, { code, path }] of places) {
      const { operations = 0, firstSeenAt = at } = violations.get(key) ?? {};
      violations.set(key, { configVersion: null, event, code, path, operations: operations + 1, firstSeenAt, ...last });
    }
  }
  return [...violations].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, violation]) => violation);
}

/** What was emitted about all customers, the last first. */
export function emissionsOf({ population, now }: Stand, of: Of): ListedEmission[] {
  const { customer, eventType, source } = of;
  const since = isoTime(sinceOf(of, now));
  return population.customerIds
    .filter((id) => customer === undefined || id === customer)
    .flatMap((customerId) =>
      population
        .timeline(customerId)
        .filter((entry) => eventType === undefined || entry.eventType === eventType)
        .filter((entry) => (source === undefined || entry.source === source) && entry.timestamp >= since)
        .map((entry) => ({ ...entry, customerId, createdAt: entry.timestamp })),
    )
    .toSorted((a, b) => (a.id < b.id ? 1 : -1));
}

/** @throws {ApiError} 404 */
export function emissionOf(stand: Stand, id: string | undefined): Emission {
  const emission = emissionsOf(stand, {}).find((each) => each.id === id);
  if (emission === undefined) {
    throw new ApiError(404, "EMISSION_NOT_FOUND", { message: `There is no emission "${id ?? ""}".` });
  }
  const { population } = stand;
  const place = population.timeline(emission.customerId).findIndex((each) => each.id === id);
  return { ...emission, ruleExecution: runOf(population.effects(emission.customerId), place), deliveries: [] };
}

/** The run of a rule that made the emission of this place among the effects: what stands before it. */
function runOf(effects: readonly Effect[], place: number): RuleRun | null {
  const emissions = effects.flatMap((effect, index) => (effect.kind === "emission" ? [{ effect, index }] : []));
  const { effect, index } = emissions[place]!;
  const run = effects[index - 1];
  if (effect.byRule !== true || run?.kind !== "ruleExecuted") return null;
  const { at, rule: ruleId, result, triggeredBy, error } = run;
  const conditions = run.conditions as unknown as RuleRun["conditions"];
  const executedAt = isoTime(at);
  return { ruleId, result, triggeredBy, executedAt, configVersion: null, error, conditions, superseded: false };
}

/** Since when, in milliseconds. @throws {ApiError} */
function sinceOf({ since }: Of, now: number): number {
  return since === undefined ? -8.64e15 : instantOf(since, "since", now);
}
