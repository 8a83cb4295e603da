import type { EmissionDetail } from "../../../http/admin/answers.js";
import { defineCommand, projectOptions } from "../../core/command.js";
import { fields, table } from "../../output/table.js";
import { causeInWords, paragraphs, printable } from "../../../words/text.js";
import { runInWords } from "../rules/logs.js";

export default defineCommand({
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
});
