/** An estimate with the bounds of its 95 % interval; the bounds are null if there are too few customers. */
export interface Estimate {
  value: number;
  low: number | null;
  high: number | null;
}

/** How well a flag, such as a state or segment that a customer has or has not, predicts the outcome. */
export interface FlagReport {
  id: string;
  /** Samples with the flag, and the number of their customers. */
  flagged: number;
  customers: number;
  /** Customers with the outcome who were flagged in a sample before it: of `customers.withOutcome` of the report. */
  caught: number;
  /** The share of flagged samples with the outcome; null if none was flagged. */
  precision: Estimate | null;
  /** The share of samples with the outcome that was flagged; null without an outcome. */
  recall: number | null;
  /** Precision divided by the base rate; null without a precision or an outcome. */
  lift: number | null;
  /** The median time from a flagged sample to its outcome, in days; null if there is none. */
  medianLeadDays: number | null;
  /** How often per week, over all customers, a flag appeared that was not followed by the outcome in time. */
  falseAlarmsPerWeek: number;
}

/** A bin of samples by score, the lowest first: about a tenth of the samples, without splitting equal scores. */
export interface CalibrationBin {
  from: number;
  to: number;
  samples: number;
  rate: Estimate;
}

/** The figures of a threshold, if samples with a score on its side, including the threshold itself, are flagged. */
export interface ThresholdReport {
  score: number;
  /** The share of samples that are flagged. */
  flagged: number;
  precision: number | null;
  recall: number | null;
  falseAlarmsPerWeek: number;
}

export interface ScoreReport {
  /** Samples that have a score. */
  samples: number;
  /** Whether samples with the outcome mostly have the lower or the higher scores. `auc` and `thresholds` refer to this direction. */
  direction: "lower" | "higher";
  /** Of all pairs of a sample with the outcome and one without: the share in which the first has the lower (or higher) score; equal ones
   * count half. Null without such a pair. */
  auc: Estimate | null;
  calibration: CalibrationBin[];
  /** In steps of 5 points. */
  thresholds: ThresholdReport[];
}

/** How much a component contributes to the health score. All figures are by the direction of the whole score. */
export interface ComponentReport {
  id: string;
  weight: number;
  /** The AUC of its score alone, the AUC of the score without it, and the AUC of the whole score minus the latter. Null if not computable. */
  alone: Estimate | null;
  without: Estimate | null;
  gain: Estimate | null;
}

export interface ModelReport {
  /** `v3`, or `local` for one that is not deployed. */
  name: string;
  states: FlagReport[];
  bands: FlagReport[];
  segments: FlagReport[];
  signals: FlagReport[];
  /** Null without a health score. */
  health: (ScoreReport & { components: ComponentReport[] }) | null;
}

/** The result of a backtest. Instants are ISO 8601. */
export interface BacktestReport {
  outcome: string;
  within: string;
  every: string;
  from: string;
  to: string;
  /** The end of the known history. */
  end: string;
  /** `empty`: instants at which no customer was known yet, which are not used; `censored`: too near the end. */
  instants: { used: number; empty: number; censored: number };
  /** Customers with a used sample, and how many of them had the outcome after one. */
  customers: { looked: number; withOutcome: number };
  samples: { used: number; withOutcome: number; alreadyThere: number; censored: number };
  /** The share of used samples with the outcome; null without samples. */
  baseRate: Estimate | null;
  /** The judged model, and the one it is compared with, if any. */
  models: ModelReport[];
  /** The AUC of the judged model's score minus that of the other, over samples that both score. Null without two scores. */
  difference: Estimate | null;
  /** Caveats about the figures, as sentences. */
  notes: string[];
}
