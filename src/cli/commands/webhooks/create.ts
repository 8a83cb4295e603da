import type { CreatedWebhook } from "../../../http/admin/answers.js";
import { defineCommand, projectOptions, yesOption } from "../../core/command.js";
import { confirmAndRun } from "../../output/change.js";
import { fields } from "../../output/table.js";
import { printable, shellWord } from "../../../words/text.js";
import { noteUnknown } from "./emission-types.js";
import {
  contentOptions,
  limitOptions,
  warnOfFormat,
  readContent,
  readLimits,
  settingsInWords,
  WEBHOOK_MEMBERS,
} from "./webhooks.js";

export default defineCommand({
  options: {
    ...projectOptions,
    url: { type: "text", required: true, describe: "The address that deliveries are posted to" },
    eventType: {
      type: "list",
      describe: "What to deliver, such as customer.activated or segment.*; may be given again; everything unless given",
    },
    ...contentOptions,
    ...limitOptions,
    ...yesOption,
  },
  examples: [
    ["svc webhooks create --url https://example.com/hook --event-type 'customer.*'", "Deliver changes of lifecycle"],
    [
      "svc webhooks create --url https://example.com/hook --include name,url,traits.plan",
      "Also include the customer's name, page and plan",
    ],
    [
      "svc webhooks create --url https://hooks.slack.com/services/T0/B0/x --format slack --event-type 'signal.*'",
      "Post to a Slack channel",
    ],
  ],
  async handler(context, { url, eventType, include, format, yes, ...limits }) {
    const { api, out, settings } = context;
    const { environment, project } = settings;
    const eventTypes = eventType.length === 0 ? ["*"] : eventType;
    const content = readContent({ include, format });
    const body = { url, eventTypes, ...content, ...readLimits(limits) };
    const answer = await confirmAndRun(context, {
      action: "creating a webhook",
      yes,
      seen: `\`svc webhooks list --env ${environment}\``,
      before: () => noteUnknown(context, eventTypes, content.include),
      question: (place) => `Send ${printable(eventTypes.join(", "))} in ${place} to ${printable(url)} from now on?`,
      request: (signal) => api.post<CreatedWebhook>(["webhooks"], body, [...WEBHOOK_MEMBERS, "secret"], signal),
    });
    const { id, secret } = answer.data;
    warnOfFormat(out, answer.data);
    const facts = { ...settingsInWords(answer.data), Secret: printable(secret) };
    const sentence = `Created the webhook ${printable(id)} in ${environment}. Keep its secret in a safe place: it is not shown again.`;
    out.secret(answer, () => fields(out, facts, sentence), {
      what: `the webhook ${printable(id)} was created with a secret`,
      fix: `give it another: \`svc webhooks rotate-secret ${shellWord(id)} --env ${environment} --project ${project}\``,
    });
  },
});
