import type { Webhook } from "../../client/answers.js";
import { defineCommand, projectOptions, yesOption } from "../../core/command.js";
import { confirmation, outcomeOf } from "../../output/change.js";
import { noteUnknownTypes } from "./emission-types.js";
import { UsageError } from "../../core/errors.js";
import { fields } from "../../output/fields.js";
import { printable } from "../../output/text.js";
import { getWebhook, limitOptions, readLimits, settingsInWords, statusInWords, WEBHOOK_MEMBERS } from "./webhooks.js";

export default defineCommand({
  args: { webhookId: "The webhook's id" },
  options: {
    url: { type: "text", describe: "Where deliveries are posted to; what waits goes there, too" },
    eventType: {
      type: "list",
      describe: "What to deliver, such as customer.activated or segment.*, instead of what was; may be given again",
    },
    ...limitOptions,
    disable: { type: "flag", describe: "Deliver nothing of what is emitted from now on; what waits goes on waiting" },
    enable: { type: "flag", describe: "Deliver again, what waits first" },
    ...projectOptions,
    ...yesOption,
  },
  examples: [
    ["svc webhooks update whk_0123456789abcdef0123 --url https://example.com/hook", "Deliver to another address"],
    ["svc webhooks update whk_0123456789abcdef0123 --max-per-second 50", "Spare the receiver"],
    ["svc webhooks update whk_0123456789abcdef0123 --disable", "Stop it for a while"],
  ],
  async handler(context, { webhookId, url, eventType, disable, enable, yes, ...limits }) {
    const { api, out, settings } = context;
    const { environment, project, apiUrl } = settings;
    if (disable && enable) throw new UsageError("--disable and --enable exclude each other", "give one of them");
    const changes = {
      ...(url === undefined ? {} : { url }),
      ...(eventType.length === 0 ? {} : { eventTypes: eventType }),
      ...readLimits(limits),
      ...(disable || enable ? { disabled: disable } : {}),
    };
    if (Object.keys(changes).length === 0) {
      throw new UsageError("it is not said what to change", "see `svc webhooks update --help`");
    }
    settings.credentials();
    const confirm = await confirmation(context, { action: "changing a webhook", yes });
    await noteUnknownTypes(context, eventType);
    if (!yes) {
      const webhook = await getWebhook(context, webhookId);
      const { disabled: _disabled, ...changed } = changes;
      const before = settingsInWords(webhook);
      const after = settingsInWords({ ...webhook, ...changed });
      const lines = before.flatMap(([label, was], index) => {
        const is = after[index]![1];
        return was === is ? [] : [`${label}: ${was} → ${is}`];
      });
      if (disable || enable)
        lines.push(disable ? "Disabled: nothing is delivered" : "Enabled: what waits is delivered");
      const what = lines.length === 0 ? ["Nothing is different"] : lines;
      await confirm(
        [
          `Webhook ${printable(webhookId)} in ${environment} of project ${project} at ${apiUrl}`,
          ...what.map((line) => `  ${line}`),
          "Change it?",
        ].join("\n"),
      );
    }
    const answer = await outcomeOf(`svc webhooks list --env ${environment}`, (signal) =>
      api.patch<Webhook>(["webhooks", webhookId], changes, WEBHOOK_MEMBERS, signal),
    );
    const webhook = answer.data;
    out.result(answer, () =>
      [
        `Changed the webhook ${printable(webhook.id)} in ${environment}.`,
        "",
        fields(out, [...settingsInWords(webhook), ["Status", statusInWords(webhook, out.timeZone)]]),
      ].join("\n"),
    );
  },
});
