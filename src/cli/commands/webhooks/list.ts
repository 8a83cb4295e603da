import type { Webhook } from "../../../http/admin/answers.js";
import { csvPageOptions, defineCommand, projectOptions } from "../../core/command.js";
import { printList } from "../../output/table.js";
import { formatInWords, includeInWords, limitsInWords, statusInWords } from "./webhooks.js";

export default defineCommand({
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
});
