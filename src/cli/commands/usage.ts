import type { Usage } from "../../http/admin/answers.js";
import { defineCommand } from "../core/command.js";
import { fields } from "../output/table.js";
import { formatNumber, printable } from "../../words/text.js";

export default defineCommand({
  examples: [["svc usage", "How much of its plan the organization has used"]],
  async handler({ api, out }) {
    const answer = await api.get<Usage>("/organization/usage", ["plan", "month", "resetsAt", "used", "limits"]);
    const { plan, month, resetsAt, used, limits } = answer.data;
    const of = (name: keyof Usage["used"]) => {
      const limit = limits[name];
      return `${formatNumber(used[name])} ${limit === null ? "(no limit)" : `of ${formatNumber(limit)}`}`;
    };
    const keptFor = (days: number | null) => (days === null ? "forever" : `for ${formatNumber(days)} days`);
    out.result(answer, () =>
      fields(out, {
        Plan: printable(plan),
        [`Events in ${month}`]: `${of("monthlyEvents")}, resets ${out.ago(resetsAt)}`,
        Projects: of("projects"),
        "Members, invitations": of("members"),
        Tokens: of("tokens"),
        "Events are kept": keptFor(limits.retentionDays),
        "Replaced histories": `${keptFor(limits.supersededDays)}, after a recompute`,
        "Rate per key": `${formatNumber(limits.ratePerSecond)} operations a second, ${formatNumber(limits.rateBurst)} at once`,
      }),
    );
  },
});
