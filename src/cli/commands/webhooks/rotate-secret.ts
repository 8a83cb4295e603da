import type { RotatedWebhook } from "../../client/answers.js";
import { checkDuration } from "../../core/values.js";
import { defineCommand, projectOptions, yesOption } from "../../core/command.js";
import { confirmation, outcomeOf } from "../../output/change.js";
import { fields } from "../../output/fields.js";
import { distance, localTime, printable, shellWord } from "../../output/text.js";
import { getWebhook } from "./webhooks.js";

export default defineCommand({
  args: { webhookId: "The webhook's id" },
  options: {
    grace: { type: "text", describe: "How long the old secret signs too, 0m to 24h; 24h unless given" },
    ...projectOptions,
    ...yesOption,
  },
  examples: [["svc webhooks rotate-secret whk_0123456789abcdef0123 --grace 12h", "Both secrets sign for twelve hours"]],
  async handler(context, { webhookId, grace, yes }) {
    const { api, out, settings } = context;
    const { environment, project, apiUrl } = settings;
    checkDuration("--grace", grace);
    settings.credentials();
    const confirm = await confirmation(context, { action: "rotating a webhook's secret", yes });
    if (!yes) {
      const { url } = await getWebhook(context, webhookId);
      const end = grace?.startsWith("0") ? "signs no more" : `signs too for ${grace ?? "24h"}`;
      await confirm(
        `Give the webhook to ${printable(url)} in ${environment} of project ${project} at ${apiUrl} a new secret? The old one ${end}.`,
      );
    }
    const answer = await outcomeOf(`svc webhooks list --env ${environment}, or rotate it once more`, (signal) =>
      api.post<RotatedWebhook>(
        ["webhooks", webhookId, "rotate-secret"],
        grace === undefined ? {} : { grace },
        ["webhook", "secret"],
        signal,
      ),
    );
    const { webhook, secret } = answer.data;
    const until = webhook.previousSecretExpiresAt;
    out.secret(
      answer,
      () =>
        [
          `Gave the webhook ${printable(webhook.id)} in ${environment} a new secret. Keep it in a safe place: it is not shown again.`,
          "",
          fields(out, [
            ["URL", printable(webhook.url)],
            ["Secret", printable(secret)],
            [
              "Old secret",
              until === null
                ? "signs no more"
                : `signs too until ${localTime(until, out.timeZone)} (${distance(until, out.now)})`,
            ],
          ]),
        ].join("\n"),
      {
        what: `the webhook ${printable(webhook.id)} has a new secret`,
        fix: `give it another: svc webhooks rotate-secret ${shellWord(webhook.id)} --env ${environment} --project ${project}`,
      },
    );
  },
});
