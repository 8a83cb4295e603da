import type { ExplainedHealth, HealthScoreChange } from "../../http/admin/answers.js";
import { measuredInWords } from "../../words/explanation.js";
import { causeInWords, formatNumber, paragraphs, printable } from "../../words/text.js";
import { csvPageOptions, defineCommand, projectOptions, supersededOption } from "../core/command.js";
import type { Out } from "../output/out.js";
import { type Column, fields, printList, recordColumn, table } from "../output/table.js";
import { caveats } from "./customers/explanation.js";

type Component = NonNullable<ExplainedHealth["factors"]>["components"][number];

export default {
  explain: defineCommand({
    args: { customerId: "The customer's id" },
    options: projectOptions,
    examples: [["svc health explain cus_42", "Each component: what it measures, the measured value, and its points"]],
    async handler({ api, out, settings }, { customerId }) {
      const path = ["customers", customerId, "health"];
      const answer = await api.get<ExplainedHealth>(path, ["score", "factors", "unavailable"]);
      const { score, factors } = answer.data;
      const is = score === null ? "no health score" : `health ${score.overall}, ${printable(score.band)}`;
      out.result(answer, () =>
        paragraphs([
          `${out.style.bold(printable(customerId))} in ${settings.environment}: ${is}`,
          caveats(answer.data).join("\n"),
          score === null ? "" : about(out, answer.data),
          factors === null ? "" : components(factors.components),
        ]),
      );

      function components(rows: readonly Component[]): string {
        const weights = rows.reduce((sum, { score, weight }) => sum + (score === null ? 0 : weight), 0);
        const points = ({ score, weight }: Component) =>
          score === null
            ? "left out"
            : `${rounded((score * weight) / weights)} of ${rounded((100 * weight) / weights)}`;
        const measured = ({ measure }: Component) => measuredInWords(measure);
        const columns = [
          { title: "Component", value: ({ component }) => component, kept: true, style: out.style.cyan },
          { title: "Score", value: ({ score }) => (score === null ? "" : String(score)), align: "right", fixed: true },
          { title: "Weight", value: ({ weight }) => String(weight), align: "right", fixed: true },
          { title: "Points", value: points, align: "right", fixed: true },
          { title: "Measured", value: ({ measure }) => measure.text },
          { title: "Then", value: measured },
        ] satisfies Column<Component>[];
        return table(out, columns, rows);
      }
    },
  }),

  history: defineCommand({
    args: { customerId: "The customer's id" },
    options: { ...projectOptions, ...supersededOption, ...csvPageOptions },
    examples: [
      ["svc health history cus_42", "How the score changed, newest change first"],
      ["svc health history cus_42 --superseded", "Also what was recorded before a recompute"],
    ],
    async handler(context, { customerId, superseded, limit, cursor, csv }) {
      const { out } = context;
      const query = { superseded, limit, cursor };
      const parts = ({ components }: HealthScoreChange) =>
        Object.entries(components)
          .map(([id, score]) => `${id} ${score}`)
          .join(", ");
      await printList<HealthScoreChange>(context, query, ["customers", customerId, "health-scores"], {
        csv,
        none: "This customer has had no health score.",
        columns: [
          { title: "At", value: ({ at }) => out.at(at), fixed: true },
          {
            title: "Health",
            value: ({ overall }) => (overall === null ? "none" : String(overall)),
            align: "right",
            fixed: true,
          },
          { title: "Band", value: ({ band }) => band ?? "" },
          { title: "Components", value: parts },
          { title: "Cause", value: ({ cause }) => causeInWords(cause), fixed: true, optional: true },
          ...recordColumn<HealthScoreChange>(superseded),
        ],
      });
    },
  }),
};

function rounded(value: number): string {
  return formatNumber(Math.round(value * 100) / 100);
}

function about(out: Out, { score, asOf }: ExplainedHealth): string {
  const when = (iso: string | null | undefined) => (iso === null || iso === undefined ? "unknown" : out.atAndAgo(iso));
  const cause = score?.cause ?? null;
  return fields(out, {
    Scored: when(score?.scoredAt),
    "Because of": cause === null ? undefined : printable(causeInWords(cause)),
    "Evaluated through": when(asOf),
    Model: score?.configVersion ?? "none",
  });
}
