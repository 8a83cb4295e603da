/**
 * Of occurrences that leave one after the other, earliest first: the instant of those with which a reading of how many are left
 * becomes another one, or Infinity. What occurred together leaves together.
 *
 * Between two neighbouring limits the reading is constant or strictly monotone, so it can change with the next occurrence or at
 * a limit, and only there it is looked at.
 *
 * @param occurredAt the instants of all occurrences, ascending
 * @param first the position of the first that is left now
 */
export function nextFall(
  occurredAt: readonly number[],
  first: number,
  reading: (count: number) => unknown,
  limits: readonly number[],
): number {
  const count = occurredAt.length - first;
  const present = reading(count);
  for (const rest of restsAt(limits, count)) {
    const instant = occurredAt[occurredAt.length - 1 - rest]!;
    const after = firstAfter(occurredAt, instant, occurredAt.length - rest);
    if (reading(occurredAt.length - after) !== present) return instant;
  }
  return Infinity;
}

/** The numbers below a count at which a reading may become another one, falling. */
function restsAt(limits: readonly number[], count: number): number[] {
  const rests = [count - 1, ...limits.flatMap((limit) => [Math.floor(limit), Math.ceil(limit) - 1])];
  return rests.filter((rest) => rest >= 0 && rest < count).sort((a, b) => b - a);
}

/** The position of the first instant later than a given one, from a position on. */
function firstAfter(instants: readonly number[], instant: number, from: number): number {
  let low = from;
  let high = instants.length;
  // Most occur alone.
  if (low === high || instants[low]! > instant) return low;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (instants[middle]! > instant) high = middle;
    else low = middle + 1;
  }
  return low;
}
