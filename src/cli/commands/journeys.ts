import type { JourneyDetail, JourneyFunnel } from "../../http/admin/answers.js";
import { formatNumber, paragraphs, plural, printable, secondsInWords } from "../../words/text.js";
import { defineCommand, projectOptions } from "../core/command.js";
import { sinceOption } from "../core/values.js";
import type { Out } from "../output/out.js";
import { type Column, fields, table } from "../output/table.js";
import { noteOutdated } from "./overview.js";
import { caveats, explanationIfAny, journeyInWords } from "./customers/explanation.js";

type Step = JourneyFunnel["steps"][number];

export default {
  funnel: defineCommand({
    args: { journeyId: "The journey's id" },
    options: {
      ...projectOptions,
      since: { type: "text", describe: "Only runs that started since: how long ago, such as 90d, or an ISO date" },
    },
    examples: [
      ["svc journeys funnel onboarding", "How many completed each step, how many are at it now, and how long it took"],
      ["svc journeys funnel onboarding --since 90d", "The same for runs that started in the last 90 days"],
    ],
    async handler(context, { journeyId, since: from }) {
      const { api, out, settings } = context;
      const since = sinceOption("--since", from);
      const answer = await api.get<JourneyFunnel>(["journeys", journeyId], ["runs", "steps"], { since });
      await noteOutdated(context);
      const { runs, customers, active, complete, expired, secondsToComplete, steps } = answer.data;
      const share = (part: number) => (runs === 0 ? "" : ` (${Math.round((100 * part) / runs)} %)`);
      const columns = [
        { title: "Step", value: ({ stepId, declared }) => (declared ? stepId : `${stepId} (no longer)`), kept: true },
        {
          title: "Completed",
          value: ({ completed }) => `${formatNumber(completed)}${share(completed)}`,
          align: "right",
        },
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
  }),

  inspect: defineCommand({
    args: { customerId: "The customer's id", journeyId: "The journey's id" },
    options: projectOptions,
    examples: [
      ["svc journeys inspect cus_42 onboarding", "Its progress, how long each step took, and what it waits for"],
    ],
    async handler(context, { customerId, journeyId }) {
      const { api, out, settings } = context;
      const members = ["journeyId", "status", "steps", "earlierRuns"] as const;
      const answer = await api.get<JourneyDetail>(["customers", customerId, "journeys", journeyId], members);
      if (out.json) {
        out.result(answer, () => "");
        return;
      }
      const journey = answer.data;
      const { bold } = out.style;
      const status = journey.status.replaceAll("_", " ") + ((journey.run ?? 1) === 1 ? "" : ` in run ${journey.run}`);
      const isOpen = journey.status === "active" || journey.status === "not_started";
      const explanation = isOpen ? await explanationIfAny(context, customerId) : null;
      const at = (iso: string | null) => (iso === null ? "" : out.at(iso));
      const text = paragraphs([
        `${bold(printable(journeyId))} of ${printable(customerId)} in ${settings.environment}: ${status}`,
        journey.startedAt === null ? "" : progress(out, journey),
        journey.steps.length === 0 ? "" : steps(journey.steps),
        waitsFor(),
        journey.earlierRuns.length === 0 ? "" : `${bold("Earlier runs")}\n${earlier(journey.earlierRuns)}`,
      ]);
      out.print(text);

      function waitsFor(): string {
        const explained = explanation?.journeys.find((one) => one.journey === journeyId);
        if (!explanation || !explained) return "";
        const open = explained.steps.filter(({ condition }) => condition !== null);
        const [, ...lines] = journeyInWords(out, { ...explained, steps: open });
        return [bold("What it waits for"), ...caveats(explanation).map((line) => `  ${line}`), ...lines].join("\n");
      }

      function steps(rows: JourneyDetail["steps"]): string {
        const columns = [
          { title: "Step", value: ({ stepId }) => stepId, kept: true },
          { title: "Completed", value: ({ completedAt }) => at(completedAt), fixed: true },
          { title: "From start", value: ({ secondsFromStart }) => secondsInWords(secondsFromStart), align: "right" },
          {
            title: "From previous",
            value: ({ secondsFromPrevious }) => secondsInWords(secondsFromPrevious),
            align: "right",
          },
          { title: "Triggered by", value: ({ triggeredBy }) => triggeredBy ?? "", fixed: true, optional: true },
        ] satisfies Column<JourneyDetail["steps"][number]>[];
        return table(out, columns, rows);
      }

      function earlier(rows: JourneyDetail["earlierRuns"]): string {
        const columns = [
          { title: "Run", value: ({ run }) => String(run), align: "right", fixed: true },
          { title: "Status", value: ({ status }) => status, fixed: true },
          { title: "Started", value: ({ startedAt }) => out.at(startedAt) },
          { title: "Lasted", value: (run) => secondsInWords(secondsOf(run)), align: "right" },
          { title: "Last step", value: ({ currentStep }) => currentStep },
        ] satisfies Column<JourneyDetail["earlierRuns"][number]>[];
        return table(out, columns, rows);
      }
    },
  }),
};

/** Between the quartiles. */
function range(quartiles: Step["secondsFromPrevious"]): string {
  return quartiles === null ? "" : `${secondsInWords(quartiles.lower)} to ${secondsInWords(quartiles.upper)}`;
}

function progress(out: Out, journey: JourneyDetail): string {
  const { startedAt, completedAt, expiredAt, status, currentStep, currentStepSince, secondsOnCurrentStep } = journey;
  const at = (iso: string | null) => (iso === null ? undefined : out.atAndAgo(iso));
  const since = currentStepSince === null ? "" : ` since ${out.at(currentStepSince)}`;
  const long =
    secondsOnCurrentStep === null ? "" : ` ${out.style.dim(`(for ${secondsInWords(secondsOnCurrentStep)})`)}`;
  const step = status === "active" ? currentStep : null;
  const took = secondsOf(journey);
  return fields(out, {
    Started: at(startedAt),
    Completed: at(completedAt),
    Expired: at(expiredAt),
    "Current step": step === null ? undefined : `${out.style.cyan(printable(step))}${since}${long}`,
    Lasted: took === null ? undefined : secondsInWords(took),
  });
}

/** How long a run took; null if it has not ended. */
function secondsOf(run: Pick<JourneyDetail, "startedAt" | "completedAt" | "expiredAt">): number | null {
  const end = run.completedAt ?? run.expiredAt;
  return run.startedAt === null || end === null ? null : (Date.parse(end) - Date.parse(run.startedAt)) / 1000;
}
