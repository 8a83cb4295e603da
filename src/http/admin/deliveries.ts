import Type from "typebox";
import { ApiError } from "../errors.js";
import { emptyObject, environmentQuery, KIB, listQuery, nameFilter, sinceOf } from "./parameters.js";
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

/** Deliveries, and the emissions that they are of. */
export const deliveryRoutes = [
  // A page of rare filters may be short, even empty, and nextCursor go on all the same.
  adminRoute({
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
    passes: ({ at, params, query }) => {
      const { status, type: eventType, customer: customerId } = query;
      return [at, params["webhook"]!, { status, eventType, customerId }, query];
    },
  }),
  adminRoute({
    operation: "get_delivery",
    method: "GET",
    path: "/projects/:project/webhooks/:webhook/deliveries/:delivery",
    summary: "A delivery, with its body and its attempts",
    query: environmentQuery,
    answers: { 200: deliveryDetail },
    refusals: { 404: ["WEBHOOK_NOT_FOUND", "DELIVERY_NOT_FOUND"] },
    passes: ({ at, params }) => [at, params["webhook"]!, params["delivery"]!],
  }),
  // As a first time where the emission has no delivery there.
  adminRoute({
    operation: "resend_delivery",
    method: "POST",
    path: "/projects/:project/webhooks/:webhook/deliveries/:delivery/resend",
    summary: "Send one emission to a webhook again",
    query: environmentQuery,
    body: { schema: emptyObject, bytesMax: KIB },
    answers: { 202: delivery },
    refusals: { 404: ["WEBHOOK_NOT_FOUND", "DELIVERY_NOT_FOUND"], 409: ["WEBHOOK_DISABLED"] },
    passes: ({ at, params }) => [at, params["webhook"]!, params["delivery"]!],
  }),
  // 10,000 emissions a request.
  adminRoute({
    operation: "resend_deliveries",
    method: "POST",
    path: "/projects/:project/webhooks/:webhook/resend",
    summary: "Send again to a webhook what was emitted in a span of time",
    query: environmentQuery,
    body: { schema: resending, bytesMax: 16 * KIB },
    answers: { 202: resent },
    refusals: { 404: ["WEBHOOK_NOT_FOUND"], 409: ["WEBHOOK_DISABLED"] },
    passes: ({ at, params, body: { since, until, statuses, cursor } }) => [
      at,
      params["webhook"]!,
      { ...spanOf(since, until), statuses: statuses ?? ["failed"], cursor },
    ],
  }),
  adminRoute({
    operation: "get_emission",
    method: "GET",
    path: "/projects/:project/emissions/:emission",
    summary: "An emission, with how far it came at each webhook",
    query: environmentQuery,
    answers: { 200: emissionDetail },
    refusals: { 404: ["EMISSION_NOT_FOUND"] },
    passes: ({ at, params }) => [at, params["emission"]!],
  }),
];

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
