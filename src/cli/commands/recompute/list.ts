import type { Page } from "../../api.js";
import { defineCommand } from "../../command.js";
import { paintStatus } from "../../job-report.js";
import type { Job } from "../../jobs.js";
import { page } from "../../list.js";
import { pageOptions, projectOptions } from "../../options.js";
import { localTime, number } from "../../text.js";

export default defineCommand({
  path: "recompute list",
  describe: "List recomputes and dry runs, the newest first",
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
  async handler({ api, out, settings }, { status, limit, cursor }) {
    const answer = await api.get<Page<Job>>(api.projectPath("recomputes"), ["data", "nextCursor"], {
      env: settings.environment,
      status,
      limit,
      cursor,
    });
    page(out, answer, {
      none: "There is no such recompute.",
      columns: [
        { title: "Recompute", value: ({ id }) => id, fixed: true },
        { title: "Kind", value: ({ dry_run }) => (dry_run ? "dry run" : "recompute"), fixed: true },
        { title: "Customer", value: ({ customerId }) => customerId ?? "all" },
        { title: "Model", value: ({ pins }) => pins.configVersion ?? "none", fixed: true },
        {
          title: "Status",
          value: ({ status: its }) => its,
          fixed: true,
          style: (text, job) => paintStatus(out, job.status, text),
        },
        { title: "Done", value: done, align: "right", fixed: true },
        { title: "Changed", value: ({ result }) => number(result.customersChanged), align: "right", fixed: true },
        { title: "By", value: ({ requestedBy }) => requestedBy },
        { title: "At", value: ({ requestedAt }) => localTime(requestedAt, out.timeZone), fixed: true },
      ],
    });
  },
});

function done({ progress: { customersDone, customersTotal } }: Job): string {
  return customersTotal === null ? "" : `${number(customersDone)}/${number(customersTotal)}`;
}
