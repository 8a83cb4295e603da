import type { Journey } from "../../client/answers.js";
import { defineCommand, projectOptions } from "../../core/command.js";
import { explanationIfAny } from "../customers/explained.js";
import { fields } from "../../output/fields.js";
import type { Out } from "../../output/out.js";
import { distance, localTime, printable, span } from "../../output/text.js";

export default defineCommand({
  args: { customerId: "The customer's id", journeyId: "The journey's id" },
  options: projectOptions,
  examples: [
    ["svc journeys inspect cus_42 onboarding", "How far it is, how long each step took, and what it waits for"],
  ],
  async handler(context, { customerId, journeyId }) {
    const { api, out, settings } = context;
    const members = ["journeyId", "status", "steps", "earlierRuns"] as const;
    const answer = await api.get<Journey>(["customers", customerId, "journeys", journeyId], members);
    if (out.json) {
      out.result(answer, () => "");
      return;
    }
    const journey = answer.data;
    const { style } = out;
    const isOpen = journey.status === "active" || journey.status === "not_started";
    const explanation = isOpen ? await explanationIfAny(context, customerId) : null;
    const explained = explanation?.journeys.find((one) => one.journey === journeyId);
    const open = explained?.steps.filter(({ condition }) => condition !== null) ?? [];
    const { table } = await import("../../output/table.js");
    const { journeyInWords, remarks } = await import("../customers/why.js");
    const heading = `${style.bold(printable(journeyId))} of ${printable(customerId)} in ${settings.environment}: ${inWords(journey)}`;
    out.print(
      [
        heading,
        ...(journey.startedAt === null ? [] : [progress(out, journey)]),
        ...(journey.steps.length === 0 ? [] : [steps(journey.steps)]),
        ...(explanation === null || explained === undefined
          ? []
          : [
              [
                style.bold("What it waits for"),
                ...remarks(explanation).map((line) => `  ${line}`),
                ...journeyInWords(out, { ...explained, steps: open }).slice(1),
              ].join("\n"),
            ]),
        ...(journey.earlierRuns.length === 0 ? [] : [`${style.bold("Earlier runs")}\n${earlier(journey.earlierRuns)}`]),
      ].join("\n\n"),
    );

    function steps(rows: Journey["steps"]): string {
      return table(
        out,
        [
          { title: "Step", value: ({ stepId }) => stepId, kept: true },
          {
            title: "Completed",
            value: ({ completedAt }) => (completedAt === null ? "" : localTime(completedAt, out.timeZone)),
            fixed: true,
          },
          { title: "From start", value: ({ secondsFromStart }) => lasted(secondsFromStart), align: "right" },
          { title: "From previous", value: ({ secondsFromPrevious }) => lasted(secondsFromPrevious), align: "right" },
          { title: "Triggered by", value: ({ triggeredBy }) => triggeredBy ?? "", fixed: true, optional: true },
        ],
        rows,
      );
    }

    function earlier(rows: Journey["earlierRuns"]): string {
      return table(
        out,
        [
          { title: "Run", value: ({ run }) => String(run), align: "right", fixed: true },
          { title: "Status", value: ({ status }) => status, fixed: true },
          { title: "Started", value: ({ startedAt }) => localTime(startedAt, out.timeZone) },
          { title: "Lasted", value: (run) => lasted(secondsOf(run)), align: "right" },
          { title: "Last step", value: ({ currentStep }) => currentStep },
        ],
        rows,
      );
    }
  },
});

function inWords({ status, run }: Journey): string {
  const words = status.replaceAll("_", " ");
  return run === null || run === 1 ? words : `${words} in run ${run}`;
}

function progress(out: Out, journey: Journey): string {
  const { startedAt, completedAt, expiredAt, status, currentStep, currentStepSince, secondsOnCurrentStep } = journey;
  const facts: [string, string][] = [];
  for (const [label, iso] of [
    ["Started", startedAt],
    ["Completed", completedAt],
    ["Expired", expiredAt],
  ] as const) {
    if (iso !== null)
      facts.push([label, `${localTime(iso, out.timeZone)} ${out.style.dim(`(${distance(iso, out.now)})`)}`]);
  }
  if (status === "active" && currentStep !== null) {
    const since = currentStepSince === null ? "" : ` since ${localTime(currentStepSince, out.timeZone)}`;
    const long = secondsOnCurrentStep === null ? "" : ` ${out.style.dim(`(for ${lasted(secondsOnCurrentStep)})`)}`;
    facts.push(["Current step", `${out.style.cyan(printable(currentStep))}${since}${long}`]);
  }
  const took = secondsOf(journey);
  if (took !== null) facts.push(["Lasted", lasted(took)]);
  return fields(out, facts);
}

/** How long a run took that has ended. */
function secondsOf({
  startedAt,
  completedAt,
  expiredAt,
}: Pick<Journey, "startedAt" | "completedAt" | "expiredAt">): number | null {
  const end = completedAt ?? expiredAt;
  return startedAt === null || end === null ? null : (Date.parse(end) - Date.parse(startedAt)) / 1000;
}

function lasted(seconds: number | null): string {
  return seconds === null ? "" : (span(seconds * 1000) ?? "under a second");
}
