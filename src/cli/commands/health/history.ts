import type { HealthScoreChange } from "../../../http/admin/answers.js";
import { csvPageOptions, defineCommand, projectOptions, supersededOption } from "../../core/command.js";
import { printList, recordColumn } from "../../output/table.js";
import { causeInWords } from "../../../words/text.js";

export default defineCommand({
  args: { customerId: "The customer's id" },
  options: { ...projectOptions, ...supersededOption, ...csvPageOptions },
  examples: [
    ["svc health history cus_42", "How the score changed, newest change first"],
    ["svc health history cus_42 --superseded", "Also what was recorded before a recompute"],
  ],
  async handler(context, { customerId, superseded, limit, cursor, csv }) {
    const { out } = context;
    const query = { superseded, limit, cursor };
    const parts = ({ components }: HealthScoreChange) =>
      Object.entries(components)
        .map(([id, score]) => `${id} ${score}`)
        .join(", ");
    await printList<HealthScoreChange>(context, query, ["customers", customerId, "health-scores"], {
      csv,
      none: "This customer has had no health score.",
      columns: [
        { title: "At", value: ({ at }) => out.at(at), fixed: true },
        {
          title: "Health",
          value: ({ overall }) => (overall === null ? "none" : String(overall)),
          align: "right",
          fixed: true,
        },
        { title: "Band", value: ({ band }) => band ?? "" },
        { title: "Components", value: parts },
        { title: "Cause", value: ({ cause }) => causeInWords(cause), fixed: true, optional: true },
        ...recordColumn<HealthScoreChange>(superseded),
      ],
    });
  },
});
