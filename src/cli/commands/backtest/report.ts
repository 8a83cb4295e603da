import type { BacktestReport, ModelReport } from "../../../backtest/report-types.js";
import { type CustomerSamples, type BacktestQuestion, samplesOf } from "../../../backtest/samples.js";
import type { ModelOutput } from "../../../engine/index.js";
import {
  type BacktestResult,
  backtestFields,
  backtestNotes,
  backtestSentences,
  backtestTables,
  type ReportTable,
} from "../../../words/backtest.js";
import { type Cell, csvLines } from "../../../words/csv.js";
import { paragraphs } from "../../../words/text.js";
import { codeSpan, sectionOf, tableOf } from "../../output/markdown.js";
import type { Out } from "../../output/out.js";
import { type Column, fields, table } from "../../output/table.js";
import type { Forms } from "./asked.js";

/** A backtest's result, and where it comes from. */
interface Printed {
  /** The result with the further members that programs read. */
  backtest: BacktestResult;
  question: BacktestQuestion;
  pages: AsyncIterable<readonly CustomerSamples[]> | Iterable<readonly CustomerSamples[]>;
  title: string;
  /** Named in a comment instead of the title, as Markdown. */
  source: string;
}

/** Prints a backtest's result in the requested form. */
export async function printBacktest(
  out: Out,
  { csv, markdown }: Forms,
  { backtest, question, pages, title, source }: Printed,
): Promise<void> {
  if (csv) await out.stream(samplesCsv(question, backtest.report, pages));
  else if (markdown) out.print(backtestMarkdown(source, backtest));
  else out.result({ document: backtest }, () => backtestInWords(out, title, backtest));
}

/** A backtest's result, for a person at a terminal. */
function backtestInWords(out: Out, title: string, backtest: BacktestResult): string {
  const { models } = backtest.report;
  const { bold } = out.style;
  return paragraphs([
    `${bold(title)}: ${models.map(({ name }) => name).join(" and ")}; nothing was changed.`,
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
  // On a terminal of 80 columns, the last columns are left out.
  const optional = columns.map((column, index) => (index < 4 ? column : { ...column, optional: true as const }));
  if (picture !== undefined) {
    optional.push({ title: "", value: ({ share }) => (share === null ? "" : bar(share)), optional: true });
  }
  return table(out, optional, rows);
}

const BAR = 30;

/** A share from 0 to 1 as a bar; a share above 0 always shows. */
function bar(share: number): string {
  return "█".repeat(share > 0 ? Math.max(1, Math.round(share * BAR)) : 0);
}

/** The same as a comment on a pull request. */
function backtestMarkdown(title: string, backtest: BacktestResult): string {
  const { models, outcome } = backtest.report;
  const { Outcome: _, ...figures } = backtestFields(backtest);
  const named = models.map((model) => ({ ...model, name: codeSpan(model.name) }));
  return paragraphs([
    `### ${named.length > 1 ? "Do" : "Does"} ${named.map(({ name }) => name).join(" and ")} predict ${codeSpan(outcome)}?`,
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

/** Samples as CSV, part by part: one line a sample, with what each model said. Parts end without a line break. */
async function* samplesCsv(
  question: BacktestQuestion,
  { models }: BacktestReport,
  pages: Printed["pages"],
): AsyncGenerator<string> {
  const lines = (rows: Cell[][]) => csvLines(rows).trimEnd();
  const heads = models.flatMap((model) => headsOf(model, models.length > 1 ? `${model.name}.` : ""));
  yield lines([["customer", "at", "status", "outcome", "outcome_at", ...heads]]);
  for await (const page of pages) {
    for (const customer of page) {
      const rows = [...samplesOf(question, customer)].map(({ at, status, outcomeAt, said }): Cell[] => {
        const isUsed = status === "used";
        const occurred = isUsed && outcomeAt !== null;
        const outcome = isUsed ? occurred : null;
        const cells = said.flatMap((one, index) => cellsOf(models[index]!, one));
        return [customer.customerId, iso(at), status, outcome, occurred ? iso(outcomeAt) : null, ...cells];
      });
      if (rows.length > 0) yield `\n${lines(rows)}`;
    }
  }
}

function headsOf({ health }: ModelReport, prefix: string): string[] {
  const components = health?.components.map(({ id }) => `components.${id}`) ?? [];
  return ["state", "band", "overall", ...components, "segments", "signals"].map((name) => prefix + name);
}

function cellsOf({ health }: ModelReport, { state, health: score, segments, signals }: ModelOutput): Cell[] {
  const components = health?.components.map(({ id }) => score?.components[id] ?? null) ?? [];
  return [state, score?.band ?? null, score?.overall ?? null, ...components, segments.join(" "), signals.join(" ")];
}

function iso(instant: number): string {
  return new Date(instant).toISOString();
}
