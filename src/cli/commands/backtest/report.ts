import type { ModelReport } from "../../../backtest/report-types.js";
import {
  type BacktestResult,
  backtestFields,
  backtestNotes,
  backtestSentences,
  backtestTables,
  type ReportTable,
} from "../../../words/backtest.js";
import { paragraphs } from "../../../words/text.js";
import { bar } from "../../output/chart.js";
import { codeSpan, sectionOf, tableOf } from "../../output/markdown.js";
import type { Out } from "../../output/out.js";
import { type Column, fields, table } from "../../output/table.js";

/** What a backtest came to, for a person at a terminal. */
export function backtestInWords(out: Out, title: string, backtest: BacktestResult): string {
  const { models } = backtest.report;
  const { bold } = out.style;
  return paragraphs([
    `${bold(title)}: ${models.map(({ name }) => name).join(" beside ")}; nothing was changed.`,
    fields(out, backtestFields(backtest)),
    backtestSentences(backtest.report).join("\n"),
    ...models.flatMap((model) => [
      models.length > 1 ? bold(`The model ${model.name}`) : "",
      ...backtestTables(model).map((one) => tableInWords(out, one)),
    ]),
    [bold("Before you believe it"), ...backtestNotes(backtest).map((note) => `- ${note}`)].join("\n"),
  ]);
}

type Row = ReportTable["rows"][number];

function tableInWords(out: Out, { heads, rows, picture }: ReportTable): string {
  const columns: Column<Row>[] = heads.map((title, index) => ({
    title,
    value: ({ cells }) => cells[index]!,
    ...(index === 0 ? { kept: true } : { align: "right", fixed: true }),
  }));
  // What a terminal of 80 columns has no room for is left out from the end.
  const optional = columns.map((column, index) => (index < 4 ? column : { ...column, optional: true as const }));
  if (picture !== undefined) {
    optional.push({ title: "", value: ({ share }) => (share === null ? "" : bar(share)), optional: true });
  }
  return table(out, optional, rows);
}

/** The same as a comment on a pull request. */
export function backtestMarkdown(title: string, backtest: BacktestResult): string {
  const { models, outcome } = backtest.report;
  const { Outcome: _, ...figures } = backtestFields(backtest);
  const named = models.map((model) => ({ ...model, name: codeSpan(model.name) }));
  return paragraphs([
    `### Does ${named.map(({ name }) => name).join(" beside ")} foresee ${codeSpan(outcome)}?`,
    backtestSentences({ ...backtest.report, models: named }).join(" "),
    tableOf(["", ""], Object.entries(figures)),
    ...named.flatMap((model) => [named.length > 1 ? `### The model ${model.name}` : "", ...sectionsOf(model)]),
    backtestNotes(backtest)
      .map((note) => `- ${note}`)
      .join("\n"),
    `<sub>svc backtest: ${title}</sub>`,
  ]);
}

function sectionsOf(model: ModelReport): string[] {
  return backtestTables(model).flatMap(({ title, heads, rows }) => {
    const isNamed = rows.every(({ share }) => share === null);
    const cells = rows.map(({ cells: [first, ...rest] }) => [isNamed ? codeSpan(first!) : first!, ...rest]);
    return sectionOf(title, heads, cells);
  });
}
