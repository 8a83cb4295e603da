import type { CreatedWebhook, RotatedWebhook, Webhook, WebhookTest } from "../../../http/admin/answers.js";
import { formatNumber, printable, shellWord } from "../../../words/text.js";
import { csvPageOptions, defineCommand, projectOptions, yesOption } from "../../core/command.js";
import { failure, UsageError } from "../../core/errors.js";
import { checkDurationOption } from "../../core/values.js";
import { confirmAndRun } from "../../output/change.js";
import { fields, printList } from "../../output/table.js";
import { noteUnknown } from "./emission-types.js";
import {
  contentOptions,
  formatInWords,
  getWebhook,
  includeInWords,
  limitOptions,
  limitsInWords,
  readContent,
  readLimits,
  settingsInWords,
  statusInWords,
  warnOfFormat,
  WEBHOOK_MEMBERS,
} from "./webhooks.js";

/** The service counts pending deliveries up to this number. */
const PENDING_MAX = 10_000;

export default {
  list: defineCommand({
    options: { ...projectOptions, ...csvPageOptions },
    examples: [["svc webhooks list", "What is delivered, and to where"]],
    async handler(context, { limit, cursor, csv }) {
      const { out } = context;
      const { green, red, yellow } = out.style;
      const paint = (text: string, { disabledAt, failingSince }: Webhook) =>
        (disabledAt ? red : failingSince ? yellow : green)(text);
      await printList<Webhook>(context, { limit, cursor }, ["webhooks"], {
        csv,
        none: "There is no webhook.",
        columns: [
          { title: "Webhook", value: ({ id }) => id, fixed: true },
          { title: "URL", value: ({ url }) => url, kept: true },
          { title: "Events", value: ({ eventTypes }) => eventTypes.join(", ") },
          { title: "Include", value: includeInWords, optional: true },
          { title: "Format", value: formatInWords, optional: true },
          { title: "Created", value: ({ createdAt }) => out.at(createdAt), fixed: true, optional: true },
          { title: "Status", value: (webhook) => statusInWords(out, webhook), style: paint },
          { title: "Limits", value: limitsInWords, optional: true },
        ],
      });
    },
  }),

  create: defineCommand({
    options: {
      ...projectOptions,
      url: { type: "text", required: true, describe: "The address that deliveries are posted to" },
      eventType: {
        type: "list",
        describe:
          "What to deliver, such as customer.activated or segment.*; may be given again; everything unless given",
      },
      ...contentOptions,
      format: {
        ...contentOptions.format,
        describe:
          "How deliveries are written: json unless given, or as messages for an incoming webhook of slack or teams",
      },
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
  }),

  update: defineCommand({
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
  }),

  delete: defineCommand({
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
  }),

  test: defineCommand({
    args: { webhookId: "The webhook's id" },
    options: {
      type: { type: "text", describe: "The type of the message; webhook.test unless given" },
      ...projectOptions,
    },
    examples: [
      ["svc webhooks test whk_0123456789abcdef0123", "Send one message and see the answer"],
      ["svc webhooks test whk_0123456789abcdef0123 --json", "With the request, for checking a signature"],
    ],
    async handler({ api, out }, { webhookId, type }) {
      const members = ["id", "delivered", "latencyMs", "request"] as const;
      const answer = await api.post<WebhookTest>(["webhooks", webhookId, "test"], { type }, members);
      const { id, delivered, statusCode, latencyMs, error, response } = answer.data;
      const outcome = statusCode === null ? printable(error ?? "no answer") : String(statusCode);
      if (!delivered) {
        const message = `the receiver did not accept the message: ${outcome} after ${latencyMs} ms`;
        const fix = "repair the receiver, or correct the webhook: `svc webhooks update <webhookId> --url <url>`";
        const reason = response ? { reason: `It answered ${JSON.stringify(response)}` } : {};
        throw failure("NOT_DELIVERED", message, fix, undefined, { ...reason, value: answer.data });
      }
      const took = out.style.green(`${outcome} in ${latencyMs} ms`);
      const facts = { Message: printable(id), Answer: took, Body: response ? printable(response) : undefined };
      out.result(answer, () => fields(out, facts));
    },
  }),

  "rotate-secret": defineCommand({
    args: { webhookId: "The webhook's id" },
    options: {
      grace: { type: "text", describe: "How long the old secret also signs, 0m to 24h; 24h unless given" },
      ...projectOptions,
      ...yesOption,
    },
    examples: [
      ["svc webhooks rotate-secret whk_0123456789abcdef0123 --grace 12h", "Both secrets sign for twelve hours"],
    ],
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
  }),
};
