import Type, { type TObject, type TSchema } from "typebox";
import { exact, jsonObject, named } from "../admin/schemas.js";
import { KIB, MIB } from "../admin/parameters.js";
import { BATCH_MAX, CHARACTERS_MAX, DOCUMENT_BYTES_MAX, IdentifyRequest, TrackRequest } from "../../ingestion/shape.js";
import { BATCH_BYTES_MAX, SINGLE_BYTES_MAX } from "../../ingestion/request.js";
import { TRACKING_PATHS } from "../request/tracking-calls.js";
import type { Description, Endpoint } from "./endpoint.js";
import { ANY_WITH_BODY, mergeRefusals } from "./refusals.js";

/** What JSON Schema can say of the limits that src/ingestion checks in its own words. */
const name = (description: string) => Type.String({ minLength: 1, maxLength: CHARACTERS_MAX, description });
const document = (description: string) =>
  jsonObject(`${description} At most ${DOCUMENT_BYTES_MAX / KIB} KiB as compact JSON in UTF-8.`);

const DESCRIBED: Readonly<Record<string, TSchema>> = {
  customerId: name("The customer's id in your system, for good."),
  event: name("What happened."),
  idempotencyKey: Type.Optional(name("The same event sent again under the same key is stored once.")),
  timestamp: Type.Optional(
    Type.String({
      format: "date-time",
      description: "When it happened: ISO 8601 with a timezone. The time of ingestion if it is left out.",
    }),
  ),
  properties: Type.Optional(document("What is known of it.")),
  traits: document("Merged into the customer's traits, key by key; null removes one."),
};

/** An operation with the members that src/ingestion checks, described. */
function described(operation: TObject, title: string, description: string): TObject {
  const properties = Object.entries(operation.properties).map(([key, schema]) => [key, DESCRIBED[key] ?? schema]);
  return exact(Object.fromEntries(properties) as TObject["properties"], { title, description });
}

const track = described(TrackRequest, "TrackOperation", "Something that a customer did.");
const identify = described(IdentifyRequest, "IdentifyOperation", "What is known about a customer now.");
const batch = named("Batch", {
  events: Type.Array(Type.Union([track, identify]), { minItems: 1, maxItems: BATCH_MAX }),
});

const violation = {
  code: Type.String(),
  message: Type.String(),
  path: Type.String({ description: "Where in the operation." }),
};
const quarantined = "It violates the schema, and is kept until it is released or discarded; absent elsewhere.";

const acceptedEvent = named("AcceptedEvent", {
  eventId: Type.String({ pattern: "^evt_[0-9a-f]{16}$" }),
  accepted: Type.Literal(true),
  queued: Type.Literal(true, { description: "It is stored durably; what follows from it is computed afterwards." }),
  duplicate: Type.Boolean({ description: "Whether the idempotency key repeated the same payload." }),
  quarantined: Type.Optional(exact(violation, { description: quarantined })),
});

const acceptedBatch = named("AcceptedBatch", {
  accepted: Type.Integer({ minimum: 1, maximum: BATCH_MAX }),
  rejected: Type.Literal(0, { description: "A batch is accepted whole or refused whole." }),
  eventIds: Type.Array(Type.String({ pattern: "^evt_[0-9a-f]{16}$" }), {
    description: "Of the track operations, in their order.",
  }),
  quarantined: Type.Optional(
    Type.Array(exact({ index: Type.Integer({ minimum: 0, description: "Its place in `events`." }), ...violation }), {
      description:
        "The operations that violate the schema, and are kept until they are released or discarded; absent where there are none.",
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

/** What the database finds wrong with a payload, of a model with `strictSchema`. */
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
          description: "Everything of the request is stored, durably and together.",
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
        description: `A body of at most ${SINGLE_BYTES_MAX / KIB} KiB, after decompression where it is gzip.`,
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
          "Operations are evaluated in their order. One that is not valid, or one conflict, and nothing of the batch is stored. " +
          `A body of at most ${BATCH_BYTES_MAX / MIB} MiB, after decompression where it is gzip.`,
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
  "Calls of Segment's tracking API. `/docs/segment` says how they become operations.",
  {
    batch: Type.Array(jsonObject("A call: track, identify, group, page, screen or alias, as its `type` says.")),
  },
);

const taken = named("TakenCalls", {
  success: Type.Literal(true),
  quarantined: Type.Optional(Type.Integer({ minimum: 1, description: "How many are kept in quarantine." })),
  refused: Type.Optional(
    Type.Array(exact({ index: Type.Integer({ minimum: 0 }), code: Type.String(), message: Type.String() }), {
      description: "Those that can neither be stored nor kept.",
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
      description: `For Segment's and RudderStack's SDKs. A body of at most ${SINGLE_BYTES_MAX / KIB} KiB, after decompression where it is gzip.`,
      tag: "Ingestion",
      security: ["writeKey"],
      body: { schema: type === null ? { ...calls, additionalProperties: true } : jsonObject("The call.") },
      answers: {
        200: {
          description: "All calls are stored or kept, durably, but for those that the answer names.",
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
