import type { RotatedWebhook } from "../../../http/admin/answers.js";
import { defineCommand, projectOptions, yesOption } from "../../core/command.js";
import { checkDurationOption } from "../../core/values.js";
import { confirmAndRun } from "../../output/change.js";
import { fields } from "../../output/table.js";
import { printable, shellWord } from "../../../words/text.js";
import { getWebhook } from "./webhooks.js";

export default defineCommand({
  args: { webhookId: "The webhook's id" },
  options: {
    grace: { type: "text", describe: "How long the old secret also signs, 0m to 24h; 24h unless given" },
    ...projectOptions,
    ...yesOption,
  },
  examples: [["svc webhooks rotate-secret whk_0123456789abcdef0123 --grace 12h", "Both secrets sign for twelve hours"]],
  async handler(context, { webhookId, grace, yes }) {
    const { api, out, settings } = context;
    const { environment, project } = settings;
    checkDurationOption("--grace", grace);
    const path = ["webhooks", webhookId, "rotate-secret"];
    const answer = await confirmAndRun(context, {
      action: "rotating a webhook's secret",
      yes,
      seen: `\`svc webhooks list --env ${environment}\``,
      question: async (place) => {
        const { url } = await getWebhook(context, webhookId);
        const end = grace?.startsWith("0") ? "stops signing" : `also signs for ${grace ?? "24h"}`;
        return `Give the webhook to ${printable(url)} in ${place} a new secret? The old one ${end}.`;
      },
      request: (signal) => api.post<RotatedWebhook>(path, { grace }, ["webhook", "secret"], signal),
    });
    const { webhook, secret } = answer.data;
    const { id, url, previousSecretExpiresAt: until } = webhook;
    const facts = {
      URL: printable(url),
      Secret: printable(secret),
      "Old secret": until === null ? "no longer signs" : `also signs until ${out.at(until)} (${out.ago(until)})`,
    };
    const sentence = `Gave the webhook ${printable(id)} in ${environment} a new secret. Keep it in a safe place: it is not shown again.`;
    out.secret(answer, () => fields(out, facts, sentence), {
      what: `the webhook ${printable(id)} has a new secret`,
      fix: `give it another: \`svc webhooks rotate-secret ${shellWord(id)} --env ${environment} --project ${project}\``,
    });
  },
});
