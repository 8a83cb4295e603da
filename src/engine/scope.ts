import { counts, EVERYTHING_COUNTS } from "./boundary.js";
import type { CompiledScope } from "./context.js";
import type { Working } from "./working.js";

/**
 * The position of the first occurrence that counts at the customer's clock; their number where none does. They are in order, and
 * whatever is later than one that counts does so, too.
 *
 * @param earliest where the search begins
 */
export function firstInScope(
  customer: Working,
  { within, boundary }: CompiledScope,
  occurredAt: readonly number[],
  seq: readonly number[],
  earliest: number,
): number {
  const start = customer.clock - within;
  const since = boundary?.(customer) ?? EVERYTHING_COUNTS;
  let first = earliest;
  let end = occurredAt.length;
  while (first < end) {
    const middle = (first + end) >>> 1;
    if (occurredAt[middle]! > start && counts(since, occurredAt[middle]!, seq[middle]!)) end = middle;
    else first = middle + 1;
  }
  return first;
}
