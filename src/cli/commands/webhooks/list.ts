import type { Webhook } from "../../client/answers.js";
import { defineCommand, pageOptions, projectOptions } from "../../core/command.js";
import { page, readList } from "../../output/list.js";
import { localTime } from "../../output/text.js";
import { limitsInWords, statusInWords } from "./webhooks.js";

export default defineCommand({
  options: { ...projectOptions, ...pageOptions },
  examples: [["svc webhooks list", "What is delivered, and where to"]],
  async handler({ api, out }, { limit, cursor }) {
    const answer = await readList<Webhook>(api, ["webhooks"], { limit, cursor });
    page<Webhook>(out, answer, {
      none: "There is no webhook.",
      columns: [
        { title: "Webhook", value: ({ id }) => id, fixed: true },
        { title: "URL", value: ({ url }) => url, kept: true },
        { title: "Events", value: ({ eventTypes }) => eventTypes.join(", ") },
        {
          title: "Created",
          value: ({ createdAt }) => localTime(createdAt, out.timeZone),
          fixed: true,
          optional: true,
        },
        {
          title: "Status",
          value: (row) => statusInWords(row, out.timeZone),
          style: (text, { disabledAt, failingSince }) =>
            disabledAt ? out.style.red(text) : failingSince ? out.style.yellow(text) : out.style.green(text),
        },
        { title: "Limits", value: (webhook) => limitsInWords(webhook), optional: true },
      ],
    });
  },
});
