import Type from "typebox";
import * as calls from "../../db/api/customers.js";
import { emptyObject, environmentQuery, KIB, listQuery, nameFilter, placeIn, secondsOf } from "./parameters.js";
import { adminRoute } from "./route.js";
import { backlog, customerList, customerState, released, timeline } from "./schemas-customer.js";

const setAside = Type.Optional(Type.Literal("true"));

const release = { schema: emptyObject, bytesMax: KIB };

/** The state document of one customer. */
export const getCustomerRoute = adminRoute({
  operation: "get_customer",
  method: "GET",
  path: "/projects/:project/customers/:customerId",
  summary: "The state of one customer",
  query: environmentQuery,
  answers: { 200: customerState },
  refusals: { 404: ["CUSTOMER_NOT_FOUND"] },
  answer: async ({ deps, credentials, params, query }) => {
    const place = placeIn(params, query.env);
    return { status: 200, document: await calls.getCustomer(deps.sql, credentials, place, params["customerId"]!) };
  },
});

/** What waits for the evaluation of one customer, and why it was set aside, if it was. */
export const getBacklogRoute = adminRoute({
  operation: "customer_backlog",
  method: "GET",
  path: "/projects/:project/customers/:customerId/backlog",
  summary: "What waits for the evaluation of one customer",
  query: environmentQuery,
  answers: { 200: backlog },
  refusals: { 404: ["CUSTOMER_NOT_FOUND"] },
  answer: async ({ deps, credentials, params, query }) => {
    const place = placeIn(params, query.env);
    return { status: 200, document: await calls.customerBacklog(deps.sql, credentials, place, params["customerId"]!) };
  },
});

/** Gives one customer that was set aside back to evaluation. */
export const releaseCustomerRoute = adminRoute({
  operation: "release_customers",
  operationId: "releaseCustomer",
  method: "POST",
  path: "/projects/:project/customers/:customerId/release",
  summary: "Give one customer that was set aside back to evaluation",
  query: environmentQuery,
  body: release,
  answers: { 200: released },
  refusals: { 404: ["CUSTOMER_NOT_FOUND"] },
  answer: async ({ deps, credentials, params, query }) => {
    const place = placeIn(params, query.env);
    const document = await calls.releaseCustomers(deps.sql, credentials, place, params["customerId"]!);
    return { status: 200, document };
  },
});

/** Gives all customers that were set aside back to evaluation. */
export const releaseCustomersRoute = adminRoute({
  operation: "release_customers",
  method: "POST",
  path: "/projects/:project/customers/release",
  summary: "Give all customers that were set aside back to evaluation",
  query: environmentQuery,
  body: release,
  answers: { 200: released },
  answer: async ({ deps, credentials, params, query }) => {
    const place = placeIn(params, query.env);
    return { status: 200, document: await calls.releaseCustomers(deps.sql, credentials, place, null) };
  },
});

/** What evaluation emitted about one customer, oldest first. */
export const getTimelineRoute = adminRoute({
  operation: "customer_timeline",
  method: "GET",
  path: "/projects/:project/customers/:customerId/timeline",
  summary: "What evaluation emitted about one customer, oldest first",
  query: listQuery,
  answers: { 200: timeline },
  refusals: { 404: ["CUSTOMER_NOT_FOUND"] },
  answer: async ({ deps, credentials, params, query: { env, ...page } }) => {
    const place = placeIn(params, env);
    const document = await calls.customerTimeline(deps.sql, credentials, place, params["customerId"]!, page);
    return { status: 200, document };
  },
});

/**
 * Customers in the order of their ids; with `inactive=7d`, those without an event for that long, the longest inactive first. `setAside=true`:
 * given up by evaluation. A page of rare filters may be short, even empty, and nextCursor go on all the same.
 */
export const listCustomersRoute = adminRoute({
  operation: "list_customers",
  method: "GET",
  path: "/projects/:project/customers",
  summary: "Customers, filtered",
  query: Type.Object(
    { ...listQuery.properties, lifecycle: nameFilter, segment: nameFilter, inactive: nameFilter, setAside },
    { additionalProperties: false },
  ),
  answers: { 200: customerList },
  answer: async ({ deps, credentials, params, query: { env, lifecycle, segment, inactive, setAside, ...page } }) => {
    const filters = {
      lifecycle,
      segment,
      inactiveSeconds: inactive === undefined ? undefined : secondsOf(inactive, "inactive"),
      setAside: setAside === undefined ? undefined : true,
    };
    const place = placeIn(params, env);
    return { status: 200, document: await calls.listCustomers(deps.sql, credentials, place, filters, page) };
  },
});
