import type { QuestionParams } from "../../console/source.js";
import { causeId, type Effect, type StateDocument } from "../../engine/index.js";
import { instantOf } from "../../http/request/instants.js";
import type { LocalEngine } from "../engine.js";
import type { Population } from "../population.js";

/** Customers at an instant, the present or a past one. */
export interface PopulationView {
  engine: LocalEngine;
  population: Population;
  now: number;
}

export const isoTime = (instant: number) => new Date(instant).toISOString();

/** The states of all customers, by id. */
export const statesOf = ({ engine, population }: PopulationView): StateDocument[] =>
  population.customerIds.map((id) => engine.document(id, population)!);

/** The instant, cause and configuration version of an effect. */
export const aboutEffect = ({ at, cause }: Effect) => ({
  at: isoTime(at),
  cause: { type: cause.kind, id: causeId(cause) },
  configVersion: null,
});

/** The instant of `since` in milliseconds since the epoch; -Infinity without it. Throws VALIDATION_ERROR. */
export function earliestOf({ now }: PopulationView, { since }: QuestionParams): number {
  return since === undefined ? -Infinity : instantOf(since, "since", now).getTime();
}

/** The quartiles of at least one value, to three decimals, like svc.quartiles. */
export function quartilesOf(values: readonly number[]): { lower: number; median: number; upper: number } {
  const sorted = values.toSorted((a, b) => a - b);
  const quantile = (share: number) => {
    const place = (sorted.length - 1) * share;
    const below = sorted[Math.floor(place)]!;
    return Math.round((below + (sorted[Math.ceil(place)]! - below) * (place % 1)) * 1000) / 1000;
  };
  return { lower: quantile(0.25), median: quantile(0.5), upper: quantile(0.75) };
}

/** The mean of health scores, to two decimals; null without scores. They have two decimals, so their sum in hundredths is exact, as in SQL. */
export function meanScore(scores: readonly number[]): number | null {
  const sum = scores.reduce((total, score) => total + Math.round(score * 100), 0);
  return scores.length === 0 ? null : Math.round(sum / scores.length) / 100;
}
