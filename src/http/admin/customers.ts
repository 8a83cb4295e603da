import Type from "typebox";
import { exact, listOf } from "./schemas.js";
import { emptyObject, environmentQuery, KIB, listQuery, nameFilter, secondsOf } from "./parameters.js";
import { adminRoute } from "./route.js";
import { backlog, customerState, emission, listedCustomer, released } from "./schemas-customer.js";

const setAside = Type.Optional(Type.Literal("true"));

const release = { schema: emptyObject, bytesMax: KIB };

/** Give customers that were set aside back to evaluation. */
export const releaseRoutes = [
  adminRoute({
    operation: "release_customers",
    operationId: "releaseCustomer",
    route: "POST /projects/:project/customers/:customerId/release",
    summary: "Give one customer that was set aside back to evaluation",
    query: environmentQuery,
    body: release,
    answers: { 200: released },
    passes: ({ at, params }) => [at, params["customerId"]!],
  }),
  adminRoute({
    operation: "release_customers",
    route: "POST /projects/:project/customers/release",
    summary: "Give all customers that were set aside back to evaluation",
    query: environmentQuery,
    body: release,
    answers: { 200: released },
    passes: ({ at }) => [at, null],
  }),
];

/** What is known of customers. */
export const customerRoutes = [
  adminRoute({
    operation: "list_customers",
    route: "GET /projects/:project/customers",
    summary: "Customers, filtered",
    query: exact({
      ...listQuery.properties,
      lifecycle: nameFilter,
      segment: nameFilter,
      inactive: nameFilter,
      setAside,
    }),
    answers: { 200: listOf(listedCustomer) },
    passes: ({ at, query }) => {
      const { lifecycle, segment, inactive, setAside } = query;
      const inactiveSeconds = inactive === undefined ? undefined : secondsOf(inactive, "inactive");
      return [at, { lifecycle, segment, inactiveSeconds, setAside: setAside && true }, query];
    },
  }),
  adminRoute({
    operation: "get_customer",
    route: "GET /projects/:project/customers/:customerId",
    summary: "The state of one customer",
    query: environmentQuery,
    answers: { 200: customerState },
    passes: ({ at, params }) => [at, params["customerId"]!],
  }),
  adminRoute({
    operation: "customer_timeline",
    route: "GET /projects/:project/customers/:customerId/timeline",
    summary: "What evaluation emitted about one customer, oldest first",
    query: listQuery,
    answers: { 200: listOf(emission) },
    passes: ({ at, params, query }) => [at, params["customerId"]!, query],
  }),
  adminRoute({
    operation: "customer_backlog",
    route: "GET /projects/:project/customers/:customerId/backlog",
    summary: "What waits for the evaluation of one customer",
    query: environmentQuery,
    answers: { 200: backlog },
    passes: ({ at, params }) => [at, params["customerId"]!],
  }),
];
