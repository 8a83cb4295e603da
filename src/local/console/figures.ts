/** The quartiles of values, of which there is one at least, to three decimals, as svc.quartiles has them. */
export function quartilesOf(values: readonly number[]): { lower: number; median: number; upper: number } {
  const sorted = values.toSorted((a, b) => a - b);
  const quantile = (share: number) => {
    const place = (sorted.length - 1) * share;
    const below = sorted[Math.floor(place)]!;
    return Math.round((below + (sorted[Math.ceil(place)]! - below) * (place % 1)) * 1000) / 1000;
  };
  return { lower: quantile(0.25), median: quantile(0.5), upper: quantile(0.75) };
}

/** The mean of health scores, to two decimals; null of none. Scores have no more decimals, so in hundredths the sum is exact, as it is in SQL. */
export function meanScore(scores: readonly number[]): number | null {
  const sum = scores.reduce((total, score) => total + Math.round(score * 100), 0);
  return scores.length === 0 ? null : Math.round(sum / scores.length) / 100;
}
