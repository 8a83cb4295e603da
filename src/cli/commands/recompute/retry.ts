import type { RecomputeOrPreview } from "../../../http/admin/answers.js";
import { defineCommand, noWaitOption, projectOptions, yesOption } from "../../core/command.js";
import { JOB_MEMBERS } from "./jobs.js";
import { sendChange } from "../../output/change.js";
import { confirmRetry } from "./question.js";
import { printQueued, printResult } from "./result.js";
import { shellWord } from "../../../words/text.js";

export default defineCommand({
  args: { recomputeId: "The recompute's id" },
  options: { ...noWaitOption, ...yesOption, ...projectOptions },
  examples: [["svc recompute retry rec_0123456789abcdef0123", "Continue after the customers that are done"]],
  async handler(context, { recomputeId, noWait, yes }) {
    const { api, settings } = context;
    const env = settings.environment;
    const { data } = await api.get<RecomputeOrPreview>(["recomputes", recomputeId], JOB_MEMBERS);
    await confirmRetry(context, data, yes);
    const answer = await sendChange(`\`svc recompute status ${shellWord(recomputeId)} --env ${env}\``, (signal) =>
      api.post<RecomputeOrPreview>(["recomputes", recomputeId, "retry"], {}, JOB_MEMBERS, signal),
    );
    if (noWait) printQueued(context, answer);
    else await printResult(context, answer.data);
  },
});
