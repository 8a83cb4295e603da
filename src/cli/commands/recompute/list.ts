import type { RecomputeJob } from "../../client/answers.js";
import { defineCommand, pageOptions, projectOptions } from "../../core/command.js";
import { paintStatus } from "./job-report.js";
import { page, readList } from "../../output/list.js";
import { distance, number } from "../../output/text.js";

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
  examples: [["svc recompute list --status dead_letter", "Those that were given up"]],
  async handler({ api, out }, { status, limit, cursor }) {
    const answer = await readList<RecomputeJob>(api, ["recomputes"], { status, limit, cursor });
    page(out, answer, {
      none: "There is no such recompute.",
      columns: [
        { title: "Recompute", value: ({ id }) => id, fixed: true },
        { title: "Kind", value: ({ dry_run }) => (dry_run ? "dry run" : "recompute") },
        { title: "Customer", value: ({ customerId }) => customerId ?? "all" },
        { title: "Model", value: ({ pins }) => pins.configVersion ?? "none", fixed: true, optional: true },
        {
          title: "Status",
          value: ({ status: its }) => its,
          fixed: true,
          style: (text, job) => paintStatus(out, job.status, text),
        },
        { title: "Done", value: done, align: "right", fixed: true },
        {
          title: "Changed",
          value: ({ result }) => number(result.customersChanged),
          align: "right",
          fixed: true,
          optional: true,
        },
        { title: "Asked for", value: ({ requestedAt }) => distance(requestedAt, out.now), kept: true },
        { title: "By", value: ({ requestedBy }) => requestedBy, optional: true },
      ],
    });
  },
});

function done({ progress: { customersDone, customersTotal } }: RecomputeJob): string {
  return customersTotal === null ? "" : `${number(customersDone)}/${number(customersTotal)}`;
}
