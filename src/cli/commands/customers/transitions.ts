import type { LifecycleTransition } from "../../../http/admin/answers.js";
import { csvPageOptions, defineCommand, projectOptions, supersededOption } from "../../core/command.js";
import { printList, recordColumn } from "../../output/table.js";
import { causeInWords } from "../../../words/text.js";

export default defineCommand({
  args: { customerId: "The customer's id" },
  options: { ...projectOptions, ...supersededOption, ...csvPageOptions },
  examples: [
    ["svc customers transitions cus_42", "Which lifecycle states the customer was in, newest first"],
    ["svc customers transitions cus_42 --superseded", "Also what was recorded before a recompute"],
  ],
  async handler(context, { customerId, superseded, limit, cursor, csv }) {
    const { out } = context;
    const query = { superseded, limit, cursor };
    await printList<LifecycleTransition>(context, query, ["customers", customerId, "transitions"], {
      csv,
      none: "This customer's lifecycle has not begun.",
      columns: [
        { title: "At", value: ({ at }) => out.at(at), fixed: true },
        { title: "From", value: ({ from }) => from ?? "" },
        { title: "To", value: ({ to }) => to },
        { title: "Cause", value: ({ cause }) => causeInWords(cause), fixed: true, optional: true },
        { title: "Model", value: ({ configVersion }) => configVersion ?? "", optional: true },
        ...recordColumn<LifecycleTransition>(superseded),
      ],
    });
  },
});
