import type { TraitsAsOf } from "../backtest/question.js";
import type { BacktestReport, ComponentReport, Estimate, FlagReport, ModelReport } from "../backtest/report-types.js";
import { formatNumber, plural } from "./text.js";

/** The report of a backtest, and how it was requested. */
export interface BacktestResult {
  /** The approximate size of the sample of customers; null for all. */
  customers: number | null;
  traits: TraitsAsOf;
  report: BacktestReport;
}

/** A table of a report: the first cell of a row is a name or a range, the others are figures. */
export interface ReportTable {
  title: string;
  heads: readonly string[];
  rows: { cells: string[]; share: number | null }[];
  /** The name of the figure that `share` has, 0 to 1, if the table is shown with bars. */
  picture?: string;
}

const NONE = "–";

/** `14.2 %`, or for a small share `0.0033 %`. */
export function shareText(share: number | null): string {
  return share === null ? NONE : `${hundredths(share)} %`;
}

/** A percentage with one decimal; below 1 with two significant digits. */
function hundredths(share: number): string {
  const value = share * 100;
  const decimals = value > 0 && value < 1 ? 1 - Math.floor(Math.log10(value)) : 1;
  return value.toFixed(Math.min(decimals, 20));
}

/** `14.2 % (12.1 to 16.4)`: with the 95 % interval if there is one. */
export function rateText(rate: Estimate | null): string {
  if (rate === null) return NONE;
  const { value, low, high } = rate;
  return shareText(value) + bounds(low, high, hundredths);
}

/** `0.82 (0.79 to 0.85)`. */
export function aucText(auc: Estimate | null): string {
  return auc === null ? NONE : auc.value.toFixed(2) + bounds(auc.low, auc.high, (bound) => bound.toFixed(2));
}

/** `+0.03 (0.01 to 0.05)`. */
export function gainText(gain: Estimate | null): string {
  return gain === null ? NONE : signed(gain.value) + bounds(gain.low, gain.high, signed);
}

function signed(value: number): string {
  const text = value.toFixed(3);
  return value > 0 ? `+${text}` : text;
}

function bounds(low: number | null, high: number | null, text: (bound: number) => string): string {
  return low === null || high === null ? "" : ` (${text(low)} to ${text(high)})`;
}

/** The question and the samples, line by line. */
export function backtestFields({ report, customers }: BacktestResult): Record<string, string> {
  const { samples, instants, customers: counts } = report;
  const leftOut = [
    ...(samples.alreadyThere > 0 ? [`${formatNumber(samples.alreadyThere)} left out because it held already`] : []),
    ...(samples.censored > 0 ? [`${formatNumber(samples.censored)} left out as too near the end`] : []),
  ];
  const before = instants.empty > 0 ? `, ${formatNumber(instants.empty)} before any customer was known` : "";
  const near = instants.censored > 0 ? `, and ${formatNumber(instants.censored)} too near the end` : "";
  return {
    Outcome: `${report.outcome}, within ${report.within} after a look`,
    Looked: `every ${report.every} from ${day(report.from)} to ${day(report.to)}: ${plural(instants.used, "instant")}${before}${near}`,
    "Known until": day(report.end),
    Customers: `${formatNumber(counts.looked)}${customers === null ? "" : ", a sample"}; ${formatNumber(counts.withOutcome)} had the outcome`,
    Samples: [`${formatNumber(samples.used)}, ${formatNumber(samples.withOutcome)} with the outcome`, ...leftOut].join(
      "; ",
    ),
    "Base rate": rateText(report.baseRate),
  };
}

function day(iso: string): string {
  return iso.slice(0, 10);
}

/** The main figures as sentences. */
export function backtestSentences({ baseRate, models, difference, within }: BacktestReport): string[] {
  if (baseRate === null) return [];
  const of = (name: string) => (models.length > 1 ? ` of ${name}` : "");
  const sentences = [`After ${shareText(baseRate.value)} of the samples the outcome came within ${within}.`];
  for (const { name, health } of models) {
    if (health === null || health.auc === null) continue;
    const { value, low, high } = health.auc;
    const pairs = (share: number) => formatNumber(Math.round(share * 100));
    const interval =
      low === null || high === null
        ? " (of too few customers for an interval)"
        : ` (95 %: ${pairs(low)} to ${pairs(high)})`;
    sentences.push(
      `In ${pairs(value)} of 100 pairs of a sample with the outcome and one without, the one with it had the ${health.direction} ` +
        `score${of(name)}${interval}; by chance it would be 50.`,
    );
  }
  const [judged, other] = models;
  if (difference !== null && judged !== undefined && other !== undefined) {
    sentences.push(
      `The AUC of ${judged.name} less that of ${other.name}, on the same samples: ${gainText(difference)}.`,
    );
  }
  return sentences;
}

/** All caveats about the figures, as sentences. */
export function backtestNotes({ report, customers, traits }: BacktestResult): string[] {
  return [
    ...(customers === null ? [] : [`About ${plural(customers, "customer")} were looked at, a sample of all.`]),
    ...(traits === "now"
      ? [
          "The present traits are used at every instant, so the models know what became known only later: the figures may be too good.",
        ]
      : []),
    ...report.notes,
    "This is association in one history, not cause: it does not say what would have happened if somebody had acted.",
  ];
}

/** The tables of a model; those without rows are left out. */
export function backtestTables(model: ModelReport): ReportTable[] {
  const { health } = model;
  const pictures = health === null ? [] : [calibrationTable(health), thresholdTable(health)];
  return [...namedTables(model), ...pictures].filter(hasRows);
}

/** The tables of a model's named parts: states, bands, segments, signals, components. */
export function namedTables({ states, bands, segments, signals, health }: ModelReport): ReportTable[] {
  const tables = [
    flags("State", states),
    flags("Band", bands),
    flags("Segment", segments),
    flags("Signal", signals),
    components(health?.components ?? []),
  ];
  return tables.filter(hasRows);
}

function hasRows({ rows }: ReportTable): boolean {
  return rows.length > 0;
}

function flags(title: string, reports: readonly FlagReport[]): ReportTable {
  return {
    title,
    heads: [title, "Flagged", "Customers", "Precision", "Recall", "Caught", "Lift", "Lead days", "False alarms/week"],
    rows: reports.map((flag) => ({
      cells: [
        flag.id,
        formatNumber(flag.flagged),
        formatNumber(flag.customers),
        rateText(flag.precision),
        shareText(flag.recall),
        formatNumber(flag.caught),
        flag.lift === null ? NONE : flag.lift.toFixed(2),
        flag.medianLeadDays === null ? NONE : String(Number(flag.medianLeadDays.toFixed(2))),
        flag.falseAlarmsPerWeek.toFixed(1),
      ],
      share: null,
    })),
  };
}

function components(reports: readonly ComponentReport[]): ReportTable {
  return {
    title: "Component",
    heads: ["Component", "Weight", "AUC alone", "AUC without it", "It adds", "Effect"],
    rows: reports.map(({ id, weight, alone, without, gain }) => ({
      cells: [id, String(weight), aucText(alone), aucText(without), gainText(gain), worth(gain)],
      share: null,
    })),
  };
}

/** Whether a component earns its weight. */
function worth(gain: Estimate | null): string {
  if (gain === null || gain.low === null || gain.high === null) return "unclear";
  if (gain.low > 0) return "adds";
  return gain.high < 0 ? "takes away" : "unclear";
}

type Health = NonNullable<ModelReport["health"]>;

/** How often the outcome came, by score. */
export function calibrationTable({ calibration: bins }: Health): ReportTable {
  return {
    title: "Scores, the lowest first",
    heads: ["Score", "Samples", "With the outcome"],
    rows: bins.map(({ from, to, samples, rate }) => ({
      cells: [from === to ? String(from) : `${from} to ${to}`, formatNumber(samples), rateText(rate)],
      share: rate.value,
    })),
    picture: "With the outcome",
  };
}

/** The figures of each threshold, without those that flag as many samples as the previous one. */
export function thresholdTable({ thresholds: all, direction }: Health): ReportTable {
  const flagged = all.filter((one, index) => one.flagged !== all[index - 1]?.flagged);
  return {
    title: direction === "lower" ? "Flagged at a score of at most" : "Flagged at a score of at least",
    heads: [direction === "lower" ? "At most" : "At least", "Flagged", "Precision", "Recall", "False alarms/week"],
    rows: flagged.map(({ score, flagged, precision, recall, falseAlarmsPerWeek }) => ({
      cells: [
        String(score),
        shareText(flagged),
        shareText(precision),
        shareText(recall),
        falseAlarmsPerWeek.toFixed(1),
      ],
      share: precision,
    })),
    picture: "Precision",
  };
}
