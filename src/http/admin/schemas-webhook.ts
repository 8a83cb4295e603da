import Type from "typebox";
import { count, exact, instant, listOf, orNull } from "./schemas-common.js";

const id = Type.String({ pattern: "^whk_[0-9a-f]+$", examples: ["whk_5f0c2a9e7b1d4c3a5f0c2a9e"] });
const webhook = {
  id,
  url: Type.String(),
  eventTypes: Type.Array(Type.String({ examples: ["customer.*"] })),
  createdAt: instant,
};

export const createdWebhook = exact(
  {
    ...webhook,
    secret: Type.String({
      description: "Signs the deliveries. It is shown here and nowhere else, ever.",
      examples: ["whsec_…"],
    }),
  },
  { title: "CreatedWebhook" },
);

export const webhookList = listOf(
  exact({ ...webhook, disabledAt: orNull(instant), disabledReason: orNull(Type.String()) }, { title: "Webhook" }),
);

const attempt = exact(
  {
    at: instant,
    latencyMs: count,
    statusCode: orNull(Type.Integer(), "Null where there was no answer."),
    error: orNull(Type.String(), "Why there was no answer."),
    response: orNull(Type.String(), "The first KiB of the answer."),
  },
  { title: "DeliveryAttempt" },
);

export const deliveryList = listOf(
  exact(
    {
      id: Type.String({
        description: "Of the emission, and of the delivered message.",
        examples: ["emi_0000000000000400"],
      }),
      type: Type.String({ examples: ["customer.activated"] }),
      customerId: Type.String(),
      status: Type.Enum(["pending", "delivered", "failed"]),
      attempts: count,
      nextAttemptAt: orNull(instant),
      finishedAt: orNull(instant),
      lastAttempt: orNull(attempt),
    },
    { title: "Delivery" },
  ),
);
