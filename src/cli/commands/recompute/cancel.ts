import type { RecomputeOrPreview } from "../../../http/admin/answers.js";
import { defineCommand, projectOptions, yesOption } from "../../core/command.js";
import { confirmAndRun } from "../../output/change.js";
import { shellWord } from "../../../words/text.js";
import { JOB_MEMBERS, jobFailure } from "./jobs.js";
import { retryHint } from "./result.js";

export default defineCommand({
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
      request: (signal) => api.post<RecomputeOrPreview>(["recomputes", recomputeId, "cancel"], {}, JOB_MEMBERS, signal),
    });
    out.result(answer, () => `${jobFailure(answer.data)}\n${retryHint(context, answer.data)}`);
  },
});
