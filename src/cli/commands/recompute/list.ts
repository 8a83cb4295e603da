import type { RecomputeOrPreview } from "../../../http/admin/answers.js";
import { defineCommand, pageOptions, projectOptions } from "../../core/command.js";
import { printList } from "../../output/table.js";
import { formatNumber } from "../../../words/text.js";
import { paintStatus } from "./job-report.js";

export default defineCommand({
  options: {
    status: {
      type: "text",
      choices: ["queued", "running", "retrying", "completed", "dead_letter"],
      describe: "Only those of this status",
    },
    ...projectOptions,
    ...pageOptions,
    limit: { ...pageOptions.limit, default: 20 },
  },
  examples: [["svc recompute list --status dead_letter", "Recomputes that were given up or cancelled"]],
  async handler(context, { status, limit, cursor }) {
    const { out } = context;
    const paint = (text: string, job: RecomputeOrPreview) => paintStatus(out, job.status, text);
    const done = ({ progress: { customersDone, customersTotal } }: RecomputeOrPreview) =>
      customersTotal === null ? "" : `${formatNumber(customersDone)}/${formatNumber(customersTotal)}`;
    const changed = ({ result }: RecomputeOrPreview) => formatNumber(result.customersChanged);
    await printList<RecomputeOrPreview>(context, { status, limit, cursor }, ["recomputes"], {
      none: "There is no such recompute.",
      columns: [
        { title: "Recompute", value: ({ id }) => id, fixed: true },
        { title: "Kind", value: ({ dry_run }) => (dry_run ? "dry run" : "recompute") },
        { title: "Customer", value: ({ customerId }) => customerId ?? "all" },
        { title: "Model", value: ({ pins }) => pins.configVersion ?? "none", fixed: true, optional: true },
        { title: "Status", value: (job) => job.status, fixed: true, style: paint },
        { title: "Done", value: done, align: "right", fixed: true },
        { title: "Changed", value: changed, align: "right", fixed: true, optional: true },
        { title: "Requested", value: ({ requestedAt }) => out.ago(requestedAt), kept: true },
        { title: "By", value: ({ requestedBy }) => requestedBy, optional: true },
      ],
    });
  },
});
