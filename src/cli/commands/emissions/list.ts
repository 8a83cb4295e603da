import type { ListedEmission } from "../../../http/admin/answers.js";
import { csvPageOptions, defineCommand, projectOptions } from "../../core/command.js";
import { sinceOption } from "../../core/values.js";
import { printList } from "../../output/table.js";
import { causeInWords, metadataInWords } from "../../../words/text.js";

export default defineCommand({
  options: {
    ...projectOptions,
    customer: { type: "text", describe: "Only those about this customer" },
    type: { type: "text", describe: "Only those of this event type, such as signal.raised" },
    source: {
      type: "text",
      choices: ["lifecycle", "journey", "segment", "health", "rule", "signal"],
      describe: "Only those that this part of the model emitted",
    },
    since: {
      type: "text",
      describe: "Only those emitted since, whenever they happened: how long ago, such as 7d, or an ISO date",
    },
    ...csvPageOptions,
  },
  examples: [
    ["svc emissions list --since 1d", "What is new since yesterday, about all customers"],
    ["svc emissions list --type customer.churned --since 30d", "Who churned in the last 30 days"],
  ],
  async handler(context, { customer, type: eventType, source, since: from, limit, cursor, csv }) {
    const { out } = context;
    const query = { customer, eventType, source, since: sinceOption("--since", from), limit, cursor };
    await printList<ListedEmission>(context, query, ["emissions"], {
      csv,
      none: "There is no such emission.",
      columns: [
        { title: "At", value: ({ timestamp }) => out.at(timestamp), fixed: true },
        { title: "Customer", value: ({ customerId }) => customerId },
        { title: "Type", value: (row) => row.eventType, style: out.style.cyan },
        { title: "What", value: ({ metadata }) => metadataInWords(metadata) },
        { title: "Cause", value: ({ cause }) => causeInWords(cause), fixed: true, optional: true },
        { title: "Id", value: ({ id }) => id, fixed: true, optional: true },
      ],
    });
  },
});
