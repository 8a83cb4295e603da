import Type, { type TProperties } from "typebox";
import { cause, endedScore, eventType, source } from "./customers.js";
import { emissionDelivery, emissionId } from "./deliveries.js";
import { listQuery } from "./parameters.js";
import { adminRoute } from "./route.js";
import { exact, instant, jsonObject, listOf, named, orNull, versionName } from "./schemas.js";
import { pastInstantOf, pastQuery } from "./time-travel.js";

const kept = "Null where it has more than 2 KiB.";

const entry = <const Kind extends string, Details extends TProperties>(title: string, kind: Kind, details: Details) =>
  named(title, {
    at: instant,
    kind: Type.Literal(kind),
    cause: orNull(cause, "What brought it about; null for what was sent."),
    configVersion: orNull(versionName),
    details: exact(details),
  });

export const historyEntry = Type.Union([
  entry("HistoryEvent", "event", {
    eventId: Type.String(),
    event: Type.String(),
    properties: orNull(jsonObject("As they were sent."), kept),
    acceptedAt: instant,
  }),
  entry("HistoryTraits", "traits", { traits: orNull(jsonObject("What was sent; null removes one."), kept) }),
  entry("HistoryTransition", "transition", {
    from: orNull(Type.String(), "The state left; null for the first."),
    to: Type.String(),
  }),
  entry("HistoryScore", "score", endedScore),
  entry("HistoryRule", "rule", {
    ruleId: Type.String(),
    result: Type.Enum(["pass", "error"]),
    triggeredBy: Type.String(),
    action: jsonObject("As in the snapshot."),
    error: orNull(Type.String()),
    emissionId: orNull(emissionId),
  }),
  entry("HistoryEmission", "emission", {
    emissionId,
    eventType,
    source,
    metadata: orNull(jsonObject("Depends on the type."), kept),
    deliveries: Type.Array(emissionDelivery),
  }),
]);

const KINDS = "event|traits|transition|score|rule|emission";
const kinds = Type.Optional(
  Type.String({
    pattern: `^(${KINDS})(,(${KINDS}))*$`,
    description: `must be kinds with commas between them, out of ${KINDS.replaceAll("|", ", ")}`,
    examples: ["event,transition"],
  }),
);

/** All that happened to one customer, in one list. */
export const historyRoutes = [
  adminRoute("list_history", "GET /projects/:project/customers/:customerId/history", {
    summary: "What happened to one customer, newest first: events, traits, transitions, scores, rules, emissions",
    query: exact({ ...listQuery.properties, ...pastQuery, kinds }),
    answers: { 200: listOf(historyEntry) },
    passes: ({ at, params, query }) => [
      at,
      params["customerId"]!,
      query.kinds?.split(","),
      query.at === undefined ? undefined : pastInstantOf(query.at),
      query,
    ],
  }),
];
