import Type from "typebox";
import { ApiError } from "../errors.js";
import { exact, listOf } from "./schemas.js";
import { emptyObject, environmentQuery, instantOf, KIB, listQuery, nameFilter } from "./parameters.js";
import { adminRoute } from "./route.js";
import { delivery, deliveryDetail, emissionDetail, resent } from "./schemas-webhook.js";

const time = Type.String({ minLength: 1, maxLength: 256, examples: ["2h", "2026-03-01T09:00:00Z"] });
const resending = exact({
  since: time,
  until: Type.Optional(time),
  statuses: Type.Optional(
    Type.Array(Type.Enum(["failed", "missing", "pending", "delivered"]), {
      minItems: 1,
      uniqueItems: true,
      default: ["failed"],
    }),
  ),
  cursor: listQuery.properties.cursor,
});

/** Deliveries, and the emissions that they are of. */
export const deliveryRoutes = [
  adminRoute({
    operation: "list_deliveries",
    route: "GET /projects/:project/webhooks/:webhook/deliveries",
    summary: "The deliveries to a webhook, newest first",
    query: exact({
      ...listQuery.properties,
      status: Type.Optional(Type.Enum(["pending", "delivered", "failed"])),
      type: nameFilter,
      customer: nameFilter,
    }),
    answers: { 200: listOf(delivery) },
    passes: ({ at, params, query }) => {
      const { status, type: eventType, customer: customerId } = query;
      return [at, params["webhook"]!, { status, eventType, customerId }, query];
    },
  }),
  adminRoute({
    operation: "get_delivery",
    route: "GET /projects/:project/webhooks/:webhook/deliveries/:delivery",
    summary: "A delivery, with its body and its attempts",
    query: environmentQuery,
    answers: { 200: deliveryDetail },
    passes: ({ at, params }) => [at, params["webhook"]!, params["delivery"]!],
  }),
  // As a first time where the emission has no delivery there.
  adminRoute({
    operation: "resend_delivery",
    route: "POST /projects/:project/webhooks/:webhook/deliveries/:delivery/resend",
    summary: "Send one emission to a webhook again",
    query: environmentQuery,
    body: { schema: emptyObject, bytesMax: KIB },
    answers: { 202: delivery },
    refusals: { 409: ["WEBHOOK_DISABLED"] },
    passes: ({ at, params }) => [at, params["webhook"]!, params["delivery"]!],
  }),
  adminRoute({
    operation: "resend_deliveries",
    route: "POST /projects/:project/webhooks/:webhook/resend",
    summary: "Send again to a webhook what was emitted in a span of time",
    query: environmentQuery,
    body: { schema: resending, bytesMax: 16 * KIB },
    answers: { 202: resent },
    refusals: { 409: ["WEBHOOK_DISABLED"] },
    passes: ({ at, params, body: { since, until, statuses, cursor } }) => [
      at,
      params["webhook"]!,
      { ...spanOf(since, until), statuses: statuses ?? ["failed"], cursor },
    ],
  }),
  adminRoute({
    operation: "get_emission",
    route: "GET /projects/:project/emissions/:emission",
    summary: "An emission, with how far it came at each webhook",
    query: environmentQuery,
    answers: { 200: emissionDetail },
    passes: ({ at, params }) => [at, params["emission"]!],
  }),
];

/** From one instant to another, or without an end. Throws VALIDATION_ERROR. */
function spanOf(since: string, until: string | undefined): { since: Date; until: Date | null } {
  const begin = instantOf(since, "since");
  if (until === undefined) return { since: begin, until: null };
  const end = instantOf(until, "until");
  if (begin < end) return { since: begin, until: end };
  throw new ApiError(400, "VALIDATION_ERROR", {
    message: "`until` is not later than `since`.",
    field: "until",
    value: until,
    fix: "Name a span: since its beginning, until its end, which is not included.",
  });
}
