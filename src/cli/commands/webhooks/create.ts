import type { CreatedWebhook } from "../../client/answers.js";
import { defineCommand, projectOptions, yesOption } from "../../core/command.js";
import { confirmation, outcomeOf } from "../../output/change.js";
import { noteUnknownTypes } from "./emission-types.js";
import { fields } from "../../output/fields.js";
import { printable, shellWord } from "../../output/text.js";
import { limitOptions, readLimits, settingsInWords, WEBHOOK_MEMBERS } from "./webhooks.js";

export default defineCommand({
  options: {
    ...projectOptions,
    url: { type: "text", required: true, describe: "Where deliveries are posted to" },
    eventType: {
      type: "list",
      describe: "What to deliver, such as customer.activated or segment.*; may be given again; everything unless given",
    },
    ...limitOptions,
    ...yesOption,
  },
  examples: [
    ["svc webhooks create --url https://example.com/hook --event-type 'customer.*'", "Deliver changes of lifecycle"],
  ],
  async handler(context, { url, eventType, yes, ...limits }) {
    const { api, out, settings } = context;
    const { environment, project, apiUrl } = settings;
    const eventTypes = eventType.length === 0 ? ["*"] : eventType;
    const body = { url, eventTypes, ...readLimits(limits) };
    settings.credentials();
    const confirm = await confirmation(context, { action: "creating a webhook", yes });
    await noteUnknownTypes(context, eventTypes);
    const types = printable(eventTypes.join(", "));
    await confirm(
      `Send ${types} in ${environment} of project ${project} at ${apiUrl} to ${printable(url)} from now on?`,
    );
    const answer = await outcomeOf(`svc webhooks list --env ${environment}`, (signal) =>
      api.post<CreatedWebhook>(["webhooks"], body, [...WEBHOOK_MEMBERS, "secret"], signal),
    );
    const { id, secret } = answer.data;
    out.secret(
      answer,
      () =>
        [
          `Created the webhook ${printable(id)} in ${environment}. Keep its secret in a safe place: it is not shown again.`,
          "",
          fields(out, [...settingsInWords(answer.data), ["Secret", printable(secret)]]),
        ].join("\n"),
      {
        what: `the webhook ${printable(id)} was created with a secret`,
        fix: `give it another: svc webhooks rotate-secret ${shellWord(id)} --env ${environment} --project ${project}`,
      },
    );
  },
});
