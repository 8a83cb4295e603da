import Type from "typebox";
import {
  count,
  environmentName,
  exact,
  instant,
  jsonObject,
  listOf,
  mapOf,
  orNull,
  version,
} from "./schemas-common.js";
import { cause, customerId } from "./schemas-customer.js";

const webhookProperties = {
  id: Type.String({ pattern: "^whk_[0-9a-f]+$", examples: ["whk_5f0c2a9e7b1d4c3a5f0c"] }),
  url: Type.String(),
  eventTypes: Type.Array(Type.String({ examples: ["customer.*"] }), {
    description: "Types to deliver; a trailing * matches any ending.",
  }),
  maxEventAge: orNull(
    Type.String({ examples: ["7d"] }),
    "What happened longer before it was emitted is not delivered; null without a limit.",
  ),
  maxConcurrency: Type.Integer({ minimum: 1, description: "Deliveries under way at once at most." }),
  maxPerSecond: orNull(Type.Integer({ minimum: 1 }), "Deliveries begun per second at most; null without a limit."),
  createdAt: instant,
  previousSecretExpiresAt: orNull(
    instant,
    "Until when the secret before the last rotation signs, too; null where one signs.",
  ),
  failingSince: orNull(instant, "Since when all attempts have failed; null while they succeed."),
  disabledAt: orNull(instant, "From when nothing is delivered; null where it is enabled."),
  disabledReason: orNull(Type.String()),
};

export const webhook = exact(webhookProperties, { title: "Webhook" });

const secret = Type.String({
  description: "Signs the deliveries. It is shown here and nowhere else, ever.",
  examples: ["whsec_…"],
});

export const createdWebhook = exact({ ...webhookProperties, secret }, { title: "CreatedWebhook" });

export const rotatedWebhook = exact({ webhook, secret }, { title: "RotatedWebhook" });

export const webhookDetail = exact(
  {
    ...webhookProperties,
    pending: Type.Integer({
      minimum: 0,
      maximum: 10_000,
      description: "Deliveries that wait, counted up to 10,000.",
    }),
    oldestPendingAt: orNull(instant, "When the oldest emission of those was written."),
  },
  { title: "WebhookDetail" },
);

export const webhookList = listOf(webhook);

export const attempt = exact(
  {
    attempt: Type.Integer({ minimum: 1, description: "Counts on when the delivery is sent again." }),
    at: instant,
    latencyMs: count,
    statusCode: orNull(Type.Integer(), "Null where there was no answer."),
    error: orNull(Type.String(), "Why there was no answer."),
    response: orNull(Type.String(), "The first KiB of the answer."),
  },
  { title: "DeliveryAttempt" },
);

const emissionId = Type.String({
  description: "Of the emission, and of the delivered message.",
  examples: ["emi_0000000000000400"],
});
const eventType = Type.String({ examples: ["customer.activated"] });
const source = Type.String({ description: "What emitted it: lifecycle, segment, …", examples: ["lifecycle"] });
const sequence = Type.Integer({ description: "Order among the emissions of the environment." });
const deliveryStatus = Type.Enum(["pending", "delivered", "failed"]);
const progress = {
  status: deliveryStatus,
  attempts: count,
  nextAttemptAt: orNull(instant, "Null when finished."),
  finishedAt: orNull(instant, "When it was delivered or given up."),
};

const deliveryProperties = {
  id: emissionId,
  type: eventType,
  customerId,
  source,
  configVersion: orNull(version),
  cause,
  emittedAt: instant,
  createdAt: instant,
  sequence,
  ...progress,
  lastAttempt: orNull(attempt, "Null before the first one, and when it is too old for the log."),
};

export const delivery = exact(deliveryProperties, { title: "Delivery" });

export const deliveryList = listOf(delivery);

const deliveryBody = exact(
  {
    id: emissionId,
    type: eventType,
    timestamp: instant,
    data: exact({
      customerId,
      environment: environmentName,
      source,
      metadata: jsonObject("Depends on the type."),
      configVersion: orNull(version),
      cause,
      sequence,
    }),
  },
  { title: "DeliveryBody", description: "What is sent." },
);

export const deliveryDetail = exact(
  {
    ...deliveryProperties,
    body: deliveryBody,
    attemptLog: Type.Array(attempt, { description: "The newest first, a hundred at most." }),
  },
  { title: "DeliveryDetail" },
);

export const resent = exact(
  {
    queued: Type.Integer({ minimum: 0, maximum: 10_000, description: "Deliveries that are due now." }),
    nextCursor: orNull(Type.String(), "Pass it as `cursor` to go on; null at the end of the span."),
  },
  { title: "ResentDeliveries" },
);

export const webhookTest = exact(
  {
    id: Type.String({ description: "Of the message.", examples: ["test_5f0c2a9e7b1d4c3a5f0c"] }),
    delivered: Type.Boolean({ description: "Whether the receiver answered 2xx." }),
    statusCode: orNull(Type.Integer(), "Null where there was no answer."),
    latencyMs: count,
    error: orNull(Type.String(), "Why there was no answer."),
    response: orNull(Type.String(), "The first KiB of the answer."),
    request: exact({
      headers: mapOf(
        Type.String(),
        "The signature's and ours; none where the secret does not open, so that nothing could be signed.",
      ),
      body: Type.String({ description: "JSON, byte for byte as it was signed." }),
    }),
  },
  { title: "WebhookTest" },
);

export const emissionDetail = exact(
  {
    id: emissionId,
    type: eventType,
    customerId,
    source,
    metadata: jsonObject("Depends on the type."),
    timestamp: instant,
    createdAt: instant,
    configVersion: orNull(version),
    cause,
    sequence,
    deliveries: Type.Array(exact({ webhookId: Type.String(), url: Type.String(), ...progress })),
  },
  { title: "EmissionDetail" },
);
