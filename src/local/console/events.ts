import type { QuestionParams, Violation } from "../../console/source.js";
import type { Effect } from "../../engine/index.js";
import type { EmissionDetail, Event, ListedEmission, RuleExecution } from "../../http/admin/answers.js";
import { ApiError } from "../../http/errors.js";
import { eventDiagnostics, traitDiagnostics } from "../../model/payload.js";
import { ruleRuns } from "./rule-executions.js";
import { compareTexts } from "./lists.js";
import { earliestOf, isoTime, type PopulationView } from "./population-view.js";

/** Events, the newest occurrence first. Accepted events are evaluated at once, except for those in the future, which are pending. */
export function listedEvents(view: PopulationView, of: QuestionParams): Event[] {
  const { engine, population, now } = view;
  const { customer, type, status } = of;
  const since = earliestOf(view, of);
  return engine
    .operations(now)
    .flatMap(({ customerId, operation }): Event[] => {
      if (operation.kind !== "track") return [];
      const { eventId, event, properties, occurredAt, acceptedAt } = operation;
      if (customer !== undefined && customerId !== customer) return [];
      if ((type !== undefined && event !== type) || occurredAt < since) return [];
      const instants = { occurredAt: isoTime(occurredAt), acceptedAt: isoTime(acceptedAt) };
      const isAhead = population.customer(customerId)?.ahead.some(({ seq }) => seq === operation.seq) ?? false;
      const actual = isAhead ? "pending" : "processed";
      if (status !== undefined && status !== actual) return [];
      return [{ eventId, id: eventId, customerId, event, properties, ...instants, status: actual }];
    })
    .toReversed()
    .toSorted((a, b) => compareTexts(b.occurredAt, a.occurredAt));
}

/** @throws {ApiError} 404 */
export function eventOf(view: PopulationView, eventId: string | undefined): Event {
  const event = listedEvents(view, {}).find((each) => each.eventId === eventId);
  if (event !== undefined) return event;
  throw new ApiError(404, "EVENT_NOT_FOUND", { message: `There is no event "${eventId ?? ""}".` });
}

/** Violations of the present model's schemas by the accepted operations, by event, code and path. */
export function violationsOf({ engine, now }: PopulationView): Violation[] {
  const violations = new Map<string, Violation>();
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

/** The emissions of all customers, the latest first. */
export function emissionsOf(view: PopulationView, of: QuestionParams): ListedEmission[] {
  const { population } = view;
  const { customer, eventType, source } = of;
  const since = earliestOf(view, of);
  return population.customerIds
    .filter((id) => customer === undefined || id === customer)
    .flatMap((customerId) =>
      population
        .timeline(customerId)
        .filter((entry) => eventType === undefined || entry.eventType === eventType)
        .filter((entry) => source === undefined || entry.source === source)
        .filter((entry) => Date.parse(entry.timestamp) >= since)
        .map(({ at: _, type: __, ...entry }) => ({ ...entry, customerId, createdAt: entry.timestamp })),
    )
    .toSorted((a, b) => (a.id < b.id ? 1 : -1));
}

/** @throws {ApiError} 404 */
export function emissionOf(view: PopulationView, id: string | undefined): EmissionDetail {
  const emission = emissionsOf(view, {}).find((each) => each.id === id);
  if (emission === undefined) {
    throw new ApiError(404, "EMISSION_NOT_FOUND", { message: `There is no emission "${id ?? ""}".` });
  }
  const { population } = view;
  const place = population.timeline(emission.customerId).findIndex((each) => each.id === id);
  const ruleExecution = runOf(emission, population.effects(emission.customerId), place);
  return {
    ...emission,
    type: emission.eventType,
    sequence: Number.parseInt(emission.id.slice(4), 16),
    ruleExecution,
    deliveries: [],
  };
}

/** The run of the rule that made an emission, given by its place among those of its customer; null if no rule made it. */
function runOf(emission: ListedEmission, effects: readonly Effect[], place: number): RuleExecution | null {
  const found = ruleRuns(effects).find((each) => each.emission === place);
  if (found === undefined) return null;
  const { at, rule: ruleId, result, triggeredBy, error, conditions, action } = found.run;
  const { customerId, cause, id: emissionId } = emission;
  const about = { customerId, cause, emissionId, configVersion: null, executedAt: isoTime(at), superseded: false };
  return { ...about, ruleId, result, triggeredBy, error, conditions, action };
}
