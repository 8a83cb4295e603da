import Type from "typebox";
import {
  count,
  environment,
  exact,
  instant,
  jsonObject,
  mapOf,
  named,
  orNull,
  describedText,
  versionName,
} from "./schemas.js";
import { cause, customerId, source } from "./schemas-customer.js";

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

export const webhook = named("Webhook", webhookProperties);

const secret = describedText("Signs the deliveries. It is shown here and nowhere else, ever.", "whsec_…");

export const createdWebhook = named("CreatedWebhook", { ...webhookProperties, secret });

export const rotatedWebhook = named("RotatedWebhook", { webhook, secret });

export const webhookDetail = named("WebhookDetail", {
  ...webhookProperties,
  pending: Type.Integer({ minimum: 0, maximum: 10_000, description: "Deliveries that wait, counted up to 10,000." }),
  oldestPendingAt: orNull(instant, "When the oldest emission of those was written."),
});

export const deliveryAttempt = named("DeliveryAttempt", {
  attempt: Type.Integer({ minimum: 1, description: "Counts on when the delivery is sent again." }),
  at: instant,
  latencyMs: count,
  statusCode: orNull(Type.Integer(), "Null where there was no answer."),
  error: orNull(Type.String(), "Why there was no answer."),
  response: orNull(Type.String(), "The first KiB of the answer."),
});

const emissionId = describedText("Of the emission, and of the delivered message.", "emi_0000000000000400");
const eventType = Type.String({ examples: ["customer.activated"] });
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
  configVersion: orNull(versionName),
  cause,
  emittedAt: instant,
  createdAt: instant,
  sequence,
  ...progress,
  lastAttempt: orNull(deliveryAttempt, "Null before the first one, and when it is too old for the log."),
};

export const delivery = named("Delivery", deliveryProperties);

const deliveryBody = named("DeliveryBody", "What is sent.", {
  id: emissionId,
  type: eventType,
  timestamp: instant,
  data: exact({
    customerId,
    environment,
    source,
    metadata: jsonObject("Depends on the type."),
    configVersion: orNull(versionName),
    cause,
    sequence,
  }),
});

export const deliveryDetail = named("DeliveryDetail", {
  ...deliveryProperties,
  body: deliveryBody,
  attemptLog: Type.Array(deliveryAttempt, { description: "The newest first, a hundred at most." }),
});

export const resent = named("ResentDeliveries", {
  queued: Type.Integer({ minimum: 0, maximum: 10_000, description: "Deliveries that are due now." }),
  nextCursor: orNull(Type.String(), "Pass it as `cursor` to go on; null at the end of the span."),
});

export const webhookTest = named("WebhookTest", {
  id: describedText("Of the message.", "test_5f0c2a9e7b1d4c3a5f0c"),
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
});

export const emissionDetail = named("EmissionDetail", {
  id: emissionId,
  type: eventType,
  customerId,
  source,
  metadata: jsonObject("Depends on the type."),
  timestamp: instant,
  createdAt: instant,
  configVersion: orNull(versionName),
  cause,
  sequence,
  deliveries: Type.Array(exact({ webhookId: Type.String(), url: Type.String(), ...progress })),
});
