import { defineCommand } from "../../core/command.js";
import { type RecomputeJob, JOB_MEMBERS } from "./jobs.js";
import { noWaitOption, projectOptions, yesOption } from "../../core/options.js";
import { outcomeOf } from "../../output/outcome.js";
import { confirmRetry } from "./question.js";
import { printQueued, printResult } from "./result.js";
import { shellWord } from "../../output/text.js";

export default defineCommand({
  args: { recomputeId: "The recompute's id" },
  options: { ...noWaitOption, ...yesOption, ...projectOptions },
  examples: [["svc recompute retry rec_0123456789abcdef0123", "Go on after the customers that are done"]],
  async handler(context, { recomputeId, noWait, yes }) {
    const { api, settings } = context;
    const env = settings.environment;
    const { data } = await api.get<RecomputeJob>(api.projectPath("recomputes", recomputeId), JOB_MEMBERS, { env });
    await confirmRetry(context, data, yes);
    const path = api.projectPath("recomputes", recomputeId, "retry");
    const answer = await outcomeOf(`svc recompute status ${shellWord(recomputeId)} --env ${env}`, (signal) =>
      api.post<RecomputeJob>(path, {}, JOB_MEMBERS, { env }, signal),
    );
    if (noWait) printQueued(context, answer);
    else await printResult(context, answer.data);
  },
});
