import type { JourneyFunnel } from "../../../http/admin/answers.js";
import { defineCommand, projectOptions } from "../../core/command.js";
import { sinceOption } from "../../core/values.js";
import { type Column, fields, table } from "../../output/table.js";
import { formatNumber, secondsInWords, paragraphs, plural, printable } from "../../../words/text.js";

type Step = JourneyFunnel["steps"][number];

export default defineCommand({
  args: { journeyId: "The journey's id" },
  options: {
    ...projectOptions,
    since: { type: "text", describe: "Only runs that started since: how long ago, such as 90d, or an ISO date" },
  },
  examples: [
    ["svc journeys funnel onboarding", "How many completed each step, how many are at it now, and how long it took"],
    ["svc journeys funnel onboarding --since 90d", "The same for runs that started in the last 90 days"],
  ],
  async handler({ api, out, settings }, { journeyId, since: from }) {
    const since = sinceOption("--since", from);
    const answer = await api.get<JourneyFunnel>(["journeys", journeyId], ["runs", "steps"], { since });
    const { runs, customers, active, complete, expired, secondsToComplete, steps } = answer.data;
    const share = (part: number) => (runs === 0 ? "" : ` (${Math.round((100 * part) / runs)} %)`);
    const columns = [
      { title: "Step", value: ({ stepId, declared }) => (declared ? stepId : `${stepId} (no longer)`), kept: true },
      { title: "Completed", value: ({ completed }) => `${formatNumber(completed)}${share(completed)}`, align: "right" },
      { title: "Now here", value: (step) => formatNumber(step.active), align: "right" },
      { title: "Expired here", value: (step) => formatNumber(step.expired), align: "right" },
      { title: "Median", value: (step) => secondsInWords(step.secondsFromPrevious?.median ?? null), align: "right" },
      { title: "Middle half", value: ({ secondsFromPrevious }) => range(secondsFromPrevious), optional: true },
    ] satisfies Column<Step>[];
    out.result(answer, () =>
      paragraphs([
        `${out.style.bold(printable(journeyId))} in ${settings.environment}: ${plural(runs, "run")} of ${plural(customers, "customer")}`,
        fields(out, {
          Active: `${formatNumber(active)}${share(active)}`,
          Complete: `${formatNumber(complete)}${share(complete)}`,
          Expired: `${formatNumber(expired)}${share(expired)}`,
          "Median duration": secondsToComplete === null ? undefined : secondsInWords(secondsToComplete.median),
        }),
        steps.length === 0 ? "" : table(out, columns, steps),
      ]),
    );
  },
});

/** Between the quartiles. */
function range(quartiles: Step["secondsFromPrevious"]): string {
  return quartiles === null ? "" : `${secondsInWords(quartiles.lower)} to ${secondsInWords(quartiles.upper)}`;
}
