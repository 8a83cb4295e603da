import type { Webhook } from "../../../http/admin/answers.js";
import { defineCommand, projectOptions, yesOption } from "../../core/command.js";
import { confirmAndRun } from "../../output/change.js";
import { formatNumber, printable } from "../../../words/text.js";
import { getWebhook } from "./webhooks.js";

/** The service counts pending deliveries up to this number. */
const PENDING_MAX = 10_000;

export default defineCommand({
  args: { webhookId: "The webhook's id" },
  options: { ...projectOptions, ...yesOption },
  examples: [
    [
      "svc webhooks delete whk_0123456789abcdef0123",
      "Delete a webhook, with its pending deliveries and its delivery log",
    ],
  ],
  async handler(context, { webhookId, yes }) {
    const { api, out, settings } = context;
    const { environment } = settings;
    const answer = await confirmAndRun(context, {
      action: "deleting a webhook",
      yes,
      seen: `\`svc webhooks list --env ${environment}\``,
      question: async (place) => {
        const { url, pending } = await getWebhook(context, webhookId);
        const waiting = `${formatNumber(pending)}${pending >= PENDING_MAX ? " or more" : ""} pending deliveries and `;
        const what = `${pending === 0 ? "" : waiting}the log of its deliveries`;
        return `Delete the webhook to ${printable(url)} in ${place}, with ${what}?`;
      },
      request: (signal) => api.delete<Webhook>(["webhooks", webhookId], ["id", "url"], signal),
    });
    const { id, url } = answer.data;
    out.result(answer, () => `Deleted the webhook ${printable(id)} to ${printable(url)} in ${environment}.`);
  },
});
