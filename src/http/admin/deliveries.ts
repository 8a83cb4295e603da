import Type from "typebox";
import { invalidField } from "../errors.js";
import { cause, CAUSES, customerId, emissionMembers, eventType, source } from "./customers.js";
import { instantOf } from "../request/instants.js";
import { emptyObject, eventTypeFilter, KIB, listQuery, nameFilter, sinceFilter } from "./parameters.js";
import { adminRoute } from "./route.js";
import { conditions, ruleExecution, triggeredBy } from "./rule-executions.js";
import {
  count,
  describedText,
  environment,
  exact,
  formerly,
  instant,
  jsonObject,
  listOf,
  named,
  orNull,
  versionName,
} from "./schemas.js";

export const deliveryAttempt = named("DeliveryAttempt", {
  attempt: Type.Integer({ minimum: 1, description: "Counts from 1, and continues when the delivery is sent again." }),
  at: instant,
  latencyMs: count,
  statusCode: orNull(Type.Integer(), "Null if there was no answer."),
  error: orNull(Type.String(), "Why there was no answer."),
  response: orNull(Type.String(), "The first KiB of the answer."),
});

export const emissionId = describedText(
  "The id of the emission, and of the delivered message.",
  "emi_0000000000000400",
);
const sequence = Type.Integer({ description: "Order among the emissions of the environment." });
const deliveryStatus = Type.Enum(["pending", "delivered", "failed"]);
const progress = {
  status: deliveryStatus,
  attempts: count,
  nextAttemptAt: orNull(instant, "Null when finished."),
  finishedAt: orNull(instant, "When it was delivered or failed for good."),
};

/** The delivery of an emission to one webhook. */
export const emissionDelivery = exact({
  webhookId: Type.String(),
  url: describedText("The origin and /…; the webhook has the whole URL.", "https://crm.example/…"),
  ...progress,
});

const deliveryProperties = {
  id: emissionId,
  eventType,
  type: formerly(eventType, "eventType"),
  customerId,
  source,
  configVersion: orNull(versionName),
  cause,
  emittedAt: instant,
  createdAt: instant,
  sequence,
  ...progress,
  lastAttempt: orNull(deliveryAttempt, "Null before the first attempt, and if it is no longer in the log."),
};

export const delivery = named("Delivery", deliveryProperties);

const includedCustomer = exact(
  {
    name: Type.Optional(Type.String()),
    owner: Type.Optional(Type.String()),
    renewal: Type.Optional(Type.String({ examples: ["2026-12-01"] })),
    url: Type.Optional(Type.String({ description: "The customer's page in the console." })),
    traits: Type.Optional(jsonObject("Those of the chosen traits that the customer has.")),
    facts: Type.Optional(
      exact(
        { triggeredBy, conditions },
        { description: "Why the rule ran, as in its log; absent if the emission is not from a rule." },
      ),
    ),
  },
  {
    description:
      "The data that the webhook's `include` selected when the delivery was written; absent if it was empty.",
  },
);

const deliveryBody = named("DeliveryBody", "The body of the message.", {
  id: emissionId,
  type: eventType,
  timestamp: instant,
  data: exact({
    customerId,
    environment,
    source,
    metadata: jsonObject("Details, which depend on the type."),
    configVersion: orNull(versionName),
    cause: exact({ ...cause.properties, type: Type.Enum([...CAUSES, "test"]) }),
    sequence,
    customer: Type.Optional(includedCustomer),
  }),
});

const emittingExecution = orNull(
  ruleExecution,
  "The rule execution that emitted it, of the present history or a superseded one; null if it is not from a rule, or too old for this to be known.",
);

export const deliveryDetail = named("DeliveryDetail", {
  ...deliveryProperties,
  body: Type.Union([deliveryBody, jsonObject("A chat message, if the webhook's format is one for chats.")]),
  ruleExecution: emittingExecution,
  attemptLog: Type.Array(deliveryAttempt, { description: "The newest first, at most 100." }),
});

export const resent = named("ResentDeliveries", {
  queued: Type.Integer({ minimum: 0, maximum: 10_000, description: "Number of deliveries that are now due." }),
  nextCursor: orNull(Type.String(), "Pass it as `cursor` to continue; null at the end of the span."),
});

export const emissionDetail = named("EmissionDetail", {
  id: emissionId,
  eventType,
  type: formerly(eventType, "eventType"),
  customerId,
  source,
  metadata: jsonObject("Details, which depend on the type."),
  timestamp: instant,
  createdAt: instant,
  configVersion: orNull(versionName),
  cause,
  sequence,
  ruleExecution: emittingExecution,
  deliveries: Type.Array(emissionDelivery),
});

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

/** Deliveries, and the emissions that they deliver. */
export const deliveryRoutes = [
  adminRoute("list_deliveries", "GET /projects/:project/webhooks/:webhook/deliveries", {
    summary: "List the deliveries to a webhook, the newest first",
    query: exact({
      ...listQuery.properties,
      status: Type.Optional(deliveryStatus),
      eventType: eventTypeFilter,
      // The former name of eventType.
      type: Type.Optional({ ...eventTypeFilter, deprecated: true }),
      customer: nameFilter,
    }),
    answers: { 200: listOf(delivery) },
    passes: ({ at, params, query }) => {
      const { status, type, eventType = type, customer: customerId } = query;
      return [at, params["webhook"]!, { status, eventType, customerId }, query];
    },
  }),
  adminRoute("get_delivery", "GET /projects/:project/webhooks/:webhook/deliveries/:delivery", {
    summary: "Get a delivery, with its body and its attempts",
    answers: { 200: deliveryDetail },
  }),
  // If the emission has no delivery to the webhook, this is the first.
  adminRoute("resend_delivery", "POST /projects/:project/webhooks/:webhook/deliveries/:delivery/resend", {
    summary: "Send one emission to a webhook again",
    body: { schema: emptyObject, bytesMax: KIB },
    answers: { 202: delivery },
    refusals: { 409: ["WEBHOOK_DISABLED"] },
  }),
  adminRoute("resend_deliveries", "POST /projects/:project/webhooks/:webhook/resend", {
    summary: "Send the emissions of a span of time to a webhook again",
    body: { schema: resending, bytesMax: 16 * KIB },
    answers: { 202: resent },
    refusals: { 409: ["WEBHOOK_DISABLED"] },
    passes: ({ at, params, body: { since, until, statuses, cursor } }) => [
      at,
      params["webhook"]!,
      { ...spanOf(since, until), statuses: statuses ?? ["failed"], cursor },
    ],
  }),
  adminRoute("get_emission", "GET /projects/:project/emissions/:emission", {
    summary: "Get an emission, with its delivery to each webhook",
    answers: { 200: emissionDetail },
  }),
];

/** A span between two instants, or without an end. Throws VALIDATION_ERROR. */
function spanOf(since: string, until: string | undefined): { since: Date; until: Date | null } {
  const begin = instantOf(since, "since");
  if (until === undefined) return { since: begin, until: null };
  const end = instantOf(until, "until");
  if (begin < end) return { since: begin, until: end };
  const fix = "Send the beginning of the span as `since` and its end, which is not included, as `until`.";
  throw invalidField("until", until, "`until` is not later than `since`.", fix);
}

export const listedEmission = named("ListedEmission", {
  id: describedText("The id of the emission, and of its deliveries.", "emi_0000000000000400"),
  customerId,
  ...emissionMembers,
  createdAt: instant,
});

/** The emissions about all customers. */
export const emissionRoutes = [
  adminRoute("search_emissions", "GET /projects/:project/emissions", {
    operationId: "listEmissions",
    summary: "List the emissions about all customers, the last first; `since` is the time of emission",
    query: exact({
      ...listQuery.properties,
      customer: nameFilter,
      eventType: eventTypeFilter,
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
