import Type from "typebox";
import * as calls from "../../db/calls-admin.js";
import { isDuration, parseDuration } from "../../snapshot/duration.js";
import { ApiError } from "../errors.js";
import { environmentQuery, KIB, listQuery } from "./parameters.js";
import { adminRoute } from "./route.js";

const setAside = Type.Optional(Type.Literal("true"));
const filter = Type.Optional(Type.String({ minLength: 1, maxLength: 256 }));

/** Nothing to say but that it be done. */
const release = { schema: Type.Object({}, { additionalProperties: false }), bytesMax: KIB };

/** The state document of one customer. */
export const getCustomer = adminRoute({
  method: "GET",
  path: "/projects/:project/customers/:customerId",
  query: environmentQuery,
  answer: async ({ deps, credentials, params, query }) => {
    const place = { project: params["project"]!, environment: query.env };
    return { status: 200, document: await calls.getCustomer(deps.sql, credentials, place, params["customerId"]!) };
  },
});

/** What waits for the evaluation of one customer, and why it was set aside, if it was. */
export const getBacklog = adminRoute({
  method: "GET",
  path: "/projects/:project/customers/:customerId/backlog",
  query: environmentQuery,
  answer: async ({ deps, credentials, params, query }) => {
    const place = { project: params["project"]!, environment: query.env };
    return { status: 200, document: await calls.customerBacklog(deps.sql, credentials, place, params["customerId"]!) };
  },
});

/** Gives one customer that was set aside back to evaluation. */
export const releaseCustomer = adminRoute({
  method: "POST",
  path: "/projects/:project/customers/:customerId/release",
  query: environmentQuery,
  body: release,
  answer: async ({ deps, credentials, params, query }) => {
    const place = { project: params["project"]!, environment: query.env };
    const document = await calls.releaseCustomers(deps.sql, credentials, place, params["customerId"]!);
    return { status: 200, document };
  },
});

/** Gives all customers that were set aside back to evaluation. */
export const releaseCustomers = adminRoute({
  method: "POST",
  path: "/projects/:project/customers/release",
  query: environmentQuery,
  body: release,
  answer: async ({ deps, credentials, params, query }) => {
    const place = { project: params["project"]!, environment: query.env };
    return { status: 200, document: await calls.releaseCustomers(deps.sql, credentials, place, null) };
  },
});

/** What evaluation emitted about one customer, oldest first. */
export const getTimeline = adminRoute({
  method: "GET",
  path: "/projects/:project/customers/:customerId/timeline",
  query: listQuery,
  answer: async ({ deps, credentials, params, query: { env, ...page } }) => {
    const place = { project: params["project"]!, environment: env };
    const document = await calls.customerTimeline(deps.sql, credentials, place, params["customerId"]!, page);
    return { status: 200, document };
  },
});

/** Customers in the order of their ids. `inactive=7d`: without an event for that long; `setAside=true`: given up by evaluation. */
export const listCustomers = adminRoute({
  method: "GET",
  path: "/projects/:project/customers",
  query: Type.Object(
    { ...listQuery.properties, lifecycle: filter, segment: filter, inactive: filter, setAside },
    { additionalProperties: false },
  ),
  answer: async ({ deps, credentials, params, query: { env, lifecycle, segment, inactive, setAside, ...page } }) => {
    const filters = {
      lifecycle,
      segment,
      inactiveSeconds: inactive === undefined ? undefined : readSeconds(inactive),
      setAside: setAside === undefined ? undefined : true,
    };
    const place = { project: params["project"]!, environment: env };
    return { status: 200, document: await calls.listCustomers(deps.sql, credentials, place, filters, page) };
  },
});

function readSeconds(inactive: string): number {
  if (isDuration(inactive)) return parseDuration(inactive) / 1000;
  throw new ApiError(400, "VALIDATION_ERROR", {
    message: "`inactive` is not a duration.",
    field: "inactive",
    value: inactive,
    fix: "Write a whole number and a unit, for example 12h, 7d or 4w.",
  });
}
