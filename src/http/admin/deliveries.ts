import Type from "typebox";
import * as calls from "../../db/api/webhooks.js";
import { ApiError } from "../errors.js";
import { emptyObject, environmentQuery, KIB, listQuery, nameFilter, placeIn, sinceOf } from "./parameters.js";
import { adminRoute } from "./route.js";
import { delivery, deliveryDetail, deliveryList, emissionDetail, resent } from "./schemas-webhook.js";

const STATUSES = ["pending", "delivered", "failed"] as const;
const RESENT = ["failed", "missing", "pending", "delivered"] as const;

const time = Type.String({ minLength: 1, maxLength: 256, examples: ["2h", "2026-03-01T09:00:00Z"] });
const resending = Type.Object(
  {
    since: time,
    until: Type.Optional(time),
    statuses: Type.Optional(
      Type.Array(Type.Enum([...RESENT]), { minItems: 1, uniqueItems: true, default: ["failed"] }),
    ),
    cursor: listQuery.properties.cursor,
  },
  { additionalProperties: false },
);

/** The deliveries to a webhook. A page of rare filters may be short, even empty, and nextCursor go on all the same. */
export const listDeliveriesRoute = adminRoute({
  operation: "list_deliveries",
  method: "GET",
  path: "/projects/:project/webhooks/:webhook/deliveries",
  summary: "The deliveries to a webhook, newest first",
  query: Type.Object(
    {
      ...listQuery.properties,
      status: Type.Optional(Type.Enum([...STATUSES])),
      type: nameFilter,
      customer: nameFilter,
    },
    { additionalProperties: false },
  ),
  answers: { 200: deliveryList },
  refusals: { 404: ["WEBHOOK_NOT_FOUND"] },
  answer: async ({ deps, credentials, params, query: { env, status, type, customer, ...page } }) => {
    const place = placeIn(params, env);
    const filters = { status, type, customer };
    return {
      status: 200,
      document: await calls.listDeliveries(deps.sql, credentials, place, params["webhook"]!, filters, page),
    };
  },
});

/** A delivery with what is sent and the log of its attempts. */
export const getDeliveryRoute = adminRoute({
  operation: "get_delivery",
  method: "GET",
  path: "/projects/:project/webhooks/:webhook/deliveries/:delivery",
  summary: "A delivery, with its body and its attempts",
  query: environmentQuery,
  answers: { 200: deliveryDetail },
  refusals: { 404: ["WEBHOOK_NOT_FOUND", "DELIVERY_NOT_FOUND"] },
  answer: async ({ deps, credentials, params, query: { env } }) => {
    const place = placeIn(params, env);
    const [webhook, id] = [params["webhook"]!, params["delivery"]!];
    return { status: 200, document: await calls.getDelivery(deps.sql, credentials, place, webhook, id) };
  },
});

/** Sends an emission to a webhook again; as a first time where it has no delivery there. */
export const resendDeliveryRoute = adminRoute({
  operation: "resend_delivery",
  method: "POST",
  path: "/projects/:project/webhooks/:webhook/deliveries/:delivery/resend",
  summary: "Send one emission to a webhook again",
  query: environmentQuery,
  body: { schema: emptyObject, bytesMax: KIB },
  answers: { 202: delivery },
  refusals: { 404: ["WEBHOOK_NOT_FOUND", "DELIVERY_NOT_FOUND"], 409: ["WEBHOOK_DISABLED"] },
  answer: async ({ deps, credentials, params, query: { env } }) => {
    const place = placeIn(params, env);
    const [webhook, id] = [params["webhook"]!, params["delivery"]!];
    return { status: 202, document: await calls.resendDelivery(deps.sql, credentials, place, webhook, id) };
  },
});

/** Sends again what was written in a span of time, 10,000 emissions a request. */
export const resendDeliveriesRoute = adminRoute({
  operation: "resend_deliveries",
  method: "POST",
  path: "/projects/:project/webhooks/:webhook/resend",
  summary: "Send again to a webhook what was emitted in a span of time",
  query: environmentQuery,
  body: { schema: resending, bytesMax: 16 * KIB },
  answers: { 202: resent },
  refusals: { 404: ["WEBHOOK_NOT_FOUND"], 409: ["WEBHOOK_DISABLED"] },
  answer: async ({ deps, credentials, params, query: { env }, body }) => {
    const span = spanOf(body.since, body.until);
    const which = { ...span, statuses: body.statuses ?? (["failed"] as const), cursor: body.cursor };
    const place = placeIn(params, env);
    return {
      status: 202,
      document: await calls.resendDeliveries(deps.sql, credentials, place, params["webhook"]!, which),
    };
  },
});

/** What was emitted, and how far it came at each webhook. */
export const getEmissionRoute = adminRoute({
  operation: "get_emission",
  method: "GET",
  path: "/projects/:project/emissions/:emission",
  summary: "An emission, with how far it came at each webhook",
  query: environmentQuery,
  answers: { 200: emissionDetail },
  refusals: { 404: ["EMISSION_NOT_FOUND"] },
  answer: async ({ deps, credentials, params, query: { env } }) => ({
    status: 200,
    document: await calls.getEmission(deps.sql, credentials, placeIn(params, env), params["emission"]!),
  }),
});

/** From one instant to another, or without an end. Throws VALIDATION_ERROR. */
function spanOf(since: string, until: string | undefined): { since: Date; until: Date | null } {
  const begin = sinceOf(since, "since");
  if (until === undefined) return { since: begin, until: null };
  const end = sinceOf(until, "until");
  if (begin < end) return { since: begin, until: end };
  throw new ApiError(400, "VALIDATION_ERROR", {
    message: "`until` is not later than `since`.",
    field: "until",
    value: until,
    fix: "Name a span: since its beginning, until its end, which is not included.",
  });
}
