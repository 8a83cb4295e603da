import Type from "typebox";

import type { Delivery, Webhook } from "../../../../http/admin/answers.js";
import { sendUninterrupted } from "../../../output/change.js";
import { pick, WITHHELD } from "../../ai/sanitizer.js";
import { defineTool, optionalText, nullable, pageInput, pageOutput, readPage, text } from "../tool.js";

const webhookInput = text("The webhook's id, from list_webhooks.");

/** The only part of an address that may be sent: the rest may contain a secret. */
export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : WITHHELD;
}

const listWebhooks = defineTool({
  name: "list_webhooks",
  title: "Webhooks",
  description: "The endpoints that receive emissions, and whether their deliveries fail.",
  effect: "reads",
  input: pageInput,
  output: pageOutput({
    webhookId: Type.String(),
    host: Type.String({ description: "Of its address." }),
    eventTypes: Type.Array(Type.String()),
    failingSince: nullable(Type.String()),
    disabledAt: nullable(Type.String()),
  }),
  run: (call, page) =>
    readPage(call, ["webhooks"], page, (row: Webhook) => ({
      webhookId: row.id,
      host: hostOf(row.url),
      ...pick(row, "eventTypes", "failingSince", "disabledAt"),
    })),
});

const listDeliveries = defineTool({
  name: "list_deliveries",
  title: "Deliveries of a webhook",
  description: "The deliveries to a webhook, newest first, and how the last attempt of each ended.",
  effect: "reads",
  input: {
    webhookId: webhookInput,
    status: Type.Optional(Type.Enum(["pending", "delivered", "failed"])),
    type: optionalText("Only those of this event type, such as customer.activated."),
    customer: optionalText("Only those about this customer: its id, or its pseudonym."),
    ...pageInput,
  },
  output: pageOutput({
    deliveryId: Type.String(),
    type: Type.String(),
    customer: Type.String(),
    status: Type.String(),
    attempts: Type.Integer(),
    emittedAt: Type.String(),
    nextAttemptAt: nullable(Type.String()),
    finishedAt: nullable(Type.String()),
    statusCode: nullable(Type.Number(), "The receiver's last answer; null without an answer."),
    error: nullable(Type.String(), "Why there was no answer."),
  }),
  async run(call, { webhookId, customer, ...query }) {
    const sanitizer = await call.sanitizer();
    const filters = { ...query, customer: customer === undefined ? undefined : call.customerId(customer) };
    return readPage(call, ["webhooks", webhookId, "deliveries"], filters, (row: Delivery) => ({
      deliveryId: row.id,
      type: sanitizer.name(row.type),
      // Named as in the call, which reveals nothing new.
      customer: customer ?? sanitizer.id("customer", row.customerId),
      ...pick(row, "status", "attempts", "emittedAt", "nextAttemptAt", "finishedAt"),
      statusCode: row.lastAttempt?.statusCode ?? null,
      error: row.lastAttempt?.error ?? null,
    }));
  },
});

export const webhookTools = [listWebhooks, listDeliveries];

/** A change: sends one delivery again. */
export const resendDelivery = defineTool({
  name: "resend_delivery",
  title: "Send a delivery again",
  description: "Queue one delivery again. A receiver that already accepted it gets it a second time.",
  effect: "changes",
  input: { webhookId: webhookInput, deliveryId: text("From list_deliveries.") },
  output: { deliveryId: Type.String(), type: Type.String() },
  async run({ context: { api } }, { webhookId, deliveryId }) {
    const path = ["webhooks", webhookId, "deliveries", deliveryId, "resend"];
    const { data } = await sendUninterrupted("list_deliveries", () =>
      api.post<{ id: string; type: string }>(path, {}, ["id", "type"]),
    );
    return { deliveryId: data.id, type: data.type };
  },
});
