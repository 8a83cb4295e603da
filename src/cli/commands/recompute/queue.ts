import type { RecomputeOrPreview } from "../../../http/admin/answers.js";
import { formatNumber, shellWord } from "../../../words/text.js";
import { defineCommand, noWaitOption, pageOptions, projectOptions, yesOption } from "../../core/command.js";
import { confirmAndRun, sendChange } from "../../output/change.js";
import { printList } from "../../output/table.js";
import { paintStatus } from "./job-report.js";
import { JOB_MEMBERS, jobFailure } from "./jobs.js";

export default {
  status: defineCommand({
    args: { recomputeId: "The recompute's id" },
    options: {
      customers: { type: "flag", describe: "With --json: every customer that it changes, in result.customers" },
      ...projectOptions,
    },
    examples: [
      ["svc recompute status rec_0123456789abcdef0123", "Status, progress, totals and the customers that change most"],
      ["svc recompute status rec_0123456789abcdef0123 --json --customers", "The complete result"],
    ],
    async handler(context, { recomputeId, customers }) {
      const { api } = context;
      const { data } = await api.get<RecomputeOrPreview>(["recomputes", recomputeId], JOB_MEMBERS);
      const { printRecomputeJob } = await import("./result.js");
      await printRecomputeJob(context, data, { customers });
    },
  }),

  list: defineCommand({
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
  }),

  retry: defineCommand({
    args: { recomputeId: "The recompute's id" },
    options: { ...noWaitOption, ...yesOption, ...projectOptions },
    examples: [["svc recompute retry rec_0123456789abcdef0123", "Continue after the customers that are done"]],
    async handler(context, { recomputeId, noWait, yes }) {
      const { api, settings } = context;
      const env = settings.environment;
      const { data } = await api.get<RecomputeOrPreview>(["recomputes", recomputeId], JOB_MEMBERS);
      const { confirmRetry } = await import("./question.js");
      await confirmRetry(context, data, yes);
      const answer = await sendChange(`\`svc recompute status ${shellWord(recomputeId)} --env ${env}\``, (signal) =>
        api.post<RecomputeOrPreview>(["recomputes", recomputeId, "retry"], {}, JOB_MEMBERS, signal),
      );
      const { printQueued, printResult } = await import("./result.js");
      if (noWait) printQueued(context, answer);
      else await printResult(context, answer.data);
    },
  }),

  cancel: defineCommand({
    args: { recomputeId: "The recompute's id" },
    options: { ...yesOption, ...projectOptions },
    examples: [["svc recompute cancel rec_0123456789abcdef0123", "Customers that are done stay as recomputed"]],
    async handler(context, { recomputeId, yes }) {
      const { api, out, settings } = context;
      const answer = await confirmAndRun(context, {
        action: "cancelling a recompute",
        yes,
        question: (place) => `Cancel ${recomputeId} in ${place}? What is written stays.`,
        seen: `\`svc recompute status ${shellWord(recomputeId)} --env ${settings.environment}\``,
        request: (signal) =>
          api.post<RecomputeOrPreview>(["recomputes", recomputeId, "cancel"], {}, JOB_MEMBERS, signal),
      });
      const { retryHint } = await import("./result.js");
      out.result(answer, () => `${jobFailure(answer.data)}\n${retryHint(context, answer.data)}`);
    },
  }),
};
