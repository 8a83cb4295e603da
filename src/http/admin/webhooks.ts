import { randomBytes } from "node:crypto";
import Type from "typebox";
import { testWebhook } from "../../db/api/webhooks.js";
import { isDuration } from "../../model/snapshot/duration.js";
import { isAccepted } from "../../webhooks/send.js";
import { checkUrl } from "../../webhooks/address.js";
import { newSecret, sealSecret } from "../../webhooks/secret.js";
import { ApiError } from "../errors.js";
import { environmentQuery, graceOf, KIB, listQuery } from "./parameters.js";
import { adminRoute, type AdminDeps } from "./route.js";
import { createdWebhook, rotatedWebhook, webhook, webhookDetail, webhookList, webhookTest } from "./schemas-webhook.js";

const MAX_CONCURRENCY = 10;
/** What to do where an address is refused for what it reaches. */
const PUBLIC =
  "Give an address that the internet reaches; for receivers on your own machine, start the service with SVC_WEBHOOK_ALLOW_PRIVATE=1.";
const TEST_TYPE = "webhook.test";

/** What a webhook is set to, member by member. */
const url = Type.String({
  minLength: 1,
  pattern: "^[^\\s\\u0000-\\u001f\\u007f]*$",
  description: "must not hold spaces, line breaks or control characters",
});
const eventType = Type.String({
  minLength: 1,
  maxLength: 256,
  pattern: "^[^*]*\\*?$",
  description: "must be an event type, or the beginning of some and a * at the end, for example customer.*",
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

const newWebhook = Type.Object(
  {
    url,
    eventTypes,
    maxEventAge: Type.Optional(maxEventAge),
    maxConcurrency: Type.Optional(Type.Integer({ ...maxConcurrency, default: MAX_CONCURRENCY })),
    maxPerSecond: Type.Optional(maxPerSecond),
  },
  { additionalProperties: false },
);
const changes = Type.Object(
  {
    url: Type.Optional(url),
    eventTypes: Type.Optional(eventTypes),
    maxEventAge: Type.Optional(maxEventAge),
    maxConcurrency: Type.Optional(maxConcurrency),
    maxPerSecond: Type.Optional(maxPerSecond),
    disabled: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false, minProperties: 1 },
);
const rotation = Type.Object(
  { grace: Type.Optional(Type.String({ default: "24h", examples: ["0m", "1h", "24h"] })) },
  { additionalProperties: false },
);
const test = Type.Object(
  {
    type: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        pattern: "^[^*\\u0000-\\u001f\\u007f]*$",
        description: "must be an event type, without a * or control characters",
        default: TEST_TYPE,
      }),
    ),
  },
  { additionalProperties: false },
);

const NOT_FOUND = { 404: ["WEBHOOK_NOT_FOUND"] };

/** The webhooks of an environment, without their secrets. */
export const webhookRoutes = [
  // The signing secret is in this answer and nowhere else, ever.
  adminRoute({
    operation: "create_webhook",
    method: "POST",
    path: "/projects/:project/webhooks",
    summary: "Add an endpoint that receives emissions from now on",
    query: environmentQuery,
    body: { schema: newWebhook, bytesMax: 64 * KIB },
    answers: { 201: createdWebhook },
    answer: async ({ deps, call, at, body }) => {
      checkSettings(body, deps);
      const secret = newSecret();
      const document = await call("create_webhook", at, {
        url: body.url,
        eventTypes: body.eventTypes,
        maxEventAge: body.maxEventAge ?? null,
        maxConcurrency: body.maxConcurrency ?? MAX_CONCURRENCY,
        maxPerSecond: body.maxPerSecond ?? null,
        sealedSecret: sealSecret(secret, deps.sealingKey),
      });
      return { status: 201, document: { ...(JSON.parse(document) as object), secret } };
    },
  }),
  adminRoute({
    operation: "list_webhooks",
    method: "GET",
    path: "/projects/:project/webhooks",
    summary: "The webhooks of an environment",
    query: listQuery,
    answers: { 200: webhookList },
    passes: ({ at, query }) => [at, query],
  }),
  adminRoute({
    operation: "get_webhook",
    method: "GET",
    path: "/projects/:project/webhooks/:webhook",
    summary: "A webhook, with what waits to be delivered there",
    query: environmentQuery,
    answers: { 200: webhookDetail },
    refusals: NOT_FOUND,
    passes: ({ at, params }) => [at, params["webhook"]!],
  }),
  // Members that are not there stay. Disabled, it receives nothing, and what is pending waits.
  adminRoute({
    operation: "update_webhook",
    method: "PATCH",
    path: "/projects/:project/webhooks/:webhook",
    summary: "Change, disable or enable a webhook",
    query: environmentQuery,
    body: { schema: changes, bytesMax: 64 * KIB },
    answers: { 200: webhook },
    refusals: NOT_FOUND,
    passes: ({ deps, at, params, body }) => {
      checkSettings(body, deps);
      return [at, params["webhook"]!, body];
    },
  }),
  adminRoute({
    operation: "delete_webhook",
    method: "DELETE",
    path: "/projects/:project/webhooks/:webhook",
    summary: "Delete a webhook, with all its deliveries",
    query: environmentQuery,
    answers: { 200: webhook },
    refusals: NOT_FOUND,
    passes: ({ at, params }) => [at, params["webhook"]!],
  }),
  // The new secret is in this answer and nowhere else.
  adminRoute({
    operation: "rotate_webhook_secret",
    method: "POST",
    path: "/projects/:project/webhooks/:webhook/rotate-secret",
    summary: "Replace the signing secret; the old one signs too until the grace is over",
    query: environmentQuery,
    body: { schema: rotation, bytesMax: KIB },
    answers: { 201: rotatedWebhook },
    refusals: NOT_FOUND,
    answer: async ({ deps, call, at, params, body }) => {
      const grace = graceOf(body.grace ?? "24h", "24h", "with 0m the old secret signs no more.");
      const secret = newSecret();
      const sealed = sealSecret(secret, deps.sealingKey);
      const document = await call("rotate_webhook_secret", at, params["webhook"]!, grace, sealed);
      return { status: 201, document: { webhook: JSON.parse(document) as object, secret } };
    },
  }),
  // One made-up message, now and once; answers what came of it.
  adminRoute({
    operation: "test_webhook",
    method: "POST",
    path: "/projects/:project/webhooks/:webhook/test",
    summary: "Send a test message to a webhook, once, and tell what it answered",
    query: environmentQuery,
    body: { schema: test, bytesMax: KIB },
    answers: { 200: webhookTest },
    refusals: NOT_FOUND,
    scarce: true,
    answer: ({ deps, credentials, at: place, params, body }) =>
      deps.webhookTests.run(credentials.organizationId, async () => {
        const type = body.type ?? TEST_TYPE;
        const id = `test_${randomBytes(10).toString("hex")}`;
        const { at, ...target } = await testWebhook(deps.sql, credentials, place, params["webhook"]!, { id, type });
        const message = testBody(id, type, place.environment, at);
        const { outcome, headers } = await deps.webhookTests.send({ ...target, id, body: message }, at);
        const { statusCode, latencyMs, error, response } = outcome;
        const delivered = isAccepted(statusCode);
        const request = { headers, body: message };
        return { status: 200, document: { id, delivered, statusCode, latencyMs, error, response, request } };
      }),
  }),
];

/** As the body of a delivery, of an emission that never was. */
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

/** What a schema cannot say. Throws VALIDATION_ERROR. */
function checkSettings(
  { url, maxEventAge }: Readonly<{ url?: string; maxEventAge?: string | null }>,
  { allowPrivateWebhooks }: AdminDeps,
): void {
  const problem = url === undefined ? null : checkUrl(url, { allowPrivate: allowPrivateWebhooks });
  if (problem !== null) {
    const isPrivate = checkUrl(url!, { allowPrivate: true }) === null;
    throw new ApiError(400, "VALIDATION_ERROR", {
      message: problem,
      field: "url",
      ...(isPrivate ? { fix: PUBLIC } : {}),
    });
  }
  if (typeof maxEventAge === "string" && !isDuration(maxEventAge)) {
    throw new ApiError(400, "VALIDATION_ERROR", {
      message: "`maxEventAge` is too long.",
      field: "maxEventAge",
      value: maxEventAge,
      fix: "Write 3650d or less, or null for no limit.",
    });
  }
}
