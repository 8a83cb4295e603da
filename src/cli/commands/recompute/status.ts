import type { RecomputeOrPreview } from "../../../http/admin/answers.js";
import { defineCommand, projectOptions } from "../../core/command.js";
import { JOB_MEMBERS } from "./jobs.js";
import { printRecomputeJob } from "./result.js";

export default defineCommand({
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
    await printRecomputeJob(context, data, { customers });
  },
});
