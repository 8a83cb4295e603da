import Type, { type TObject, type TSchema } from "typebox";
import { exact, jsonObject, named } from "../admin/schemas.js";
import { KIB, MIB } from "../admin/parameters.js";
import { BATCH_MAX, CHARACTERS_MAX, DOCUMENT_BYTES_MAX, IdentifyRequest, TrackRequest } from "../../ingestion/shape.js";
import { BATCH_BYTES_MAX, SINGLE_BYTES_MAX } from "../../ingestion/request.js";
import { TRACKING_PATHS } from "../request/tracking-calls.js";
import type { Description, Endpoint } from "./endpoint.js";
import { ANY_WITH_BODY, mergeRefusals } from "./refusals.js";

/** The limits that src/ingestion checks, as far as JSON Schema can express them. */
const name = (description: string) => Type.String({ minLength: 1, maxLength: CHARACTERS_MAX, description });
const document = (description: string) =>
  jsonObject(`${description} At most ${DOCUMENT_BYTES_MAX / KIB} KiB as compact JSON in UTF-8.`);

const DESCRIBED: Readonly<Record<string, TSchema>> = {
  customerId: name("The customer's permanent id in your system."),
  event: name("Name of the event."),
  idempotencyKey: Type.Optional(name("An event that is sent again with the same key is stored only once.")),
  timestamp: Type.Optional(
    Type.String({
      format: "date-time",
      description: "When it happened: ISO 8601 with a timezone. Defaults to the time of ingestion.",
    }),
  ),
  properties: Type.Optional(document("Properties of the event.")),
  traits: document("Merged into the customer's traits, key by key; null removes one."),
};

/** The schema of an operation with descriptions of its members. */
function described(operation: TObject, title: string, description: string): TObject {
  const properties = Object.entries(operation.properties).map(([key, schema]) => [key, DESCRIBED[key] ?? schema]);
  return exact(Object.fromEntries(properties) as TObject["properties"], { title, description });
}

const track = described(TrackRequest, "TrackOperation", "Something that a customer did.");
const identify = described(IdentifyRequest, "IdentifyOperation", "Traits of a customer, from now on.");
const batch = named("Batch", {
  events: Type.Array(Type.Union([track, identify]), { minItems: 1, maxItems: BATCH_MAX }),
});

const violation = {
  code: Type.String(),
  message: Type.String(),
  path: Type.String({ description: "Where in the operation." }),
};
const quarantined = "Present if the event violates the schema; it is then kept until it is released or discarded.";

const acceptedEvent = named("AcceptedEvent", {
  eventId: Type.String({ pattern: "^evt_[0-9a-f]{16}$" }),
  accepted: Type.Literal(true),
  queued: Type.Literal(true, { description: "It is stored durably and will be evaluated later." }),
  duplicate: Type.Boolean({ description: "Whether the same payload was already stored under this idempotency key." }),
  quarantined: Type.Optional(exact(violation, { description: quarantined })),
});

const acceptedBatch = named("AcceptedBatch", {
  accepted: Type.Integer({ minimum: 1, maximum: BATCH_MAX }),
  rejected: Type.Literal(0, { description: "A batch is accepted whole or refused whole." }),
  eventIds: Type.Array(Type.String({ pattern: "^evt_[0-9a-f]{16}$" }), {
    description: "Ids of the track operations, in the order of the batch.",
  }),
  quarantined: Type.Optional(
    Type.Array(exact({ index: Type.Integer({ minimum: 0, description: "Its place in `events`." }), ...violation }), {
      description:
        "The operations that violate the schema, which are kept until they are released or discarded; absent if there are none.",
    }),
  ),
});

const EVENT = {
  customerId: "globex",
  event: "order_placed",
  properties: { amount: 120.5, currency: "EUR" },
  timestamp: "2026-03-02T10:00:00Z",
  idempotencyKey: "order-1001",
};

/** Violations that the database finds in a payload if the model has `strictSchema`. */
const SCHEMA_CODES = [
  "UNKNOWN_EVENT",
  "MISSING_REQUIRED_PROPERTY",
  "UNKNOWN_PROPERTY",
  "INVALID_PROPERTY_TYPE",
  "INVALID_PROPERTY_ENUM",
  "INVALID_STRUCTURE",
  "UNKNOWN_TRAIT",
  "INVALID_TRAIT_TYPE",
  "INVALID_TRAIT_ENUM",
];

/** The two ingestion endpoints (src/http/ingest/routes.ts). */
export function ingestionEndpoints(to: Description): Endpoint[] {
  const endpoint = (
    names: { path: string; operationId: string; summary: string; description: string },
    body: { schema: TObject; example: unknown },
    answer: { schema: TObject; example: unknown },
    codes: readonly string[],
  ) =>
    to.endpoint({
      method: "post",
      ...names,
      tag: "Ingestion",
      security: ["apiKey"],
      body,
      answers: {
        202: {
          description: "All operations of the request are stored, durably and in one transaction.",
          headers: ["RateLimit-Limit", "RateLimit-Remaining"],
          ...answer,
        },
      },
      refusals: mergeRefusals(ANY_WITH_BODY, {
        400: codes,
        401: ["INVALID_API_KEY"],
        402: ["PLAN_REQUIRED"],
        409: ["IDEMPOTENCY_CONFLICT"],
        422: SCHEMA_CODES,
        429: ["RATE_LIMIT_EXCEEDED", "MONTHLY_QUOTA_EXCEEDED"],
      }),
    });
  return [
    endpoint(
      {
        path: "/v1/events",
        operationId: "sendEvent",
        summary: "Send one event",
        description: `The body has at most ${SINGLE_BYTES_MAX / KIB} KiB, after decompression if it is gzip.`,
      },
      { schema: track, example: EVENT },
      {
        schema: acceptedEvent,
        example: { eventId: "evt_0000000000000400", accepted: true, queued: true, duplicate: false },
      },
      [],
    ),
    endpoint(
      {
        path: "/v1/events/batch",
        operationId: "sendBatch",
        summary: `Send 1 to ${BATCH_MAX.toLocaleString("en-US")} operations, all or nothing`,
        description:
          "Operations are evaluated in their order. If one of them is not valid or conflicts, nothing of the batch is stored. " +
          `The body has at most ${BATCH_BYTES_MAX / MIB} MiB, after decompression if it is gzip.`,
      },
      {
        schema: batch,
        example: { events: [{ type: "identify", customerId: "globex", traits: { plan: "pro", seats: 12 } }, EVENT] },
      },
      { schema: acceptedBatch, example: { accepted: 2, rejected: 0, eventIds: ["evt_0000000000000801"] } },
      ["BATCH_SIZE_INVALID"],
    ),
  ];
}

const calls = named(
  "TrackingCalls",
  "Calls of Segment's tracking API. `/docs/segment` describes how they become operations.",
  {
    batch: Type.Array(jsonObject("A call: track, identify, group, page, screen or alias, as its `type` says.")),
  },
);

const taken = named("TakenCalls", {
  success: Type.Literal(true),
  quarantined: Type.Optional(Type.Integer({ minimum: 1, description: "Number of calls that are kept in quarantine." })),
  refused: Type.Optional(
    Type.Array(exact({ index: Type.Integer({ minimum: 0 }), code: Type.String(), message: Type.String() }), {
      description: "Calls that can neither be stored nor quarantined: the first thousand of them.",
    }),
  ),
});

/** The paths of Segment's tracking API (src/http/ingest/tracking.ts). */
export function trackingEndpoints(to: Description): Endpoint[] {
  return TRACKING_PATHS.map(([path, type]) =>
    to.endpoint({
      method: "post",
      path,
      operationId: type === null ? "sendCalls" : `send${type[0]!.toUpperCase()}${type.slice(1)}Call`,
      summary:
        type === null ? "Send calls of Segment's tracking API" : `Send one ${type} call of Segment's tracking API`,
      description: `For Segment's and RudderStack's SDKs. The body has at most ${SINGLE_BYTES_MAX / KIB} KiB, after decompression if it is gzip.`,
      tag: "Ingestion",
      security: ["writeKey"],
      body: { schema: type === null ? { ...calls, additionalProperties: true } : jsonObject("The call.") },
      answers: {
        200: {
          description: "All calls are durably stored or quarantined, except those that the answer lists as refused.",
          headers: ["RateLimit-Limit", "RateLimit-Remaining"],
          schema: taken,
          example: { success: true },
        },
      },
      refusals: mergeRefusals(ANY_WITH_BODY, {
        400: ["VALIDATION_ERROR"],
        401: ["INVALID_API_KEY"],
        402: ["PLAN_REQUIRED"],
        429: ["RATE_LIMIT_EXCEEDED", "MONTHLY_QUOTA_EXCEEDED"],
      }),
    }),
  );
}
