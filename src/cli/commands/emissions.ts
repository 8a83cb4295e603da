import type { EmissionDetail, ListedEmission } from "../../http/admin/answers.js";
import { causeInWords, metadataInWords, paragraphs, printable } from "../../words/text.js";
import { csvPageOptions, defineCommand, projectOptions } from "../core/command.js";
import { sinceOption } from "../core/values.js";
import { fields, printList, table } from "../output/table.js";
import { runInWords } from "./rules.js";

export default {
  list: defineCommand({
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
  }),

  inspect: defineCommand({
    args: { emissionId: "The emission's id, which is that of its deliveries and messages" },
    options: projectOptions,
    examples: [["svc emissions inspect emi_0000000000000400", "Which run of a rule emitted it, and its deliveries"]],
    async handler({ api, out }, { emissionId }) {
      const answer = await api.get<EmissionDetail>(
        ["emissions", emissionId],
        ["eventType", "deliveries", "ruleExecution"],
      );
      const { id, eventType, customerId, source, metadata, timestamp, cause, ruleExecution, deliveries } = answer.data;
      const run = ruleExecution === null || out.json ? "" : await runInWords(out, ruleExecution);
      out.result(answer, () =>
        paragraphs([
          fields(out, {
            Emission: `${id} ${printable(eventType)}`,
            Customer: printable(customerId),
            At: out.at(timestamp),
            Source: `${source} ${printable(JSON.stringify(metadata))}`,
            Cause: causeInWords(cause),
          }),
          run,
          deliveries.length === 0
            ? "No webhook subscribed to it."
            : table(
                out,
                [
                  { title: "Webhook", value: ({ webhookId }) => webhookId, fixed: true },
                  { title: "URL", value: ({ url }) => url },
                  { title: "Status", value: ({ status }) => status, fixed: true },
                  { title: "Tries", value: ({ attempts }) => String(attempts), align: "right", fixed: true },
                ],
                deliveries,
              ),
        ]),
      );
    },
  }),
};
