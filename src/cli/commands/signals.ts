import type { ListedSignal } from "../../http/admin/answers.js";
import { csvPageOptions, defineCommand, projectOptions } from "../core/command.js";
import { sinceOption } from "../core/values.js";
import { printList } from "../output/table.js";

export default defineCommand({
  options: {
    ...projectOptions,
    signal: { type: "text", describe: "Only this signal" },
    severity: { type: "text", choices: ["info", "warning", "critical"], describe: "Only those of this severity" },
    since: { type: "text", describe: "Only those raised since: how long ago, such as 7d, or an ISO date" },
    ...csvPageOptions,
  },
  examples: [
    ["svc signals list --severity critical", "Customers that need attention now, latest first"],
    [
      "svc signals list --signal going_quiet --since 7d",
      "Customers for whom it was raised in the last week, and still is",
    ],
  ],
  async handler(context, { signal, severity, since: from, limit, cursor, csv }) {
    const { out } = context;
    const paint = { info: out.style.cyan, warning: out.style.yellow, critical: out.style.red };
    const query = { signal, severity, since: sinceOption("--since", from), limit, cursor };
    await printList<ListedSignal>(context, query, ["signals"], {
      csv,
      none: "No such signal is raised.",
      columns: [
        { title: "Raised", value: ({ raisedAt }) => out.at(raisedAt), fixed: true },
        { title: "Customer", value: ({ customerId }) => customerId },
        { title: "Signal", value: ({ signalId }) => signalId },
        {
          title: "Severity",
          value: (row) => row.severity,
          fixed: true,
          style: (text, row) => paint[row.severity](text),
        },
        { title: "Message", value: ({ message }) => message ?? "", optional: true },
      ],
    });
  },
});
