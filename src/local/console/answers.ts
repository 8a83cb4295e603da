import type { ApiQuery, Answers, QuestionParams, Question, ServiceQuestion } from "../../console/source.js";
import type { Effect, Operation, StateDocument } from "../../engine/index.js";
import type { DueCustomer, HistoryEntry, ListedCustomer, ListedSignal, ListPage } from "../../http/admin/answers.js";
import { ApiError } from "../../http/errors.js";
import { pastInstantOf, secondsOf } from "../../http/request/instants.js";
import type { ExplainedParts } from "../../words/explanation.js";
import { memberTexts } from "../../words/json-text.js";
import type { LocalEngine } from "../engine.js";
import { emissionOf, emissionsOf, eventOf, listedEvents, violationsOf } from "./events.js";
import { localJourneyRuns, localJourneys, localJourneyTimes } from "./journeys.js";
import { localTransitions, localTransitionTimes } from "./transitions.js";
import { localSegmentMembers } from "./segment-members.js";
import { localRuleCounts, localRuleExecutions, ruleRuns } from "./rule-executions.js";
import { compareKeys, compareTexts, pageOf, requireKnown, undeclared } from "./lists.js";
import { aboutEffect, earliestOf, isoTime, statesOf, type PopulationView } from "./population-view.js";
import { localTrends } from "./trends.js";

const WEEK_MS = 7 * 86_400_000;
/** A customer whose timer is overdue for longer than this is waiting for the settle rule; the same as in svc_api.list_due_customers. */
const FIRING_MS = 10_000;

interface Customer extends PopulationView {
  customerId: string;
  state: StateDocument;
}

/** Answers the questions of console pages from the engine in memory. @param at the instant to show; null for the present */
export function localAsk(engine: LocalEngine, at: number | null): ApiQuery {
  const viewAt = (instant: number | null): PopulationView =>
    instant === null
      ? { engine, population: engine.population, now: engine.clock.now() }
      : { engine, population: engine.populationAt(instant), now: instant };
  const view = viewAt(at);
  const { environment } = engine;
  const ofCustomer = (of: QuestionParams): Customer => {
    const own = of["at"] === undefined ? view : viewAt(pastInstantOf(of["at"], view.now).getTime());
    const customerId = of["customerId"] ?? "";
    const state = engine.document(customerId, own.population);
    if (state === undefined) throw new ApiError(404, "CUSTOMER_NOT_FOUND");
    return { ...own, customerId, state };
  };
  const answers: { [Name in Exclude<Question, ServiceQuestion>]: (of: QuestionParams) => Answers[Name] } = {
    customers: (of) => customers(view, of),
    "customers/:customerId": (of) => {
      const { state, now } = ofCustomer(of);
      const known = { ...state, environment };
      return of["at"] === undefined ? known : { ...known, at: isoTime(now), exactFrom: null };
    },
    "customers/:customerId/explanation": (of) => {
      const { customerId, population, now } = ofCustomer(of);
      const parts = engine.explanation(customerId, population, now) as unknown as ExplainedParts & { asOf: string };
      const known = { customerId, configVersion: null, activeVersion: null };
      const pending = population.customer(customerId)!.ahead.length;
      return { ...parts, ...known, flipsKnown: true, unavailable: null, pending, setAside: null };
    },
    "customers/:customerId/history": (of) => pageOf(history(ofCustomer(of), of), of),
    "customers/:customerId/health-scores": (of) => pageOf(scores(ofCustomer(of)).toReversed(), of),
    trends: (of) => localTrends(view, of),
    transitions: (of) => pageOf(localTransitions(view, of), of),
    "transitions/times": () => localTransitionTimes(view),
    journeys: (of) => localJourneys(view, of),
    "journeys/:journeyId/times": (of) => localJourneyTimes(view, of),
    "journeys/:journeyId/runs": (of) => pageOf(localJourneyRuns(view, of), of),
    "customers/:customerId/backlog": (of) => {
      const { customerId, population } = ofCustomer(of);
      // What else is accepted is evaluated at once.
      const { length: ahead } = population.customer(customerId)!.ahead;
      return { pending: ahead, ahead, setAside: null };
    },
    "due-customers": (of) => pageOf(dueCustomers(view), of),
    signals: (of) => raisedSignals(view, of),
    "rule-executions": (of) => localRuleExecutions(view, of),
    events: (of) => pageOf(listedEvents(view, of), of),
    "events/:event": (of) => {
      const event = eventOf(view, of["event"]);
      const entries = history(ofCustomer({ customerId: event.customerId }), {});
      return { ...event, caused: entries.filter(({ cause }) => cause?.id === event.eventId).toReversed() };
    },
    "schema-violations": (of) => pageOf(violationsOf(view), of),
    emissions: (of) => pageOf(emissionsOf(view, of), of),
    "emissions/:emission": (of) => emissionOf(view, of["emission"]),
    "segments/:segment": (of) => localSegmentMembers(view, of),
    "rule-executions/counts": (of) => localRuleCounts(view, of),
    traits: (of) => {
      const names = JSON.parse(of["names"] ?? "[]") as string[];
      const ids = JSON.parse(of["customers"] ?? "[]") as string[];
      const states = ids.flatMap((id) => engine.document(id, view.population) ?? []);
      return Object.fromEntries(states.map((state) => [state.customerId, textsOf(state, names)]));
    },
  };
  // Pages with other questions are not shown here.
  return async (question, of = {}) => answers[question as Exclude<typeof question, ServiceQuestion>](of);
}

function textsOf({ traits }: StateDocument, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names
      .filter((name) => Object.hasOwn(traits, name))
      .map((name) => {
        const value = traits[name]!;
        return [name, typeof value === "string" ? value : JSON.stringify(value)];
      }),
  );
}

function customers(view: PopulationView, of: QuestionParams): ListPage<ListedCustomer> {
  const { engine, now } = view;
  const { inactive } = of;
  const inactiveSince = inactive === undefined ? Infinity : now - secondsOf(inactive, "inactive") * 1000;
  const seenAt = ({ lastEventAt, createdAt }: StateDocument) => Date.parse(lastEventAt ?? createdAt);
  const passes = filterOf(of);
  const found = statesOf(view).filter((state) => passes(state) && seenAt(state) <= inactiveSince);
  if (found.length === 0) {
    requireKnown(engine, of, { lifecycle: "state", segment: "segment", health: "band", signal: "signal" });
    requireTraits(view, of["traits"] ?? "{}");
  }
  const sort = of["sort"] ?? (inactive === undefined ? "customerId" : "lastEvent");
  const isReversed = of["reverse"] === "true";
  const keyOf = (state: StateDocument) =>
    sort === "health" ? (state.health?.overall ?? (isReversed ? -1 : 101)) : sort === "lastEvent" ? seenAt(state) : 0;
  const sorted = found.toSorted((a, b) => keyOf(a) - keyOf(b));
  const page = pageOf(isReversed ? sorted.toReversed() : sorted, of);
  return { ...page, data: page.data.map((state) => listed(view, state)) };
}

function filterOf(of: QuestionParams): (state: StateDocument) => boolean {
  const { lifecycle, segment, health, signal } = of;
  const search = of["search"]?.toLowerCase();
  const traits = [...memberTexts(of["traits"] ?? "{}")];
  return (state) =>
    // No customer is set aside here.
    of["setAside"] === undefined &&
    (lifecycle === undefined || state.lifecycle === lifecycle) &&
    (segment === undefined || state.segments.includes(segment)) &&
    (health === undefined || state.health?.band === health) &&
    (signal === undefined || state.signals.some(({ signalId }) => signalId === signal)) &&
    traits.every(([name, text]) => Object.hasOwn(state.traits, name) && hasValue(state.traits[name], text)) &&
    (search === undefined ||
      [state.customerId, ...Object.values(state.traits)].some(
        (text) => typeof text === "string" && text.toLowerCase().includes(search),
      ));
}

/** Refuses filters by unknown traits and values, as svc.require_traits does. */
function requireTraits(view: PopulationView, traits: string): void {
  const declared = view.engine.snapshot.traits;
  for (const [name, value] of Object.entries(JSON.parse(traits) as Record<string, unknown>)) {
    const field = Object.hasOwn(declared, name) ? declared[name] : undefined;
    const texts = field?.type === "string" ? field.enum : field?.type === "array" ? field.items.enum : undefined;
    const isKnown =
      field !== undefined ||
      Object.keys(declared).length === 0 ||
      statesOf(view).some((state) => Object.hasOwn(state.traits, name));
    if (!isKnown) throw undeclared("traits", name, "The model declares no trait of this name.", Object.keys(declared));
    const given = [value].flat().filter((one) => typeof one === "string");
    const other = given.find((one) => texts?.includes(one) === false);
    if (other !== undefined)
      throw undeclared("traits", other, `The model declares other values of the trait "${name}".`, texts!);
  }
}

/** Whether a trait passes a filter, as svc.has_trait_value says. */
function hasValue(trait: unknown, text: string): boolean {
  const value = JSON.parse(text) as unknown;
  const bounds = boundsIn(value);
  if (bounds !== null) return bounds.every(([name, bound]) => isWithin(trait, name, bound));
  const isEither = typeof value === "number" || typeof value === "boolean";
  return [value, ...(isEither ? [text] : [])].some(
    (wanted) => contains(trait, wanted) || (Array.isArray(trait) && contains(trait, [wanted])),
  );
}

/** The bounds of a filter `{atLeast, atMost}`; null for a value. */
function boundsIn(filter: unknown): [name: string, bound: unknown][] | null {
  if (typeof filter !== "object" || filter === null || Array.isArray(filter)) return null;
  const bounds = Object.entries(filter);
  return bounds.length > 0 && bounds.every(([name]) => name === "atLeast" || name === "atMost") ? bounds : null;
}

function isWithin(trait: unknown, name: string, bound: unknown): boolean {
  const compared = compareWithBound(trait, bound);
  return name === "atLeast" ? compared >= 0 : compared <= 0;
}

function compareWithBound(trait: unknown, bound: unknown): number {
  if (typeof trait === "number" && typeof bound === "number") return trait - bound;
  const isYear = typeof bound === "number" && /^\d{4}-\d\d/.test(String(trait));
  if (typeof trait !== "string" || !(typeof bound === "string" || isYear)) return NaN;
  return compareTexts(trait.slice(0, String(bound).length), String(bound));
}

/** Like PostgreSQL's operator `@>` for jsonb. */
function contains(held: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted))
    return Array.isArray(held) && wanted.every((item) => held.some((one) => contains(one, item)));
  if (typeof wanted !== "object" || wanted === null) return held === wanted;
  if (typeof held !== "object" || held === null || Array.isArray(held)) return false;
  return Object.entries(wanted).every(([name, value]) => contains((held as Record<string, unknown>)[name], value));
}

function listed({ population, now }: PopulationView, state: StateDocument): ListedCustomer {
  const { customerId, createdAt, lastEventAt, lifecycle, lifecycleEnteredAt, segments, health, journeys, signals } =
    state;
  const weekAgo = scoresOf(population.effects(customerId)).findLast(({ at }) => at <= now - WEEK_MS);
  const where = { lifecycle, lifecycleEnteredAt, segments, health, journeys, signals };
  return { customerId, createdAt, lastEventAt, ...where, healthWeekAgo: weekAgo?.overall ?? null, setAside: null };
}

const scoresOf = (effects: readonly Effect[]) => effects.filter((effect) => effect.kind === "health");

function scores({ population, customerId }: Customer) {
  return scoresOf(population.effects(customerId)).map((effect) => {
    const { overall, components, band } = effect;
    return { ...aboutEffect(effect), overall, components, band, superseded: false };
  });
}

/** Customers with timers, by when these may fire. While timers of held customers are overdue, they are shown at the end of the hold. */
function dueCustomers(view: PopulationView): DueCustomer[] {
  const due = statesOf(view).flatMap(({ customerId, lifecycle, nextDueAt }) => {
    if (nextDueAt === null) return [];
    const heldUntil = view.population.customer(customerId)!.heldUntil ?? -Infinity;
    return [{ customerId, lifecycle, dueAt: Date.parse(nextDueAt), heldUntil }];
  });
  const isWaiting = due.some(({ dueAt, heldUntil }) => heldUntil > -Infinity && dueAt < view.now - FIRING_MS);
  return due
    .map(({ dueAt, heldUntil, ...customer }) => ({
      ...customer,
      nextDueAt: isoTime(isWaiting ? Math.max(dueAt, heldUntil) : dueAt),
      isHeld: isWaiting && heldUntil > dueAt,
    }))
    .toSorted((a, b) => compareKeys([a.nextDueAt, a.customerId], [b.nextDueAt, b.customerId]));
}

/** The raised signals, the latest first; filtered by signal, severity and `since`. */
function raisedSignals(view: PopulationView, of: QuestionParams): ListPage<ListedSignal> {
  const { signal, severity } = of;
  const since = earliestOf(view, of);
  const raised = statesOf(view).flatMap(({ customerId, signals }) => signals.map((each) => ({ customerId, ...each })));
  const wanted = raised.filter(
    (each) =>
      (signal === undefined || each.signalId === signal) &&
      (severity === undefined || each.severity === severity) &&
      Date.parse(each.raisedAt) >= since,
  );
  if (wanted.length === 0) requireKnown(view.engine, of, { signal: "signal" });
  // By instant, signal and customer, all descending.
  const keyOf = ({ raisedAt, signalId, customerId }: ListedSignal) => [raisedAt, signalId, customerId];
  return pageOf(
    wanted.toSorted((a, b) => compareKeys(keyOf(b), keyOf(a))),
    of,
  );
}

/** Kinds of entries, causes before their consequences: entries of one instant are in the reverse order, like the whole history. */
const KINDS: readonly HistoryEntry["kind"][] = ["event", "traits", "transition", "score", "rule", "emission"];

/** The history of a customer, the newest entry first. */
function history({ engine, population, customerId, now }: Customer, of: QuestionParams): HistoryEntry[] {
  const kinds = of["kinds"]?.split(",") ?? KINDS;
  const entries = [
    ...engine.operationsOf(customerId, now).map(operationEntry),
    ...effectEntries(
      population.effects(customerId),
      population.timeline(customerId).map(({ id }) => id),
    ),
  ];
  return entries
    .filter(({ kind }) => kinds.includes(kind))
    .toReversed()
    .toSorted((a, b) => compareTexts(b.at, a.at) || KINDS.indexOf(b.kind) - KINDS.indexOf(a.kind));
}

function operationEntry(operation: Operation): HistoryEntry {
  const sent = { cause: null, configVersion: null };
  const acceptedAt = isoTime(operation.acceptedAt);
  if (operation.kind === "identify") {
    return { ...sent, at: acceptedAt, kind: "traits", details: { traits: operation.traits } };
  }
  const { occurredAt, eventId, event, properties } = operation;
  return { ...sent, at: isoTime(occurredAt), kind: "event", details: { eventId, event, properties, acceptedAt } };
}

/** @param emissionIds the ids of the emissions among the effects, in their order */
function effectEntries(effects: readonly Effect[], emissionIds: readonly string[]): HistoryEntry[] {
  const madeBy = new Map(ruleRuns(effects).map(({ run, emission }) => [run as Effect, emission]));
  let emissions = 0;
  return effects.flatMap((effect): HistoryEntry[] => {
    const about = aboutEffect(effect);
    switch (effect.kind) {
      case "transition":
        return [{ ...about, kind: "transition", details: { from: effect.from, to: effect.to } }];
      case "health":
        return [{ ...about, kind: "score", details: { overall: effect.overall, band: effect.band } }];
      case "ruleExecuted": {
        const { rule: ruleId, result, triggeredBy, action, error } = effect;
        if (result !== "pass" && result !== "error") return [];
        const emission = madeBy.get(effect) ?? null;
        const emissionId = emission === null ? null : emissionIds[emission]!;
        return [{ ...about, kind: "rule", details: { ruleId, result, triggeredBy, action, error, emissionId } }];
      }
      case "emission": {
        const emissionId = emissionIds[emissions++]!;
        const { type: eventType, source, metadata } = effect;
        const details = { emissionId, eventType, source, metadata, deliveries: [] };
        return [{ ...about, kind: "emission", details }];
      }
      default:
        return [];
    }
  });
}
