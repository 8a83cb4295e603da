import { defineCommand } from "../../command.js";
import type { Job } from "../../jobs.js";
import { JOB_MEMBERS } from "../../jobs.js";
import { noWaitOption, projectOptions, yesOption } from "../../options.js";
import { confirmRetry } from "../../recompute-question.js";
import { printQueued, printResult } from "../../recompute-result.js";

export default defineCommand({
  path: "recompute retry",
  describe: "Go on with a recompute that was given up after it failed too often",
  args: { recomputeId: "The recompute's id" },
  options: { ...noWaitOption, ...yesOption, ...projectOptions },
  examples: [["svc recompute retry rec_0123456789abcdef0123", "Go on after the customers that are done"]],
  async handler(context, { recomputeId, noWait, yes }) {
    const { api, settings } = context;
    const env = settings.environment;
    const { data } = await api.get<Job>(api.projectPath("recomputes", recomputeId), JOB_MEMBERS, { env });
    await confirmRetry(context, data, yes);
    const path = api.projectPath("recomputes", recomputeId, "retry");
    const answer = await api.post<Job>(path, {}, JOB_MEMBERS, { env });
    if (noWait) printQueued(context, answer);
    else await printResult(context, answer.data);
  },
});
