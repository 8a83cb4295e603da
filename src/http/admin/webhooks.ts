import Type from "typebox";
import * as calls from "../../db/calls-admin.js";
import { checkUrl } from "../../webhooks/address.js";
import { newSecret, sealSecret } from "../../webhooks/secret.js";
import { ApiError } from "../errors.js";
import { environmentQuery, KIB, listQuery } from "./parameters.js";
import { adminRoute } from "./route.js";
import { createdWebhook, deliveryList, webhookList } from "./schemas-webhook.js";

const eventType = Type.String({
  minLength: 1,
  maxLength: 256,
  pattern: "^[^*]*\\*?$",
  description: "must be an event type, or the beginning of some and a * at the end, for example customer.*",
});

const newWebhook = Type.Object(
  {
    url: Type.String({
      minLength: 1,
      pattern: "^[^\\s\\u0000-\\u001f\\u007f]*$",
      description: "must not hold spaces, line breaks or control characters",
    }),
    eventTypes: Type.Array(eventType, { minItems: 1, maxItems: 100, uniqueItems: true }),
  },
  { additionalProperties: false },
);

/** Adds a webhook. Its signing secret is in this answer and nowhere else, ever. */
export const createWebhook = adminRoute({
  operation: "create_webhook",
  method: "POST",
  path: "/projects/:project/webhooks",
  summary: "Add an endpoint that receives emissions from now on",
  query: environmentQuery,
  body: { schema: newWebhook, bytesMax: 64 * KIB },
  answers: { 201: createdWebhook },
  answer: async ({ deps, credentials, params, query, body }) => {
    const problem = checkUrl(body.url, { allowPrivate: deps.allowPrivateWebhooks });
    if (problem !== null) throw new ApiError(400, "VALIDATION_ERROR", { message: problem, field: "url" });
    const secret = newSecret();
    const document = await calls.createWebhook(
      deps.sql,
      credentials,
      { project: params["project"]!, environment: query.env },
      { ...body, sealedSecret: sealSecret(secret, deps.sealingKey) },
    );
    const { id, url, eventTypes, createdAt } = JSON.parse(document) as Record<string, unknown>;
    return { status: 201, document: { id, url, eventTypes, secret, createdAt } };
  },
});

/** The webhooks of an environment, without their secrets. */
export const listWebhooks = adminRoute({
  operation: "list_webhooks",
  method: "GET",
  path: "/projects/:project/webhooks",
  summary: "The webhooks of an environment",
  query: listQuery,
  answers: { 200: webhookList },
  answer: async ({ deps, credentials, params, query: { env, ...page } }) => {
    const place = { project: params["project"]!, environment: env };
    return { status: 200, document: await calls.listWebhooks(deps.sql, credentials, place, page) };
  },
});

/** The deliveries to a webhook, newest first. */
export const listDeliveries = adminRoute({
  operation: "list_deliveries",
  method: "GET",
  path: "/projects/:project/webhooks/:webhook/deliveries",
  summary: "The deliveries to a webhook, newest first",
  query: listQuery,
  answers: { 200: deliveryList },
  refusals: { 404: ["WEBHOOK_NOT_FOUND"] },
  answer: async ({ deps, credentials, params, query: { env, ...page } }) => {
    const place = { project: params["project"]!, environment: env };
    return {
      status: 200,
      document: await calls.listDeliveries(deps.sql, credentials, place, params["webhook"]!, page),
    };
  },
});
