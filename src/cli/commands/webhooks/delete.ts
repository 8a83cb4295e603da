import { defineCommand } from "../../core/command.js";
import { confirmation } from "../../output/confirm.js";
import { projectOptions, yesOption } from "../../core/options.js";
import { outcomeOf } from "../../output/outcome.js";
import { number, printable } from "../../output/text.js";
import { getWebhook, type Webhook } from "./webhooks.js";

/** The service counts no further. */
const PENDING_MAX = 10_000;

export default defineCommand({
  args: { webhookId: "The webhook's id" },
  options: { ...projectOptions, ...yesOption },
  examples: [
    ["svc webhooks delete whk_0123456789abcdef0123", "End a webhook, with what waits and the log of its deliveries"],
  ],
  async handler(context, { webhookId, yes }) {
    const { api, out, settings } = context;
    const { environment, project, apiUrl } = settings;
    settings.credentials();
    const path = api.projectPath("webhooks", webhookId);
    const confirm = await confirmation(context, { action: "deleting a webhook", yes });
    if (!yes) {
      const { url, pending } = await getWebhook(context, webhookId);
      const waiting = `${number(pending)}${pending >= PENDING_MAX ? " or more" : ""}`;
      await confirm(
        `Delete the webhook to ${printable(url)} in ${environment} of project ${project} at ${apiUrl}, ` +
          `with ${pending === 0 ? "" : `the ${waiting} deliveries that wait and `}the log of its deliveries?`,
      );
    }
    const answer = await outcomeOf(`svc webhooks list --env ${environment}`, (signal) =>
      api.delete<Webhook>(path, ["id", "url"], { env: environment }, signal),
    );
    const { id, url } = answer.data;
    out.result(answer, () => `Deleted the webhook ${printable(id)} to ${printable(url)} in ${environment}.`);
  },
});
