/** An estimate with the bounds of its 95 % interval; without bounds where there is too little to tell. */
export interface Estimate {
  value: number;
  low: number | null;
  high: number | null;
}

/** How well something that is either said of a customer or not foresees the outcome. */
export interface FlagReport {
  id: string;
  /** Samples of which it was said, and how many customers they are of. */
  flagged: number;
  customers: number;
  /** Customers with the outcome who were flagged in a sample before it: of `customers.withOutcome` of the report. */
  caught: number;
  /** Of those flagged, the share with the outcome; null where none was flagged. */
  precision: Estimate | null;
  /** Of those with the outcome, the share that was flagged; null where there was no outcome. */
  recall: number | null;
  /** Precision beside the base rate; null where there is no precision, or no outcome. */
  lift: number | null;
  /** From a flagged sample to its outcome: half took no longer. Days; null where there is none. */
  medianLeadDays: number | null;
  /** How often it began to be said of a customer without that the outcome came in time, in a week, of all customers. */
  falseAlarmsPerWeek: number;
}

/** Customers by their score, the lowest first: about a tenth of the samples, never parting equal scores. */
export interface CalibrationBin {
  from: number;
  to: number;
  samples: number;
  rate: Estimate;
}

/** What comes of a threshold: samples on its side of the score are flagged. */
export interface ThresholdReport {
  score: number;
  /** The share of samples that is flagged. */
  flagged: number;
  precision: number | null;
  recall: number | null;
  falseAlarmsPerWeek: number;
}

export interface ScoreReport {
  /** Samples that have a score. */
  samples: number;
  /** Whether those with the outcome mostly have the lower or the higher scores: what `auc` and `thresholds` are read by. */
  direction: "lower" | "higher";
  /** How often, of a sample with the outcome and one without, the first has the lower (or higher) score; equal ones count half. Null
   * without one of either. */
  auc: Estimate | null;
  calibration: CalibrationBin[];
  /** In steps of 5 points. */
  thresholds: ThresholdReport[];
}

/** What a component of the health is worth. All by the direction of the whole score. */
export interface ComponentReport {
  id: string;
  weight: number;
  /** AUC of its score alone, of the score without it, and what the whole score has more than that one. Null where it cannot be computed. */
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

/** What a backtest came to. Instants are ISO 8601. */
export interface BacktestReport {
  outcome: string;
  within: string;
  every: string;
  from: string;
  to: string;
  /** Up to when it is known what happened. */
  end: string;
  /** `empty`: those at which nobody was known yet, which are not used. */
  instants: { used: number; empty: number; censored: number };
  /** Customers with a used sample, and those of them with the outcome after one. */
  customers: { looked: number; withOutcome: number };
  samples: { used: number; withOutcome: number; alreadyThere: number; censored: number };
  /** The share of used samples with the outcome; null without samples. */
  baseRate: Estimate | null;
  /** The judged model, and the one beside it. */
  models: ModelReport[];
  /** AUC of the judged model's score less that of the other, over samples that both score. Null where there are not both. */
  difference: Estimate | null;
  /** What a reader has to know before believing the figures, in sentences. */
  notes: string[];
}
