import type { ModelOutput } from "../engine/index.js";

/** What a backtest tries to predict: that a customer enters a lifecycle state or a segment, or that an event of a name occurs. */
export interface Outcome {
  kind: "state" | "event" | "segment";
  id: string;
}

/** The question of a backtest. All instants and lengths are in milliseconds. */
export interface BacktestQuestion {
  outcome: Outcome;
  /** The horizon: an outcome counts in (t, t + within]. */
  within: number;
  /** The interval between sampling instants, which begin at `from` and end with `to`. */
  every: number;
  from: number;
  to: number;
  /** The end of the known history. Instants after `end - within` are censored: it is unknown whether the outcome comes in time. */
  end: number;
}

/** What a model says about the customer from the sampling instant with this index on, until that of the next list item. */
export type OutputChange = [index: number, said: ModelOutput];

/** One customer's part of a backtest, as it is stored. */
export interface CustomerSamples {
  customerId: string;
  /** By model: the judged one, and the one it is compared with, if any. Without entries for the time before the customer was known. */
  said: OutputChange[][];
  /** The first outcome after each sampling instant, ascending, each once. */
  outcomes: number[];
}

/** A customer at one sampling instant. */
export interface Sample {
  index: number;
  at: number;
  /** By model. */
  said: ModelOutput[];
  /** `there`: the outcome holds already, so it cannot be predicted; `censored`: too near the end of the known history. */
  status: "used" | "there" | "censored";
  /** When the outcome came, if within the horizon, else null. Only meaningful for a used sample. */
  outcomeAt: number | null;
}

/** The most sampling instants of a backtest: enough for every day of a year. */
export const INSTANTS_MAX = 400;

/** The sampling instants of a question. */
export function instantsOf({ from, to, every }: BacktestQuestion): number[] {
  return Array.from({ length: Math.floor((to - from) / every) + 1 }, (_, index) => from + index * every);
}

/** A customer's samples, in order of their instants. */
export function* samplesOf(question: BacktestQuestion, { said, outcomes }: CustomerSamples): Generator<Sample> {
  const { outcome, within, end } = question;
  const instants = instantsOf(question);
  const places = said.map(() => -1);
  let next = 0;
  for (let index = said[0]![0]?.[0] ?? Infinity; index < instants.length; index++) {
    const at = instants[index]!;
    const present = said.map((sayings, model) => {
      while (places[model]! + 1 < sayings.length && sayings[places[model]! + 1]![0] <= index) places[model]!++;
      return sayings[places[model]!]![1];
    });
    while (next < outcomes.length && outcomes[next]! <= at) next++;
    const first = outcomes[next] ?? Infinity;
    const status = isThere(outcome, present[0]!) ? "there" : at + within > end ? "censored" : "used";
    yield { index, at, said: present, status, outcomeAt: first <= at + within ? first : null };
  }
}

/** Whether an outcome holds already according to the judged model. An event can always occur again. */
function isThere({ kind, id }: Outcome, { state, segments }: ModelOutput): boolean {
  return kind === "state" ? state === id : kind === "segment" && segments.includes(id);
}
