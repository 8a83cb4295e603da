import Type, { type TProperties } from "typebox";
import { cause, scoreOrEnd, eventType, source } from "./customers.js";
import { emissionDelivery, emissionId } from "./deliveries.js";
import { listQuery } from "./parameters.js";
import { adminRoute } from "./route.js";
import { exact, instant, jsonObject, listOf, named, orNull, versionName } from "./schemas.js";
import { pastInstantOf } from "../request/instants.js";
import { pastQuery } from "./time-travel.js";

const shortOnly = "Null if it is larger than 2 KiB.";

const entry = <const Kind extends string, Details extends TProperties>(title: string, kind: Kind, details: Details) =>
  named(title, {
    at: instant,
    kind: Type.Literal(kind),
    cause: orNull(cause, "The cause of the entry; null for events and traits, which were sent."),
    configVersion: orNull(versionName),
    details: exact(details),
  });

export const historyEntry = Type.Union([
  entry("HistoryEvent", "event", {
    eventId: Type.String(),
    event: Type.String(),
    properties: orNull(jsonObject("The properties as sent."), shortOnly),
    acceptedAt: instant,
  }),
  entry("HistoryTraits", "traits", {
    traits: orNull(jsonObject("The traits as sent; null removes a trait."), shortOnly),
  }),
  entry("HistoryTransition", "transition", {
    from: orNull(Type.String(), "The state that was left; null for the first transition."),
    to: Type.String(),
  }),
  entry("HistoryScore", "score", scoreOrEnd),
  entry("HistoryRule", "rule", {
    ruleId: Type.String(),
    result: Type.Enum(["pass", "error"]),
    triggeredBy: Type.String(),
    action: jsonObject("The action as in the snapshot."),
    error: orNull(Type.String()),
    emissionId: orNull(emissionId),
  }),
  entry("HistoryEmission", "emission", {
    emissionId,
    eventType,
    source,
    metadata: orNull(jsonObject("Details, which depend on the type."), shortOnly),
    deliveries: Type.Array(emissionDelivery),
  }),
]);

const KINDS = "event|traits|transition|score|rule|emission";
const kinds = Type.Optional(
  Type.String({
    pattern: `^(${KINDS})(,(${KINDS}))*$`,
    description: `must be one or more of ${KINDS.replaceAll("|", ", ")}, separated by commas`,
    examples: ["event,transition"],
  }),
);

/** The history of one customer in a single list. */
export const historyRoutes = [
  adminRoute("list_history", "GET /projects/:project/customers/:customerId/history", {
    summary: "List the history of one customer, newest first: events, traits, transitions, scores, rules, emissions",
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
