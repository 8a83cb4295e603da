import type { HealthScore } from "../../client/answers.js";
import { defineCommand, projectOptions } from "../../core/command.js";
import type { AboutState, ExplainedComponent } from "../customers/explained.js";
import { valueInWords } from "../customers/explanation.js";
import { fields } from "../../output/fields.js";
import type { Out } from "../../output/out.js";
import { distance, localTime, number, printable } from "../../output/text.js";
import { remarks } from "../customers/why.js";

interface Health extends AboutState {
  score: HealthScore | null;
  factors: { overall: number | null; band: string | null; components: ExplainedComponent[] } | null;
}

export default defineCommand({
  args: { customerId: "The customer's id" },
  options: projectOptions,
  examples: [["svc health explain cus_42", "Each component: what it measures, how much that is, and what it is worth"]],
  async handler({ api, out, settings }, { customerId }) {
    const answer = await api.get<Health>(["customers", customerId, "health"], ["score", "factors", "unavailable"]);
    const { table } = await import("../../output/table.js");
    const { data } = answer;
    out.result(answer, () =>
      [
        heading(),
        ...(remarks(data).length === 0 ? [] : [remarks(data).join("\n")]),
        ...(data.score === null ? [] : [about(out, data)]),
        ...(data.factors === null ? [] : [components(data.factors.components)]),
      ].join("\n\n"),
    );

    function heading(): string {
      const { score } = data;
      const is = score === null ? "no health score" : `health ${score.overall}, ${printable(score.band)}`;
      return `${out.style.bold(printable(customerId))} in ${settings.environment}: ${is}`;
    }

    function components(rows: readonly ExplainedComponent[]): string {
      const weights = rows.reduce((sum, { weight }) => sum + weight, 0);
      const points = ({ score, weight }: ExplainedComponent) =>
        `${rounded((score * weight) / weights)} of ${rounded((100 * weight) / weights)}`;
      return table(
        out,
        [
          { title: "Component", value: ({ component }) => component, kept: true, style: out.style.cyan },
          { title: "Score", value: ({ score }) => String(score), align: "right", fixed: true },
          { title: "Weight", value: ({ weight }) => String(weight), align: "right", fixed: true },
          { title: "Points", value: points, align: "right", fixed: true },
          { title: "Measured", value: ({ measure }) => measure.text },
          {
            title: "Now",
            value: ({ measure }) => (measure.actual === null ? "nothing" : valueInWords(measure.actual)),
          },
        ],
        rows,
      );
    }
  },
});

function rounded(value: number): string {
  return number(Math.round(value * 100) / 100);
}

function about(out: Out, { score, asOf }: Health): string {
  const when = (iso: string | null) =>
    iso === null ? "unknown" : `${localTime(iso, out.timeZone)} ${out.style.dim(`(${distance(iso, out.now)})`)}`;
  const { cause = null, scoredAt = null, configVersion = null } = score ?? {};
  return fields(out, [
    ["Scored", when(scoredAt)],
    ...(cause === null
      ? []
      : [["Because of", printable([cause.type, cause.id].filter((part) => part !== null).join(" "))] as const]),
    ["Evaluated through", when(asOf)],
    ["Model", configVersion ?? "none"],
  ]);
}
