import { randomBytes } from "node:crypto";
import Type from "typebox";
import { testWebhook } from "../../db/api/webhooks.js";
import { isDuration } from "../../model/snapshot/duration.js";
import { LIMITS } from "../../model/snapshot/limits.js";
import { isAccepted } from "../../webhooks/send.js";
import { checkUrl } from "../../webhooks/address.js";
import { newSecret, sealSecret } from "../../webhooks/secret.js";
import { ApiError, invalidField } from "../errors.js";
import { graceSeconds, KIB, listQuery } from "./parameters.js";
import { adminRoute, type AdminDeps } from "./route.js";
import { count, countOf, describedText, exact, instant, listOf, mapOf, named, orNull } from "./schemas.js";

const FORMATS = ["json", "slack", "teams"] as const;

const webhookProperties = {
  id: Type.String({ pattern: "^whk_[0-9a-f]+$", examples: ["whk_5f0c2a9e7b1d4c3a5f0c"] }),
  url: Type.String({ description: "Only the origin and /… for members who may not change it." }),
  eventTypes: Type.Array(Type.String({ examples: ["customer.*"] }), {
    description: "Types to deliver; a trailing * matches any ending.",
  }),
  maxEventAge: orNull(
    Type.String({ examples: ["7d"] }),
    "Emissions whose cause was older than this when they were emitted are not delivered; null without a limit.",
  ),
  maxConcurrency: Type.Integer({ minimum: 1, description: "The most concurrent deliveries." }),
  maxPerSecond: orNull(
    Type.Integer({ minimum: 1 }),
    "The most deliveries that start per second; null without a limit.",
  ),
  include: Type.Array(Type.String({ examples: ["traits.plan"] }), {
    description: "Data of the customer that deliveries include; empty for none.",
  }),
  format: Type.Enum([...FORMATS], { description: "The format of the body of a delivery." }),
  createdAt: instant,
  previousSecretExpiresAt: orNull(
    instant,
    "Until when deliveries are also signed with the secret before the last rotation; null if they are not.",
  ),
  failingSince: orNull(instant, "Since when all attempts have failed; null while they succeed."),
  disabledAt: orNull(instant, "Since when nothing is delivered; null if the webhook is enabled."),
  disabledReason: orNull(Type.String()),
};

export const webhook = named("Webhook", webhookProperties);

const secret = describedText("The secret that signs the deliveries. It cannot be retrieved again.", "whsec_…");

export const createdWebhook = named("CreatedWebhook", { ...webhookProperties, secret });

export const rotatedWebhook = named("RotatedWebhook", { webhook, secret });

export const webhookDetail = named("WebhookDetail", {
  ...webhookProperties,
  pending: Type.Integer({ minimum: 0, maximum: 10_000, description: "Deliveries that wait, counted up to 10,000." }),
  oldestPendingAt: orNull(instant, "When the oldest emission among them was written."),
  lastDay: exact(
    {
      attempts: count,
      accepted: countOf("Attempts that were answered 2xx."),
      medianLatencyMs: orNull(count, "Null without attempts."),
      p95LatencyMs: orNull(count, "The 95th percentile; null without attempts."),
    },
    { description: "Attempts in the last 24 hours, among the 1,000 for the newest emissions." },
  ),
});

export const webhookTest = named("WebhookTest", {
  id: describedText("The id of the message.", "test_5f0c2a9e7b1d4c3a5f0c"),
  delivered: Type.Boolean({ description: "Whether the receiver answered 2xx." }),
  statusCode: orNull(Type.Integer(), "Null if there was no answer."),
  latencyMs: count,
  error: orNull(Type.String(), "Why there was no answer."),
  response: orNull(Type.String(), "The first KiB of the answer."),
  request: exact({
    headers: mapOf(
      Type.String(),
      "The headers of the signature and of the service; empty if the secret could not be decrypted, so that nothing was signed.",
    ),
    body: Type.String({ description: "The JSON text exactly as it was signed." }),
  }),
});

const MAX_CONCURRENCY = 10;
/** The fix for an address that is refused because it is private. */
const USE_PUBLIC =
  "Use an address that is reachable from the internet; for receivers on your own machine, start the service with SVC_WEBHOOK_ALLOW_PRIVATE=1.";
const TEST_TYPE = "webhook.test";

/** The settings of a webhook. */
const url = Type.String({
  minLength: 1,
  pattern: "^[^\\s\\u0000-\\u001f\\u007f]*$",
  description: "must not contain spaces, line breaks or control characters",
});
const eventType = Type.String({
  minLength: 1,
  maxLength: 256,
  pattern: "^[^*]*\\*?$",
  description: "must be an event type, or the beginning of event types and a *, for example customer.*",
});
const eventTypes = Type.Array(eventType, { minItems: 1, maxItems: 100, uniqueItems: true });
const maxEventAge = Type.Unsafe<string | null>({
  type: ["string", "null"],
  pattern: "^[1-9][0-9]{0,6}[mhdw]$",
  description: "must be a whole number and a unit, for example 12h, 7d or 4w",
  examples: ["7d"],
});
const maxConcurrency = Type.Integer({ minimum: 1, maximum: 100 });
const maxPerSecond = Type.Unsafe<number | null>({ type: ["integer", "null"], minimum: 1, maximum: 1000 });
const included = Type.String({
  maxLength: "traits.".length + LIMITS.nameLength,
  pattern: "^(name|owner|renewal|url|facts|traits\\.[^\\u0000-\\u001f\\u007f-\\u009f]+)$",
  description: "must be name, owner, renewal, url, facts, or traits. and the name of a trait, for example traits.plan",
});
const include = Type.Array(included, { maxItems: 32, uniqueItems: true });
const format = Type.Enum([...FORMATS]);

const newWebhook = exact({
  url,
  eventTypes,
  maxEventAge: Type.Optional(maxEventAge),
  maxConcurrency: Type.Optional(Type.Integer({ ...maxConcurrency, default: MAX_CONCURRENCY })),
  maxPerSecond: Type.Optional(maxPerSecond),
  include: Type.Optional(Type.Array(included, { ...include, default: [] })),
  format: Type.Optional(Type.Enum([...FORMATS], { default: "json" })),
});
const changes = Type.Partial(
  Type.Object({
    url,
    eventTypes,
    maxEventAge,
    maxConcurrency,
    maxPerSecond,
    include,
    format,
    disabled: Type.Boolean(),
  }),
  { additionalProperties: false, minProperties: 1 },
);
const rotation = exact({ grace: Type.Optional(Type.String({ default: "24h", examples: ["0m", "1h", "24h"] })) });
const test = exact({
  type: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      pattern: "^[^*\\u0000-\\u001f\\u007f]*$",
      description: "must be an event type, without a * or control characters",
      default: TEST_TYPE,
    }),
  ),
});

/** The webhooks of an environment, without their secrets. */
export const webhookRoutes = [
  adminRoute("create_webhook", "POST /projects/:project/webhooks", {
    summary: "Create a webhook: an endpoint that receives emissions from now on",
    body: { schema: newWebhook, bytesMax: 64 * KIB },
    answers: { 201: createdWebhook },
    answer: async ({ deps, call, at, body }) => {
      checkSettings(body, deps);
      const secret = newSecret();
      const { url, eventTypes, maxEventAge = null, maxConcurrency = MAX_CONCURRENCY, maxPerSecond = null } = body;
      const { include = [], format = "json" } = body;
      const sealedSecret = sealSecret(secret, deps.sealingKey);
      const settings = { url, eventTypes, maxEventAge, maxConcurrency, maxPerSecond, include, format, sealedSecret };
      const document = await call("add_webhook", at, settings);
      return { ...(JSON.parse(document) as object), secret };
    },
  }),
  adminRoute("list_webhooks", "GET /projects/:project/webhooks", {
    summary: "List the webhooks of an environment",
    query: listQuery,
    answers: { 200: listOf(webhook) },
  }),
  adminRoute("get_webhook", "GET /projects/:project/webhooks/:webhook", {
    summary: "Get a webhook, with its pending deliveries and the results of the last attempts",
    answers: { 200: webhookDetail },
  }),
  // Absent members stay unchanged. A disabled webhook receives nothing, and pending deliveries wait.
  adminRoute("update_webhook", "PATCH /projects/:project/webhooks/:webhook", {
    summary: "Change, disable or enable a webhook",
    body: { schema: changes, bytesMax: 64 * KIB },
    answers: { 200: webhook },
    passes: ({ deps, at, params, body }) => {
      checkSettings(body, deps);
      return [at, params["webhook"]!, body];
    },
  }),
  adminRoute("delete_webhook", "DELETE /projects/:project/webhooks/:webhook", {
    summary: "Delete a webhook, with all its deliveries",
    answers: { 200: webhook },
  }),
  adminRoute("rotate_webhook_secret", "POST /projects/:project/webhooks/:webhook/rotate-secret", {
    summary: "Replace the signing secret; the old one also signs until the grace period ends",
    body: { schema: rotation, bytesMax: KIB },
    answers: { 201: rotatedWebhook },
    answer: async ({ deps, call, at, params, body }) => {
      const grace = graceSeconds(body.grace ?? "24h", "24h", "with 0m the old secret stops signing at once.");
      const secret = newSecret();
      const sealed = sealSecret(secret, deps.sealingKey);
      const document = await call("rotate_webhook_secret", at, params["webhook"]!, grace, sealed);
      return { webhook: JSON.parse(document) as object, secret };
    },
  }),
  adminRoute("test_webhook", "POST /projects/:project/webhooks/:webhook/test", {
    summary: "Send a test message to a webhook once, and return its answer",
    body: { schema: test, bytesMax: KIB },
    answers: { 200: webhookTest },
    scarce: true,
    answer: ({ deps, credentials, at: place, params, body }) =>
      deps.webhookTests.run(credentials.organizationId, async () => {
        const type = body.type ?? TEST_TYPE;
        const id = `test_${randomBytes(10).toString("hex")}`;
        const {
          at,
          body: chat,
          ...target
        } = await testWebhook(deps.sql, credentials, place, params["webhook"]!, { id, type });
        const message = chat ?? testBody(id, type, place.environment, at);
        const { outcome, headers } = await deps.webhookTests.send({ ...target, id, body: message }, at);
        const { statusCode, latencyMs, error, response } = outcome;
        const delivered = isAccepted(statusCode);
        const request = { headers, body: message };
        return { id, delivered, statusCode, latencyMs, error, response, request };
      }),
  }),
];

/** A body like that of a delivery, for an emission that does not exist. */
function testBody(id: string, type: string, environment: string, at: Date): string {
  return JSON.stringify({
    id,
    type,
    timestamp: at.toISOString(),
    data: {
      customerId: "customer_test",
      environment,
      source: "test",
      metadata: {},
      configVersion: null,
      cause: { type: "test", id: null },
      sequence: 0,
    },
  });
}

/** Checks what a schema cannot express. Throws VALIDATION_ERROR. */
function checkSettings(
  { url, maxEventAge }: Readonly<{ url?: string; maxEventAge?: string | null }>,
  { allowPrivateWebhooks }: AdminDeps,
): void {
  const problem = url === undefined ? null : checkUrl(url, { allowPrivate: allowPrivateWebhooks });
  if (problem !== null) {
    const fix = checkUrl(url!, { allowPrivate: true }) === null ? USE_PUBLIC : undefined;
    throw new ApiError(400, "VALIDATION_ERROR", { message: problem, field: "url", fix });
  }
  if (typeof maxEventAge === "string" && !isDuration(maxEventAge)) {
    const fix = "Write 3650d or less, or null for no limit.";
    throw invalidField("maxEventAge", maxEventAge, "`maxEventAge` is too long.", fix);
  }
}
