import type { Webhook } from "../../../http/admin/answers.js";
import { defineCommand, projectOptions, yesOption } from "../../core/command.js";
import { confirmAndRun } from "../../output/change.js";
import { noteUnknown } from "./emission-types.js";
import { UsageError } from "../../core/errors.js";
import { fields } from "../../output/table.js";
import { printable } from "../../../words/text.js";
import {
  getWebhook,
  contentOptions,
  limitOptions,
  warnOfFormat,
  readContent,
  readLimits,
  settingsInWords,
  statusInWords,
  WEBHOOK_MEMBERS,
} from "./webhooks.js";

export default defineCommand({
  args: { webhookId: "The webhook's id" },
  options: {
    url: { type: "text", describe: "The address that deliveries are posted to, pending ones included" },
    eventType: {
      type: "list",
      describe: "What to deliver instead, such as customer.activated or segment.*; may be given again",
    },
    ...contentOptions,
    ...limitOptions,
    disable: { type: "flag", describe: "Deliver no later emissions; pending deliveries keep waiting" },
    enable: { type: "flag", describe: "Deliver again, pending deliveries first" },
    ...projectOptions,
    ...yesOption,
  },
  examples: [
    ["svc webhooks update whk_0123456789abcdef0123 --url https://example.com/hook", "Deliver to another address"],
    ["svc webhooks update whk_0123456789abcdef0123 --max-per-second 50", "Limit the load on the receiver"],
    ["svc webhooks update whk_0123456789abcdef0123 --disable", "Stop it for a while"],
  ],
  async handler(context, { webhookId, url, eventType, include, format, disable, enable, yes, ...limits }) {
    const { api, out, settings } = context;
    const { environment } = settings;
    if (disable && enable) throw new UsageError("--disable and --enable exclude each other", "give one of them");
    const content = readContent({ include, format });
    const changed = {
      ...(url === undefined ? {} : { url }),
      ...(eventType.length === 0 ? {} : { eventTypes: eventType }),
      ...content,
      ...readLimits(limits),
    };
    const changes = { ...changed, ...(disable || enable ? { disabled: disable } : {}) };
    if (Object.keys(changes).length === 0) {
      throw new UsageError("no change is given", "see `svc webhooks update --help`");
    }
    const answer = await confirmAndRun(context, {
      action: "changing a webhook",
      yes,
      seen: `\`svc webhooks list --env ${environment}\``,
      before: () => noteUnknown(context, eventType, content.include),
      question: async (place) => {
        const webhook = await getWebhook(context, webhookId);
        const after = settingsInWords({ ...webhook, ...changed });
        const lines = Object.entries(settingsInWords(webhook))
          .filter(([label, was]) => was !== after[label])
          .map(([label, was]) => `${label}: ${was} → ${after[label]}`);
        if (disable) lines.push("Disabled: nothing is delivered");
        if (enable) lines.push("Enabled: pending deliveries are sent");
        const what = (lines.length === 0 ? ["No difference"] : lines).map((line) => `  ${line}`);
        return [`Webhook ${printable(webhookId)} in ${place}`, ...what, "Change it?"].join("\n");
      },
      request: (signal) => api.patch<Webhook>(["webhooks", webhookId], changes, WEBHOOK_MEMBERS, signal),
    });
    const webhook = answer.data;
    if (Object.keys(content).length > 0 || url !== undefined) warnOfFormat(out, webhook);
    const facts = { ...settingsInWords(webhook), Status: statusInWords(out, webhook) };
    const sentence = `Changed the webhook ${printable(webhook.id)} in ${environment}.`;
    out.result(answer, () => fields(out, facts, sentence));
  },
});
