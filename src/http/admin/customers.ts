import Type from "typebox";
import { emptyObject, environmentQuery, KIB, listQuery, nameFilter, secondsOf } from "./parameters.js";
import { adminRoute } from "./route.js";
import { backlog, customerList, customerState, released, timeline } from "./schemas-customer.js";

const setAside = Type.Optional(Type.Literal("true"));

const release = { schema: emptyObject, bytesMax: KIB };

/** Give customers that were set aside back to evaluation. */
export const releaseRoutes = [
  adminRoute({
    operation: "release_customers",
    operationId: "releaseCustomer",
    method: "POST",
    path: "/projects/:project/customers/:customerId/release",
    summary: "Give one customer that was set aside back to evaluation",
    query: environmentQuery,
    body: release,
    answers: { 200: released },
    refusals: { 404: ["CUSTOMER_NOT_FOUND"] },
    passes: ({ at, params }) => [at, params["customerId"]!],
  }),
  adminRoute({
    operation: "release_customers",
    method: "POST",
    path: "/projects/:project/customers/release",
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
    method: "GET",
    path: "/projects/:project/customers",
    summary: "Customers, filtered",
    query: Type.Object(
      { ...listQuery.properties, lifecycle: nameFilter, segment: nameFilter, inactive: nameFilter, setAside },
      { additionalProperties: false },
    ),
    answers: { 200: customerList },
    passes: ({ at, query }) => {
      const { lifecycle, segment, inactive, setAside } = query;
      const inactiveSeconds = inactive === undefined ? undefined : secondsOf(inactive, "inactive");
      return [at, { lifecycle, segment, inactiveSeconds, setAside: setAside && true }, query];
    },
  }),
  adminRoute({
    operation: "get_customer",
    method: "GET",
    path: "/projects/:project/customers/:customerId",
    summary: "The state of one customer",
    query: environmentQuery,
    answers: { 200: customerState },
    refusals: { 404: ["CUSTOMER_NOT_FOUND"] },
    passes: ({ at, params }) => [at, params["customerId"]!],
  }),
  adminRoute({
    operation: "customer_timeline",
    method: "GET",
    path: "/projects/:project/customers/:customerId/timeline",
    summary: "What evaluation emitted about one customer, oldest first",
    query: listQuery,
    answers: { 200: timeline },
    refusals: { 404: ["CUSTOMER_NOT_FOUND"] },
    passes: ({ at, params, query }) => [at, params["customerId"]!, query],
  }),
  // And why it was set aside, if it was.
  adminRoute({
    operation: "customer_backlog",
    method: "GET",
    path: "/projects/:project/customers/:customerId/backlog",
    summary: "What waits for the evaluation of one customer",
    query: environmentQuery,
    answers: { 200: backlog },
    refusals: { 404: ["CUSTOMER_NOT_FOUND"] },
    passes: ({ at, params }) => [at, params["customerId"]!],
  }),
];
