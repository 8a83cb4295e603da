import type { BacktestReport, ModelReport } from "../../../backtest/report-types.js";
import { type CustomerSamples, type BacktestQuestion, samplesOf } from "../../../backtest/samples.js";
import type { Said } from "../../../engine/index.js";
import { type Cell, csvLines } from "../../../words/csv.js";

/** Samples as CSV, part by part: one line a sample, with what each model said. Parts end without the end of their last line. */
export async function* samplesCsv(
  question: BacktestQuestion,
  { models }: BacktestReport,
  pages: AsyncIterable<readonly CustomerSamples[]> | Iterable<readonly CustomerSamples[]>,
): AsyncGenerator<string> {
  const lines = (rows: Cell[][]) => csvLines(rows).trimEnd();
  const heads = models.flatMap((model) => headsOf(model, models.length > 1 ? `${model.name}.` : ""));
  yield lines([["customer", "at", "status", "outcome", "outcome_at", ...heads]]);
  for await (const page of pages) {
    for (const customer of page) {
      const rows = [...samplesOf(question, customer)].map(({ at, status, outcomeAt, said }): Cell[] => {
        const isUsed = status === "used";
        const came = isUsed && outcomeAt !== null;
        const outcome = isUsed ? came : null;
        const cells = said.flatMap((one, index) => cellsOf(models[index]!, one));
        return [customer.customerId, iso(at), status, outcome, came ? iso(outcomeAt) : null, ...cells];
      });
      if (rows.length > 0) yield `\n${lines(rows)}`;
    }
  }
}

function headsOf({ health }: ModelReport, prefix: string): string[] {
  const components = health?.components.map(({ id }) => `components.${id}`) ?? [];
  return ["state", "band", "overall", ...components, "segments", "signals"].map((name) => prefix + name);
}

function cellsOf({ health }: ModelReport, { state, health: score, segments, signals }: Said): Cell[] {
  const components = health?.components.map(({ id }) => score?.components[id] ?? null) ?? [];
  return [state, score?.band ?? null, score?.overall ?? null, ...components, segments.join(" "), signals.join(" ")];
}

function iso(instant: number): string {
  return new Date(instant).toISOString();
}
