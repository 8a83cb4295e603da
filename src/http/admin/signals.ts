import Type from "typebox";
import { customerId, raisedSignal } from "./customers.js";
import { listQuery, nameFilter, sinceFilter } from "./parameters.js";
import { adminRoute } from "./route.js";
import { exact, listOf, named } from "./schemas.js";

export const listedSignal = named("Signal", { customerId, ...raisedSignal.properties });

/** The raised signals of all customers. */
export const signalRoutes = [
  adminRoute("search_signals", "GET /projects/:project/signals", {
    operationId: "listSignals",
    summary: "List the raised signals of all customers, the last raised first",
    query: exact({
      ...listQuery.properties,
      signal: nameFilter,
      severity: Type.Optional(raisedSignal.properties.severity),
      since: nameFilter,
    }),
    answers: { 200: listOf(listedSignal) },
    passes: ({ at, query: { signal: signalId, severity, since, ...page } }) => [
      at,
      { signalId, severity },
      sinceFilter(since),
      page,
    ],
  }),
];
