import Type from "typebox";
import { customerId, emitted } from "./customers.js";
import { listQuery, nameFilter, sinceFilter } from "./parameters.js";
import { adminRoute } from "./route.js";
import { describedText, exact, instant, listOf, named } from "./schemas.js";

export const listedEmission = named("ListedEmission", {
  id: describedText("Of the emission, and of its deliveries.", "emi_0000000000000400"),
  customerId,
  ...emitted,
  createdAt: instant,
});

/** What evaluation emitted, across customers. */
export const emissionRoutes = [
  adminRoute("search_emissions", "GET /projects/:project/emissions", {
    operationId: "listEmissions",
    summary: "What evaluation emitted about all customers, the last first; since when it was emitted",
    query: exact({
      ...listQuery.properties,
      customer: nameFilter,
      eventType: nameFilter,
      source: Type.Optional(Type.Enum(["lifecycle", "journey", "segment", "health", "rule", "signal"])),
      since: nameFilter,
    }),
    answers: { 200: listOf(listedEmission) },
    passes: ({ at, query }) => {
      const { customer: customerId, eventType, source, since } = query;
      return [at, { customerId, eventType, source }, sinceFilter(since), query];
    },
  }),
];
